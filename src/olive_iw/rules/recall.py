"""Recall: what was seen in an episode counts, wherever it was seen.

A decision knows the tree below its root. What other decisions have searched is gone, and where
the search has fresh chance every tree shows one throw of the dice for each action, so that it
hopes for the best of them. But observations that are whole numbers are met again and again. So it
is noted what each of them has led to, action by action, and how often; an action is worth the mean
of that, and so is every one after it. In a search with fresh chance, every rollout throws its own
dice from the root on; and of actions of equal worth the least deadly is taken.

Where an observation does not say the whole state, the same action leads now here, now there. Where
that cannot be chance, nothing is recalled for the rest of the episode.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple, TypeAlias, final

import numpy as np

from olive_iw.bandits.base import Values
from olive_iw.rules.usual import Usual
from olive_iw.search.rule import Rule
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, ROOT, Tree
from olive_iw.search.walk import Walk
from olive_iw.simulators.base import Step

MOST_SEEN = 2000
"""Different observations; where there are more, nothing is recalled for the rest of the episode."""
SWEEPS = 50
"""Most times that all worths are brought up to date in a decision; they go on from the last."""
SETTLED = 1e-9
EQUAL = 1e-6
"""Worths that are so near count as equal."""


class Outcome(NamedTuple):
    """What an action has led to."""

    shown: bytes
    """The observation after it."""
    reward: float
    life_lost: bool
    over: bool


Outcomes: TypeAlias = dict[Outcome, int]
"""How often an action led where."""
Counted: TypeAlias = Callable[[Outcome], float]
"""What an outcome's reward counts in a decision."""


@dataclass(slots=True)
class Seen:
    """An observation: how often each action led where from it, and what it is worth."""

    tried: dict[int, Outcomes]
    worth: float = 0.0
    danger: float = 0.0
    """Chance that the game ends badly, discounted, where the least deadly actions are taken."""


@final
@dataclass(unsafe_hash=True)
class Recall(Rule):
    """Values actions by all that the episode has shown where they were tried."""

    neutral: ClassVar = {"recall": False}

    recall: bool = True
    """Value an action by the mean of all that it led to wherever the same whole numbers were
    observed, not by the best that this decision's tree knows."""

    def start(self, search: Search) -> None:
        """Begin an episode, of which nothing is known."""
        self._seen: dict[bytes, Seen] | None = {}

    def added(self, search: Search, child: int) -> None:
        """Note what an action led to."""
        tree, seen = search.tree, self._seen
        if seen is None:
            return
        above = int(tree.parent[child])
        step, before = tree.seen[child].step, tree.seen[above].step
        shown, key = _key(step), _key(before)
        if shown is None or key is None or len(seen) >= MOST_SEEN:
            self._forget(search)
            return
        outcome = Outcome(shown, step.reward, step.lives < before.lives, step.terminal)
        known = seen.setdefault(key, Seen({})).tried.setdefault(int(tree.action[child]), {})
        known[outcome] = known.get(outcome, 0) + 1
        if len(known) > 1 and not search.reseeds:
            self._forget(search)

    def walk(self, search: Search, walk: Walk) -> None:
        """Throw the dice anew for every rollout."""
        if search.reseeds and self._seen is not None:
            search.tree.children[ROOT] = NONE

    def again(self, search: Search) -> bool:
        """Search again where nothing is left to search but calls: other throws show more."""
        if not search.reseeds or self._seen is None or not search.solved:
            return False
        search.begin(search.judge.width, search.far)
        return True

    def allow(self, search: Search, values: Values) -> Values:
        """Say what actions are worth by all that was seen."""
        self._hang(search)
        key = None if self._seen is None else _key(search.tree.seen[ROOT].step)
        if self._seen is None or key not in self._seen:
            return values
        usual = next((rule for rule in search.rules if isinstance(rule, Usual)), None)
        counted: Counted = partial(_counted, usual, search.tree)
        self._settle(counted, search.tree.discount)
        tried, discount = self._seen[key].tried, search.tree.discount
        found = {action: self._worth(them, counted, discount) for action, them in tried.items()}
        if search.reseeds:
            best = max(found.values())
            equal = [action for action in found if found[action] >= best - EQUAL]
            danger = {action: self._danger(tried[action], discount) for action in equal}
            least = min(danger.values()) + EQUAL
            found = {action: best for action in equal if danger[action] <= least}
        worth = np.full(len(values), np.nan)
        worth[list(found)] = list(found.values())
        return worth

    def _forget(self, search: Search) -> None:
        """Recall nothing for the rest of the episode; the tree alone counts."""
        self._seen = None
        self._hang(search)

    @staticmethod
    def _hang(search: Search) -> None:
        """Make the last throw of every root action the root's child again."""
        tree = search.tree
        if search.reseeds:
            for node in np.flatnonzero(tree.parent[: tree.size] == ROOT):
                tree.children[ROOT, tree.action[node]] = node
            tree.renew_values(ROOT)

    def _settle(self, counted: Counted, discount: float) -> None:
        """Bring the worth of all observations up to date; the latest come first."""
        assert self._seen is not None
        order = list(reversed(self._seen.values()))
        for _ in range(SWEEPS):
            change = 0.0
            for seen in order:
                every = seen.tried.values()
                worth = max(self._worth(them, counted, discount) for them in every)
                danger = min(self._danger(them, discount) for them in every)
                change = max(change, abs(worth - seen.worth), abs(danger - seen.danger))
                seen.worth, seen.danger = worth, danger
            if change < SETTLED:
                return

    def _worth(self, outcomes: Outcomes, counted: Counted, discount: float) -> float:
        """Return an action's mean reward, with the worth of the observations that followed."""
        assert self._seen is not None
        total, count = 0.0, 0
        for outcome, times in outcomes.items():
            worth = counted(outcome)
            if not outcome.over and (after := self._seen.get(outcome.shown)) is not None:
                worth += discount * after.worth
            total += times * worth
            count += times
        return total / count

    def _danger(self, outcomes: Outcomes, discount: float) -> float:
        """Return how often an action, or what must follow it, has ended the game unrewarded."""
        assert self._seen is not None
        total, count = 0.0, 0
        for outcome, times in outcomes.items():
            if outcome.over:
                total += times * float(outcome.reward <= 0)
            elif (after := self._seen.get(outcome.shown)) is not None:
                total += times * discount * after.danger
            count += times
        return total / count


def _counted(usual: Usual | None, tree: Tree, outcome: Outcome) -> float:
    """Return what an outcome's reward counts in a decision."""
    reward = outcome.reward
    if usual is not None:
        reward = usual.counted(reward, outcome.over, tree.discount)
    return tree.risk.reward(reward, outcome.life_lost)


def _key(step: Step) -> bytes | None:
    """Return a key of the observation, if it is all whole numbers."""
    values = step.values
    if values is None or not (values == np.floor(values)).all():
        return None
    return values.tobytes()
