"""Rollout-IW: depth-first rollouts that stop at states showing nothing new (Algorithm 1)."""

from functools import partial

from olive_iw.bandits import Bandit
from olive_iw.errors import InputError
from olive_iw.features import Features
from olive_iw.features.base import GuidingFeatures
from olive_iw.planners.base import DEPTH_LIMIT, DISCOUNT, Planner
from olive_iw.planners.decision import Risk, Stopped
from olive_iw.planners.drivers import Rollout, StatisticsOf
from olive_iw.planners.house_rules import OF_EXPANSION, HouseRules
from olive_iw.planners.parallel_driver import ParallelDriver
from olive_iw.planners.search import Search
from olive_iw.planners.tree import NONE, ROOT


class RolloutIW(Planner):
    """Rollout-IW with any features and any bandit."""

    unheeded = OF_EXPANSION

    def __init__(
        self,
        features: str | Features | None,
        bandit: str | Bandit = "uniform",
        width: int | None = 1,
        *,
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
        if workers != 1:
            if isinstance(self.features, GuidingFeatures):
                raise InputError(
                    "with a policy one state is met after the other: search_workers = 1"
                )
            self.driver = ParallelDriver(workers)

    def grow(self, search: Search) -> Stopped:
        """Roll out until the calls are spent or nothing novel is left."""
        budget, counters = search.ledger.budget, search.ledger.counters
        search.begin(self.width)
        if self.rules.kept_nodes == "first":
            search.enter_kept()
        kept_back = round(search.rules.look_further * budget.left)
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
        return search.stopped

    def _roll_out(self, search: Search) -> None:
        self.driver.run(search, partial(self._rollout, search))

    def _rollout(self, search: Search, statistics: StatisticsOf) -> Rollout:
        """Walk from the root to a pruned, terminal or out-of-budget node; back its return up."""
        most, persistence = search.judge.most_calls, search.draw_persistence()
        path, bought = [ROOT], 0
        while search.enter(path[-1], len(path) - 1):
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
