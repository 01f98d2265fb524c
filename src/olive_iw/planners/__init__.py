"""Planners: from a simulator and features to decisions (the fifth stage of the flow)."""

from olive_iw.planners.base import Planner
from olive_iw.planners.breadth_first import BreadthFirst
from olive_iw.planners.decision import Decision, Risk
from olive_iw.planners.ledger import BudgetSpentError, Ledger
from olive_iw.planners.rollout_iw import RolloutIW
from olive_iw.planners.search import Search
from olive_iw.planners.tree import Tree
from olive_iw.planners.uct import UCT
from olive_iw.planners.watch import SearchWatch
from olive_iw.registry import Registry

PLANNERS: Registry[type[Planner]] = Registry(
    "planner",
    "olive_iw.planners",
    {"rollout-iw": RolloutIW, "breadth-first": BreadthFirst, "uct": UCT},
)

__all__ = [
    "PLANNERS",
    "UCT",
    "BreadthFirst",
    "BudgetSpentError",
    "Decision",
    "Ledger",
    "Planner",
    "Risk",
    "RolloutIW",
    "Search",
    "SearchWatch",
    "Tree",
]
