"""Width-based planning with binary features learned while playing."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olive_iw import compiled

if TYPE_CHECKING:
    from olive_iw import features, rules, simulators
    from olive_iw.agents import Agent, Algorithm, Episode, Options, Policy
    from olive_iw.algorithms import ALGORITHMS, load_agent, make_agent
    from olive_iw.errors import InputError
    from olive_iw.planners import UCT, BreadthFirst, Decision, RolloutIW
    from olive_iw.runs.pretrained import load_pretrained
    from olive_iw.simulators import Simulator, Step, make_simulator
    from olive_iw.viewer import view

compiled.ensure()  # child processes inherit it

__version__ = "0.2.0"

__all__ = [
    "ALGORITHMS",
    "UCT",
    "Agent",
    "Algorithm",
    "BreadthFirst",
    "Decision",
    "Episode",
    "InputError",
    "Options",
    "Policy",
    "RolloutIW",
    "Simulator",
    "Step",
    "features",
    "load_agent",
    "load_pretrained",
    "make_agent",
    "make_simulator",
    "rules",
    "simulators",
    "view",
]

# All is imported when it is first asked for: a command loads what it needs.
_PLACES = {
    **dict.fromkeys(("Agent", "Algorithm", "Episode", "Options", "Policy"), "agents"),
    **dict.fromkeys(("ALGORITHMS", "load_agent", "make_agent"), "algorithms"),
    **dict.fromkeys(("BreadthFirst", "Decision", "RolloutIW", "UCT"), "planners"),
    **dict.fromkeys(("Simulator", "Step", "make_simulator"), "simulators"),
    "InputError": "errors",
    "load_pretrained": "runs.pretrained",
    "view": "viewer",
}


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name in ("features", "rules", "simulators"):
        return import_module(f"olive_iw.{name}")
    if name in _PLACES:
        return getattr(import_module(f"olive_iw.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'olive_iw' has no attribute {name!r}")
