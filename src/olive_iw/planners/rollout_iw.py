"""Rollout-IW: depth-first rollouts that stop at states showing nothing new (Algorithm 1)."""

from collections.abc import Sequence
from functools import partial
from typing import Literal, TypeAlias, get_args

from olive_iw.bandits import Bandit
from olive_iw.errors import InputError
from olive_iw.features import Features
from olive_iw.features.base import GuidingFeatures
from olive_iw.planners.base import DEPTH_LIMIT, DISCOUNT, Planner
from olive_iw.planners.decision import Risk, Stopped
from olive_iw.planners.drivers import Rollout, StatisticsOf, finish
from olive_iw.planners.extend import best_open_path, rarest_open_paths
from olive_iw.planners.house_rules import OF_EXPANSION, HouseRules
from olive_iw.planners.parallel_driver import ParallelDriver
from olive_iw.planners.search import Search
from olive_iw.planners.tree import NONE, ROOT

WhenExhausted: TypeAlias = Literal["stop", "widen", "extend", "again", "refine", "rarest"]


class RolloutIW(Planner):
    """Rollout-IW with any features and any bandit."""

    unheeded = OF_EXPANSION

    def __init__(
        self,
        features: str | Features | None,
        bandit: str | Bandit = "uniform",
        width: int | None = 1,
        *,
        when_exhausted: WhenExhausted = "stop",
        extend_share: float = 0.0,
        discount: float = DISCOUNT,
        depth_limit: int = DEPTH_LIMIT,
        risk: Risk | None = None,
        workers: int = 1,
        rules: HouseRules | None = None,
    ) -> None:
        """Assemble a planner.

        features: what novelty is judged on; None: nothing is pruned
        bandit: which unsolved action a rollout takes
        width: 1, 2, or None (no pruning)
        when_exhausted: what to do when nothing novel is left before the budget is spent: `stop`
            (the paper), `widen` (search again with width 2), `extend` (walk the best known path
            to its leaf and go on from there, though it was pruned), `again` (search again with
            an empty table, as long as that makes calls), `refine` (search again at the next finer
            grain, and the next), `rarest` (go on from the pruned node whose rarest atom the tree
            has shown least often)
        extend_share: share of every decision's calls that goes into extending the best known
            path before the rollouts begin
        workers: processes that make the calls, this one included; for more than one the
            simulator must be picklable, and `close` ends them
        rules: our own options beyond the paper's; none by default
        """
        super().__init__(
            features,
            width,
            discount=discount,
            depth_limit=depth_limit,
            risk=risk,
            bandit=bandit,
            rules=rules,
        )
        if when_exhausted not in get_args(WhenExhausted):
            choices = ", ".join(get_args(WhenExhausted))
            raise InputError(f"when_exhausted {when_exhausted!r} is not one of {choices}")
        if not 0 <= extend_share <= 1:
            raise InputError(f"extend_share {extend_share} is not possible; it must be in [0, 1]")
        self.when_exhausted = when_exhausted
        self.extend_share = extend_share
        if workers != 1:
            if isinstance(self.features, GuidingFeatures):
                raise InputError(
                    "with a policy one state is met after the other: search_workers = 1"
                )
            self.driver = ParallelDriver(workers)

    def grow(self, search: Search) -> Stopped:
        """Extend the best known path by its share of the calls, then roll out."""
        budget, counters = search.ledger.budget, search.ledger.counters
        search.begin(self.width)
        if self.rules.kept_nodes == "first":
            search.enter_kept()
        kept_back = round(search.rules.look_further * budget.left)
        budget.reserve(budget.left - round(self.extend_share * budget.left))
        self._extend(search)
        budget.reserve(kept_back)
        rollouts, depth = counters.rollouts, counters.rollout_depth
        self._roll_out(search)
        mean_depth = (counters.rollout_depth - depth) / max(1, counters.rollouts - rollouts)
        search.judge.fitted.fit(mean_depth, search.undecided)
        if kept_back:
            budget.reserve(0)
            if search.tree.value[ROOT] <= 0:  # nothing is known that could be earned
                search.begin(width=None, far=True)
            self._roll_out(search)
        if budget.left:
            self._exhausted(search)
        return search.stopped

    def _roll_out(self, search: Search) -> None:
        self.driver.run(search, partial(self._rollout, search))

    def _exhausted(self, search: Search) -> None:
        """Spend what is left when nothing novel is."""
        budget, judge = search.ledger.budget, search.judge
        if self.when_exhausted == "widen" and self.width == 1:
            search.begin(width=2)
            self._roll_out(search)
        elif self.when_exhausted == "extend":
            self._extend(search)
        elif self.when_exhausted == "rarest":
            for path in rarest_open_paths(search.tree, self.depth_limit):
                if budget.left:
                    finish(search, self._rollout(search, search.tree.statistics, along=path))
        elif self.when_exhausted == "refine":
            for grain in judge.grains[judge.grains.index(judge.grain) + 1 :]:
                if budget.left:
                    search.begin(self.width, grain)
                    self._roll_out(search)
        elif self.when_exhausted == "again":
            calls = NONE
            while budget.left and calls != budget.calls:
                calls = budget.calls
                search.begin(self.width)
                self._roll_out(search)

    def _extend(self, search: Search) -> None:
        """Roll out from the leaf of the best known path, again and again."""
        tree, budget = search.tree, search.ledger.budget
        while budget.left:
            path = best_open_path(tree, self.depth_limit, search.tie_generator)
            if path is None:
                return
            finish(search, self._rollout(search, tree.statistics, along=path))

    def _rollout(
        self, search: Search, statistics: StatisticsOf, along: Sequence[int] = ()
    ) -> Rollout:
        """Walk from the root to a pruned, terminal or out-of-budget node; back its return up.

        The nodes of `along`, a path from the root, are walked first and are never pruned.
        """
        most, persistence = search.judge.most_calls, search.draw_persistence()
        path, bought = [ROOT], 0
        while search.enter(path[-1], len(path) - 1) or len(path) <= len(along):
            if len(path) < len(along):
                child = along[len(path)]
                search.ledger.counters.revisits += 1
            else:
                node = path[-1]
                action = search.choose(node, statistics, persistence)
                child = search.known_child(node, action)
                if child == NONE and bought < most:
                    yield path, action
                    bought += 1
                    child = search.original(int(search.tree.children[node, action]))
            if child == NONE:
                break
            path.append(child)
        else:
            search.solve(path[-1])
        search.back_up(path)
        return path
