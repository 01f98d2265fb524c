"""Planners: from a simulator and features to decisions (the fifth stage of the flow)."""

from olive_iw.planners.base import Planner
from olive_iw.planners.breadth_first import BreadthFirst
from olive_iw.planners.hiw import HIW
from olive_iw.planners.p_iw import PIW, RacingPIW
from olive_iw.planners.rollout_iw import RolloutIW
from olive_iw.planners.two_queues import TwoQueues
from olive_iw.planners.uct import UCT
from olive_iw.registry import Registry
from olive_iw.search.decision import Decision, Risk
from olive_iw.search.ledger import BudgetSpentError, Ledger
from olive_iw.search.search import Search
from olive_iw.search.tree import Tree
from olive_iw.search.watch import SearchWatch

PLANNERS: Registry[type[Planner]] = Registry(
    "planner",
    "olive_iw.planners",
    {
        "rollout-iw": RolloutIW,
        "breadth-first": BreadthFirst,
        "uct": UCT,
        "2bfs": TwoQueues,
        "p-iw": PIW,
        "racing-p-iw": RacingPIW,
        "hiw": HIW,
    },
)

__all__ = [
    "HIW",
    "PIW",
    "PLANNERS",
    "UCT",
    "BreadthFirst",
    "BudgetSpentError",
    "Decision",
    "Ledger",
    "Planner",
    "RacingPIW",
    "Risk",
    "RolloutIW",
    "Search",
    "SearchWatch",
    "Tree",
    "TwoQueues",
]
