"""Values: in which interval each observed number lies, with intervals that grow finer.

While a component has shown few different values, each of them is an atom. When there are too many,
they give way to intervals, each with as many of the values met as the others. An interval that has
met as many values as there are intervals is cut in two at its median: so there are about √n of
them after n steps, fine where the values are, coarse where they seldom come.

Every new value or interval gets the next free number, whichever component it is of, and keeps it.
One that was cut is not met again; its halves have numbers of their own. So an atom means the same
for as long as an episode lasts, and the atoms of nodes in the tree need not be computed again: that
something lies in a half is news even to a search that knew the whole, once for each half.

Cuts are values that were met (order statistics, no means), so that they are the same everywhere.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from math import isnan
from typing import Any, TypeAlias, final

import numpy as np

from olive_iw.features.base import Atoms, FeaturesError
from olive_iw.simulators.base import Numbers, Simulator, Step, numbers_problem

Meaning: TypeAlias = tuple[int, float, float]
"""Component of an atom, and from where up to where its values go; an exact one twice."""
MOST_ATOMS = 2**16
"""When all are given away, nothing is cut any more, and new values share the last one."""
MOST_WHOLE = 1024
"""Different values that a component may show, each an atom, while all are whole numbers."""
MOST_BROKEN = 32
"""The same where some are not; then as many intervals take their place."""


@final
class Values:
    """One atom for each observed number: the component and its value, or the interval it is in.

    What is observed are a step's `values`; where there are none, the bytes of its memory.
    `prepare`, which comes before each episode, forgets all values.
    """

    size = MOST_ATOMS

    def __init__(self) -> None:
        self._components: list[_Component] = []
        self._atoms = _Numbers()

    def prepare(self, simulator: Simulator, first: Step) -> None:
        """Check that the simulator shows numbers, and forget all values."""
        self._observed(first)
        self.__init__()  # new lists: a bookmark may hold those of the last episode

    def of_step(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step, shape (components,)."""
        values, atoms = self._observed(step).tolist(), self._atoms
        while len(self._components) < len(values):
            self._components.append(_Component(len(self._components)))
        found = {
            component.atom(value, atoms)
            for component, value in zip(self._components, values, strict=False)
        }
        return np.array(sorted(found), np.int32)

    def meaning(self, atom: int) -> Meaning:
        """Say what an atom stands for, or stood for before its interval was cut."""
        return self._atoms.given[atom]

    def bookmark(self) -> Any:
        """All that was met, to be given to `return_to`."""
        return self._components, self._atoms

    def return_to(self, bookmark: Any) -> None:
        """Go back to what had been met at a moment; it goes on with the bookmark itself."""
        self._components, self._atoms = bookmark

    @staticmethod
    def _observed(step: Step) -> Numbers:
        observed = step.ram if step.values is None else step.values
        problem = numbers_problem(step.values)
        if observed is None:
            problem = "are missing: the features 'values' are for simulators whose steps have them"
        if problem is not None and "read-only" not in problem:
            raise FeaturesError(f"values {problem}")
        assert observed is not None
        return observed.astype(np.float64)


@final
class _Numbers:
    """Gives away the numbers of atoms."""

    def __init__(self, given: Iterable[Meaning] = ()) -> None:
        self.given = list(given)
        """What each number stands for."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Numbers":
        # Its entries never change, and there are thousands: only the list itself is copied.
        return _Numbers(self.given)

    def new(self, *meaning: *Meaning) -> int:
        """Return the next number; the last one again and again."""
        if len(self.given) < MOST_ATOMS:
            self.given.append(meaning)
        return len(self.given) - 1

    @property
    def left(self) -> bool:
        """Whether two more can be given, as a cut needs."""
        return len(self.given) <= MOST_ATOMS - 2


@final
class _Component:
    """What was met of one component."""

    __slots__ = ("atoms", "cuts", "exact", "met", "number", "whole")

    def __init__(self, number: int) -> None:
        self.number = number
        self.exact: dict[float, int] | None = {}
        """Atoms by value; None once there are intervals."""
        self.whole = True
        self.cuts: list[float] = []
        """Least values of all intervals but the first, ascending."""
        self.atoms: list[int] = []
        """Number of each interval."""
        self.met: list[list[float]] = []
        """Values met in each interval since it was made."""

    def atom(self, value: float, atoms: _Numbers) -> int:
        """Note a value, and return its atom."""
        if isnan(value):  # a value like others, but one that can be compared: below all
            value = -np.inf
        if self.exact is not None:
            known = self.exact.get(value)
            if known is not None:
                return known
            self.whole = self.whole and value.is_integer()
            if len(self.exact) < (MOST_WHOLE if self.whole else MOST_BROKEN):
                return self.exact.setdefault(value, atoms.new(self.number, value, value))
            self._cut_all(sorted(self.exact), atoms)
        place = bisect_right(self.cuts, value)
        inside = self.met[place]
        inside.append(value)
        # Cut as soon as it has met as many values as there are intervals: about √n after n steps.
        if len(inside) > len(self.atoms) and atoms.left:
            place = self._cut(place, value, atoms)
        return self.atoms[place]

    def _cut_all(self, values: list[float], atoms: _Numbers) -> None:
        """Make intervals of all values that were met, as equal in number as can be."""
        self.exact = None
        self.cuts = [values[len(values) * part // MOST_BROKEN] for part in range(1, MOST_BROKEN)]
        ends = pairwise([-np.inf, *self.cuts, np.inf])
        self.atoms = [atoms.new(self.number, low, high) for low, high in ends]
        self.met = [[] for _ in range(MOST_BROKEN)]

    def _cut(self, place: int, value: float, atoms: _Numbers) -> int:
        """Cut an interval at the median of what it has met; return where a value is then."""
        inside = sorted(self.met[place])
        cut = inside[len(inside) // 2]
        if cut == inside[0]:  # mostly one value: nothing to tell apart
            self.met[place] = inside[: len(inside) // 2]
            return place
        low, high = [-np.inf, *self.cuts, np.inf][place : place + 2]
        self.cuts.insert(place, cut)
        ends = pairwise((low, cut, high))
        self.atoms[place : place + 1] = [atoms.new(self.number, *it) for it in ends]
        lower = [it for it in inside if it < cut]
        self.met[place : place + 1] = [lower, inside[len(lower) :]]
        return place + (value >= cut)
