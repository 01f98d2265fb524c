"""Rollout-IW whose calls are made by several processes at the same time.

Two rollouts per worker are under way (with one worker: one). A rollout walks the tree alone until
it needs a call; while a worker makes that call, the others walk. So that they spread,

- an action that rollouts under way have taken counts as visited by them already, though what they
  return is not known (virtual visits), and
- no call is asked for twice: an action whose call is being made is blocked, and so is an action
  below which all that is left to try is blocked.

Answers are taken in turn, rollout after rollout, whichever comes first: the result depends on the
seed and the number of workers alone. With one worker it is that of `RolloutIW`.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.errors import InputError
from olive_iw.features import Atoms
from olive_iw.planners.rollout_iw import Rollout, RolloutIW
from olive_iw.planners.tree import NONE, ROOT, Seen
from olive_iw.simulators.base import Simulator, Step
from olive_iw.simulators.workers import MOST_ASKED, Reply, Request, Workers, freeze, thaw


@dataclass(slots=True)
class _Flight:
    """A rollout that waits for a call."""

    worker: int
    rollout: Rollout
    path: list[int]
    action: int
    seen: Seen | None = None
    """What the call showed, once it is known."""
    number: int = 0
    """How many calls its worker had been asked for, this one included."""


class ParallelRolloutIW(RolloutIW):
    """Rollout-IW with search workers; the simulator must be picklable."""

    def __init__(self, *parts: Any, workers: int, **options: Any) -> None:
        """Assemble a planner; see `RolloutIW` for all but the number of workers."""
        super().__init__(*parts, **options)
        if workers < 1:
            raise InputError(f"{workers} search workers are not possible; it must be at least 1")
        self.workers = workers
        self.flights = 1 if workers == 1 else MOST_ASKED * workers
        """Rollouts under way at a time."""
        self._pool: Workers | None = None
        self._pool_of: Simulator | None = None

    def start(self, simulator: Simulator, seed: int) -> Step:
        """Reset the simulator and begin an episode; workers start with a simulator's first one."""
        if self._pool is None or self._pool_of is not simulator:
            self.close()
            self._pool, self._pool_of = Workers(simulator, self.workers), simulator
        step = super().start(simulator, seed)
        self._nodes_renumbered()
        return step

    def close(self) -> None:
        """End the workers; `start` starts new ones."""
        super().close()
        if self._pool is not None:
            self._pool.close()
        self._pool = self._pool_of = None

    def saved_state(self, node: int) -> Any:
        """State of the simulator at a node; see `Planner.saved_state`."""
        return thaw(self.tree.seen[node].state)

    @property
    def pool(self) -> Workers:
        """The workers of the current episode."""
        if self._pool is None:
            raise InputError("no episode has begun; call start() first")
        return self._pool

    def _nodes_renumbered(self) -> None:
        super()._nodes_renumbered()
        self._at = [NONE] * self.workers
        """Nodes at which the workers stand, where nothing has been asked of them since."""
        self._calls_of = [0] * self.workers
        self._asked: list[deque[_Flight]] = [deque() for _ in range(self.workers)]

    def _search(self) -> None:
        """Roll out, several rollouts at a time, until the budget is spent or the root is solved."""
        flights: list[_Flight | None] = [None] * self.flights
        try:
            while self._may_go_on() or any(flights):
                for number, flight in enumerate(flights):
                    flights[number] = self._turn(number % self.workers, flight)
        except BaseException:
            # Interrupted: what is in the tree is right, what is under way is dropped.
            self._drop_flights()
            self.tree.flying[:] = 0
            self.tree.blocked[:] = False
            raise

    def _may_go_on(self) -> bool:
        return self.ledger.left > 0 and not self._solved()

    def _turn(self, worker: int, flight: _Flight | None) -> _Flight | None:
        """Take the answer to a rollout's call, and go on until the next; None if there is none."""
        if flight is not None:
            self._land(flight)
            flight = self._go_on(worker, flight.rollout)
        while flight is None and self._may_go_on() and self._open(ROOT):
            flight = self._go_on(worker, self._rollout())
        return flight

    def _go_on(self, worker: int, rollout: Rollout) -> _Flight | None:
        """Walk until a call is needed, and ask for it; None if the rollout ended before."""
        for path, action in rollout:
            if self._may_go_on():
                return self._take_off(_Flight(worker, rollout, path, action))
        return None

    def _take_off(self, flight: _Flight) -> _Flight:
        """Ask for a call, and let the other rollouts know."""
        with self.ledger.tree:
            tree, nodes = self.tree, np.array(flight.path, np.int32)
            _fly(nodes, flight.action, 1, tree.action, tree.flying)
            tree.blocked[flight.path[-1], flight.action] = True
            _renew_blocked(nodes, tree.action, tree.unsolved, tree.blocked)
        self._ask(flight)
        return flight

    def _land(self, flight: _Flight) -> None:
        """Take the answer to a call, and add what it showed to the tree."""
        self._hear(flight)
        with self.ledger.tree:
            tree, nodes = self.tree, np.array(flight.path, np.int32)
            _fly(nodes, flight.action, -1, tree.action, tree.flying)
            tree.blocked[flight.path[-1], flight.action] = False
            _renew_blocked(nodes, tree.action, tree.unsolved, tree.blocked)

    def _ask(self, flight: _Flight) -> None:
        """Ask a worker for a flight's call."""
        self.ledger.spend()
        worker, node = flight.worker, flight.path[-1]
        with self.ledger.states:
            state: bytes = self.tree.seen[node].state
            self.pool.ask(worker, Request(state, flight.action, self._at[worker] == node))
        self._asked[worker].append(flight)
        self._calls_of[worker] += 1
        flight.number = self._calls_of[worker]
        self._at[worker] = NONE

    def _hear(self, flight: _Flight) -> None:
        """Wait for the answer to a flight's call, and add what it showed to the tree."""
        while flight.seen is None:
            self._receive(flight.worker)
        child = self._add(flight.path[-1], flight.action, flight.seen)
        if flight.number == self._calls_of[flight.worker]:
            self._at[flight.worker] = child

    def _receive(self, worker: int) -> None:
        """Wait for a worker's answer; compute its atoms together with those that came meanwhile."""
        with self.ledger.emulator:
            heard = [self._answer(worker)]
            # Atoms that depend on what was met before are computed one after the other.
            if hasattr(self.features, "of_steps"):
                heard += [self._answer(other) for other in self.pool.answered()]
        for flight, reply in heard:
            self._check(reply.step, f"step({flight.action})")
        atoms = self._atoms_of([(flight, reply.step) for flight, reply in heard])
        for (flight, reply), those in zip(heard, atoms, strict=True):
            flight.seen = Seen(reply.step, reply.state, those)

    def _answer(self, worker: int) -> tuple[_Flight, Reply]:
        reply = self.pool.answer(worker)
        return self._asked[worker].popleft(), reply

    def _atoms_of(self, shown: Sequence[tuple[_Flight, Step]]) -> list[Atoms]:
        parents = [self.tree.seen[flight.path[-1]].step for flight, _ in shown]
        steps = [step for _, step in shown]
        features = self.features
        if len(shown) == 1 or features is None:
            return [self._atoms(*pair) for pair in zip(steps, parents, strict=True)]
        with self.ledger.features:
            hits: int = getattr(features, "cache_hits", 0)
            atoms: list[Atoms] = features.of_steps(steps, parents)  # type: ignore[attr-defined]
            hits = getattr(features, "cache_hits", 0) - hits
        self.ledger.cache_hits += hits
        self.ledger.cache_misses += len(steps) - hits
        return atoms

    def _expand(self, node: int, action: int) -> int:
        """Make a single call, while no other is being made."""
        flight = _Flight(0, iter(()), [node], action)
        try:
            self._ask(flight)
            self._hear(flight)
        except BaseException:
            self._drop_flights()
            raise
        return int(self.tree.children[node, action])

    def _drop_flights(self) -> None:
        self.pool.forget()
        self._nodes_renumbered()

    def _save(self, step: Step) -> bytes | None:
        state = super()._save(step)
        return None if step.terminal else freeze(state)

    def _choose(self, node: int) -> int:
        """Let the bandit choose among a node's open actions."""
        tree = self.tree
        with self.ledger.bandit:
            return self.bandit.choose(
                tree.count[node] + tree.flying[node],
                tree.mean[node],
                tree.variance[node],
                tree.unsolved[node] & ~tree.blocked[node],
                self._bandit_generator,
            )

    def _open(self, node: int) -> bool:
        """Whether some action of a node can be chosen now."""
        if not self.tree.was_entered(node):
            return True
        return bool((self.tree.unsolved[node] & ~self.tree.blocked[node]).any())

    def _back_up(self, path: Sequence[int], counted: int | None = None) -> None:
        super()._back_up(path, counted)
        with self.ledger.tree:
            # The end of the rollout may have been solved: what is left above it may all fly.
            tree, nodes = self.tree, np.array(path[:-1], np.int32)
            _renew_blocked(nodes, tree.action, tree.unsolved, tree.blocked)


@njit(cache=True)
def _fly(
    path: NDArray[np.int32],
    action: int,
    change: int,
    action_to: NDArray[np.int32],
    flying: NDArray[np.int64],
) -> None:
    """Add to the virtual visits of a path's actions and of the one asked for at its end."""
    for step in range(1, len(path)):
        flying[path[step - 1], action_to[path[step]]] += change
    flying[path[-1], action] += change


@njit(cache=True)
def _renew_blocked(
    path: NDArray[np.int32],
    action_to: NDArray[np.int32],
    unsolved: NDArray[np.bool_],
    blocked: NDArray[np.bool_],
) -> None:
    """Block a path's unsolved actions, from its end up, that lead to nodes with no open action."""
    for step in range(len(path) - 1, 0, -1):
        node, above = path[step], path[step - 1]
        is_open = False
        for action in range(unsolved.shape[1]):
            is_open |= unsolved[node, action] and not blocked[node, action]
        action = action_to[node]
        blocked[above, action] = unsolved[above, action] and not is_open
