"""Outlook: of equal actions, the one on the way to the state that numbers speak for.

Where nothing is to be earned within reach, an episode should not wander about where it began: it
goes to what it has seldom met. Each component's range is laid out in bins of one width, or in its
values where those are whole numbers; a state is as rare as its rarest component. Where every step
is paid, it is better to stay: then it goes to the state, some way ahead, that is nearest the middle
of what was met, which is farther from every edge than chance would be.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from olive_iw.bandits.base import Values
from olive_iw.search.measures import root_actions
from olive_iw.search.rule import Rule
from olive_iw.search.search import Search
from olive_iw.search.tree import ROOT

BINS = 32
MOST_WHOLE = 1024
"""Span of whole numbers that have a bin each."""
AHEAD = 20
"""Steps that a state must be ahead to be gone to for its being in the middle."""


@final
@dataclass(unsafe_hash=True)
class Outlook(Rule):
    """Prefers the action that leads to a rare state, or to the middle where steps are paid."""

    neutral: ClassVar = {"outlook": False}

    outlook: bool = True
    """Of several actions of the greatest value, take the one on the way to the known state whose
    numbers were met least often; if the last step was paid, to the one whose numbers, 20 steps
    ahead, are nearest the middle of those met. For observations that are numbers."""

    def start(self, search: Search) -> None:
        """Begin an episode, of which nothing is known."""
        self._met = np.empty((256, 0))
        self._count = 0

    def added(self, search: Search, child: int) -> None:
        """Note what a new node shows."""
        values = search.tree.seen[child].step.values
        if values is None:
            return
        if self._count == len(self._met) or self._met.shape[1] != len(values):
            grown = np.empty((2 * max(self._count, 128), len(values)))
            if self._count:
                grown[: self._count] = self._met[: self._count]
            self._met = grown
        self._met[self._count] = _finite(values)
        self._count += 1

    def prefer(self, search: Search, best: NDArray[np.int64], values: Values) -> NDArray[np.int64]:
        """Keep those on the way to the best state."""
        tree, met = search.tree, self._met[: self._count]
        if not met.size:
            return best
        paid = tree.seen[ROOT].step.reward > 0
        shown = _finite(np.array([seen.step.values for seen in tree.seen]))
        merits = _distances(met, shown) if paid else _counts(met, shown)
        depths = tree.depth[: tree.size] - tree.depth[ROOT]
        merits[tree.terminal[: tree.size] | (paid & (depths < AHEAD))] = np.inf
        least: dict[int, tuple[float, int]] = {}
        of_root = root_actions(tree.parent[: tree.size], tree.action).tolist()
        for node in range(1, len(tree)):
            found, action = (float(merits[node]), int(depths[node])), of_root[node]
            least[action] = min(least.get(action, found), found)
        if np.isinf(min(merit for merit, _ in least.values())):
            return best
        known = [least.get(int(action), (np.inf, 0)) for action in best]
        return best[[one == min(known) for one in known]]


def _finite(values: Values) -> Values:
    """Replace what is not known by 0, and what is too large to be compared."""
    finite: Values = np.clip(np.nan_to_num(values), -1e100, 1e100)
    return finite


def _counts(met: Values, shown: Values) -> Values:
    """How often the rarest component of each state shown was met, shape (N,)."""
    lows, spans = met.min(0), np.ptp(met, axis=0)
    whole = (met == np.floor(met)).all(0) & (spans < MOST_WHOLE)
    bins = np.where(whole, spans + 1, BINS).astype(np.int64)
    scales = np.where(whole, 1.0, BINS / np.where(spans > 0, spans, 1.0))
    offsets = np.cumsum(bins) - bins

    def places(states: Values) -> NDArray[np.int64]:
        # Clipped as floats: processors differ in the integer that a far too large one becomes.
        inside: Values = np.clip((states - lows) * scales, 0, bins - 1)
        found: NDArray[np.int64] = inside.astype(np.int64) + offsets
        return found

    counts = np.bincount(places(met).ravel(), minlength=int(bins.sum()))
    rarest: Values = counts[places(shown)].min(1).astype(np.float64)
    return rarest


def _distances(met: Values, shown: Values) -> Values:
    """How far each state shown is from the middle, shape (N,): of its farthest component."""
    spans = np.ptp(met, axis=0)
    middle = np.sort(met, axis=0)[len(met) // 2]
    distances: Values = (np.abs(shown - middle) / np.where(spans > 0, spans, 1.0)).max(1)
    return distances
