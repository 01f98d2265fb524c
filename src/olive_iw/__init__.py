"""Width-based planning with binary features learned while playing."""

__version__ = "0.1.0"

from olive_iw import features, simulators
from olive_iw.agents import Agent, Episode, Options
from olive_iw.algorithms import ALGORITHMS, load_agent, make_agent
from olive_iw.errors import InputError
from olive_iw.planners import UCT, BreadthFirst, Decision, RolloutIW
from olive_iw.simulators import Simulator, Step, make_simulator

__all__ = [
    "ALGORITHMS",
    "UCT",
    "Agent",
    "BreadthFirst",
    "Decision",
    "Episode",
    "InputError",
    "Options",
    "RolloutIW",
    "Simulator",
    "Step",
    "features",
    "load_agent",
    "make_agent",
    "make_simulator",
    "simulators",
]
