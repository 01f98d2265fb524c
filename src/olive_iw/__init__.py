"""Width-based planning with binary features learned while playing."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olive_iw import numba_cache

numba_cache.ensure()  # before anything below imports numba

from olive_iw import features, simulators
from olive_iw.errors import InputError
from olive_iw.planners import UCT, BreadthFirst, Decision, RolloutIW
from olive_iw.simulators import Simulator, Step, make_simulator

if TYPE_CHECKING:
    from olive_iw.agents import Agent, Algorithm, Episode, Options, Policy
    from olive_iw.algorithms import ALGORITHMS, load_agent, make_agent
    from olive_iw.runs.pretrained import load_pretrained

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
    "simulators",
]

# What needs torch is imported when it is first asked for: planning does without it.
_LATER = {
    **dict.fromkeys(("Agent", "Algorithm", "Episode", "Options", "Policy"), "agents"),
    **dict.fromkeys(("ALGORITHMS", "load_agent", "make_agent"), "algorithms"),
    "load_pretrained": "runs.pretrained",
}


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"olive_iw.{_LATER[name]}"), name)
    raise AttributeError(f"module 'olive_iw' has no attribute {name!r}")
