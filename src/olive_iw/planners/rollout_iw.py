"""Rollout-IW: depth-first rollouts that stop at states showing nothing new (Algorithm 1)."""

from dataclasses import dataclass
from typing import Annotated, Any, Unpack

import numpy as np

from olive_iw.bandits import BANDITS, Bandit
from olive_iw.errors import InputError
from olive_iw.features import Features
from olive_iw.features.base import GuidingFeatures
from olive_iw.planners.base import Common, Planner, WidthOptions
from olive_iw.search.decision import Stopped
from olive_iw.search.parallel import ParallelDriver
from olive_iw.search.rollout import rollout
from olive_iw.search.search import Search
from olive_iw.search.tree import ROOT
from olive_iw.settings import PartOf, Range


@dataclass(frozen=True)
class GuidedOptions(WidthOptions):
    """Options of rollouts whose calls are made one after the other."""

    bandit: Annotated[str | Bandit, PartOf(BANDITS)] = "uniform"
    """Which unsolved action a rollout takes (see `olive-iw list bandits`)."""


@dataclass(frozen=True)
class RolloutOptions(GuidedOptions):
    """Options of Rollout-IW."""

    search_workers: Annotated[int, Range(1, 256)] = 1
    """Processes that make the calls of a decision. Another number gives another search, as another
    seed does."""

    def adapt(self, arguments: dict[str, Any]) -> None:
        """Say the same; processes go by another name."""
        super().adapt(arguments)
        arguments["workers"] = arguments.pop("search_workers")


class RolloutIW(Planner):
    """Rollout-IW with any features, any bandit and any rules."""

    options = RolloutOptions
    never_asks = frozenset({"leaves_out"})
    rolls_out = True

    def __init__(
        self,
        features: str | Features | None,
        bandit: str | Bandit = "uniform",
        width: int | None = 1,
        *,
        workers: int = 1,
        untried: float = -np.inf,
        value_everywhere: bool = False,
        **common: Unpack[Common],
    ) -> None:
        """Assemble a planner.

        features: what novelty is judged on; None: nothing is pruned
        bandit: which unsolved action a rollout takes
        width: 1, 2, or None (no pruning)
        workers: processes that make the calls, this one included; for more than one the
            simulator must be picklable, and `close` ends them
        untried: what an action that was not tried is worth where values are compared
        value_everywhere: whether a learned value counts where more is known, too
        """
        super().__init__(
            features,
            width,
            bandit,
            untried=untried,
            value_everywhere=value_everywhere,
            **common,
        )
        if workers != 1:
            if isinstance(self.features, GuidingFeatures):
                raise InputError(
                    "with a policy one state is met after the other: search_workers = 1"
                )
            self.driver = ParallelDriver(workers)

    def grow(self, search: Search) -> Stopped:
        """Roll out; then spend the calls that rules kept back as these say."""
        budget, counters = search.ledger.budget, search.ledger.counters
        search.begin(self.width)
        if search.judge.judging.kept == "first":
            enter_kept(search)
        # Rules that look further share the calls that are set aside first: the most that one wants.
        kept_back = max((rule.reserve(budget.left) for rule in search.asked["reserve"]), default=0)
        budget.reserve(kept_back)
        rollouts, depth = counters.rollouts, counters.rollout_depth
        self._roll_out(search)
        # Without those that look further: only rollouts that novelty ends tell of novelty.
        mean_depth = (counters.rollout_depth - depth) / max(1, counters.rollouts - rollouts)
        for rule in search.asked["after"]:
            rule.after(search, mean_depth)
        if kept_back:
            budget.reserve(0)
            for rule in search.asked["further"]:
                calls = rule.further(search)
                if calls is not None:
                    budget.reserve(max(0, budget.left - calls))
                    self._roll_out(search)
                    budget.reserve(0)
                    search.begin(self.width)
            self._roll_out(search)
        return search.stopped

    def _roll_out(self, search: Search) -> None:
        """Roll out until the budget is spent, or nothing is left to search and no rule goes on."""
        self.driver.run(search, rollout)
        budget, again = search.ledger.budget, search.asked["again"]
        while budget.left and any(rule.again(search) for rule in again):
            self.driver.run(search, rollout)


def enter_kept(search: Search) -> None:
    """Judge all nodes there are, in the order in which they were made, before any rollout."""
    tree, top = search.tree, search.tree.depth[ROOT]
    for node in range(tree.size):
        if not search.enter(node, int(tree.depth[node] - top)):
            tree.solve(node)
