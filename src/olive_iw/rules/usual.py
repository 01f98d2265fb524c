"""Usual: rewards count by what they are above, or below, the one that most steps give.

Where every step costs 1 until the goal (MountainCar), or earns 1 until the fall (CartPole), the sum
of rewards to a leaf says only how deep the leaf is, and all else drowns in it. What most steps give
is no news: it is taken off every reward. A game's end takes it for ever, so that it counts as the
loss, or gain, of that: usual · γ / (1 - γ). Where every step costs something else (Pendulum), the
middle one of all costs is usual: otherwise the less a search had looked at, the better it would be.
"""

from bisect import insort
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, final

from olive_iw.search.rule import Rule
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, Tree

LEAST_STEPS = 8
"""Steps that must have been seen before one of their rewards is usual."""
MOST_REWARDS = 64
"""Different rewards; where there are more, none is usual for the rest of the episode."""


@final
@dataclass(unsafe_hash=True)
class Usual(Rule):
    """Takes the reward that more than half of all steps give off every reward."""

    neutral: ClassVar = {"beyond_usual": False}

    beyond_usual: bool = True
    """Count rewards by how much they are above, or below, the one that more than half of the
    episode's steps give (or the middle one, where each costs something else), and a game's end as
    what is then lost, or saved, of it for ever."""

    def start(self, search: Search) -> None:
        """Begin an episode, of which nothing is known."""
        self.now = 0.0
        """What most steps give, or half of them at least."""
        self._seen = Counter[float]()
        self._steps = 0
        self._costs: list[float] | None = []
        """What steps gave, ascending, while all of them cost."""

    def start_decision(self, search: Search) -> None:
        """Where every step costs something else, take the middle of it for usual."""
        if len(self._seen) > MOST_REWARDS and self._costs:
            self.now = self._costs[len(self._costs) // 2]
            self._count_all(search.tree)

    def added(self, search: Search, child: int) -> None:
        """Note what a step gave, and take off what is usual."""
        tree, step = search.tree, search.tree.seen[child].step
        if not step.terminal:
            self._note(step.reward)
        usual = self._usual()
        if usual != self.now:
            self.now = usual
            self._count_all(tree)
        elif usual:
            self._count(tree, child)
            tree.renew_values(int(tree.parent[child]))

    def _note(self, reward: float) -> None:
        if self._costs is not None and reward <= 0:
            insort(self._costs, reward)
        else:
            self._costs = None
        if len(self._seen) <= MOST_REWARDS:
            self._seen[reward] += 1
            self._steps += 1

    def _usual(self) -> float:
        """Return the reward that is usual now."""
        if len(self._seen) > MOST_REWARDS:
            return self.now if self._costs else 0.0
        reward, count = self._seen.most_common(1)[0] if self._seen else (0.0, 0)
        return reward if self._steps >= LEAST_STEPS and 2 * count > self._steps else 0.0

    def counted(self, reward: float, over: bool, discount: float) -> float:
        """Say what a reward counts that may be the last."""
        counted = reward - self.now
        if over and discount < 1.0:
            counted -= self.now * discount / (1.0 - discount)
        return counted

    def _count(self, tree: Tree, node: int) -> None:
        """Say what a node's reward counts."""
        step = tree.seen[node].step
        tree.count_reward(node, self.counted(step.reward, step.terminal, tree.discount))

    def _count_all(self, tree: Tree) -> None:
        """Count all rewards anew; each child comes after its parent."""
        for node in range(1, len(tree)):
            self._count(tree, node)
        for node in reversed(range(len(tree))):
            if (tree.children[node] != NONE).any():
                tree.renew_values(node)
