"""Rollout-IW whose calls are made by several processes at the same time.

As many rollouts are under way as there are workers. A rollout walks the tree alone until it needs a
call; while a worker makes that call, the others walk. So that they spread,

- an action that rollouts under way have taken counts as visited by them already, though what they
  return is not known (virtual visits), and
- no call is asked for twice: an action whose call is being made is blocked, and so is an action
  below which all that is left to try is blocked.

Answers are taken in turn, worker after worker, whichever comes first: the result depends on the
seed and the number of workers alone. With one worker it is that of `RolloutIW`.
"""

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
from olive_iw.simulators.workers import Request, Workers, freeze, thaw


@dataclass(slots=True)
class _Flight:
    """A rollout that waits for a call."""

    rollout: Rollout
    path: list[int]
    action: int
    seen: Seen | None = None
    """What the call showed, once it is known."""


class ParallelRolloutIW(RolloutIW):
    """Rollout-IW with search workers; the simulator must be picklable."""

    def __init__(self, *parts: Any, workers: int, **options: Any) -> None:
        """Assemble a planner; see `RolloutIW` for all but the number of workers."""
        super().__init__(*parts, **options)
        if workers < 1:
            raise InputError(f"{workers} search workers are not possible; it must be at least 1")
        self.workers = workers
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

    def _search(self) -> None:
        """Roll out, a rollout per worker, until the budget is spent or the root is solved."""
        flights: list[_Flight | None] = [None] * self.workers
        try:
            while self._may_go_on() or any(flights):
                for worker in range(self.workers):
                    flights[worker] = self._turn(worker, flights)
        except BaseException:
            # Interrupted: what is in the tree is right, what is under way is dropped.
            self.pool.forget()
            self._nodes_renumbered()
            self.tree.flying[:] = 0
            self.tree.blocked[:] = False
            raise

    def _may_go_on(self) -> bool:
        return self.ledger.left > 0 and not self._solved()

    def _turn(self, worker: int, flights: Sequence[_Flight | None]) -> _Flight | None:
        """Take a worker's answer, and go on until its next call; None if there is none now."""
        flight = flights[worker]
        if flight is not None:
            self._land(worker, flights)
            flight = self._go_on(worker, flight.rollout)
        while flight is None and self._may_go_on() and self._open(ROOT):
            flight = self._go_on(worker, self._rollout())
        return flight

    def _go_on(self, worker: int, rollout: Rollout) -> _Flight | None:
        """Walk until a call is needed, and ask for it; None if the rollout ended before."""
        for path, action in rollout:
            if self._may_go_on():
                self._take_off(worker, path, action)
                return _Flight(rollout, path, action)
        return None

    def _take_off(self, worker: int, path: list[int], action: int) -> None:
        """Ask a worker for a call, and let the other rollouts know."""
        self.ledger.spend()
        with self.ledger.tree:
            tree, nodes = self.tree, np.array(path, np.int32)
            tree.blocked[path[-1], action] = True
            _fly(nodes, action, 1, tree.action, tree.flying)
            _block(nodes, tree.action, tree.unsolved, tree.blocked)
        self._ask(worker, path[-1], action)

    def _land(self, worker: int, flights: Sequence[_Flight | None]) -> None:
        """Take the answer of a worker's call, and add what it showed to the tree."""
        flight = flights[worker]
        assert flight is not None
        if flight.seen is None:
            self._receive(worker, flights)
        assert flight.seen is not None
        child = self._add(flight.path[-1], flight.action, flight.seen)
        self._at[worker] = child
        with self.ledger.tree:
            tree, nodes = self.tree, np.array(flight.path, np.int32)
            tree.blocked[nodes[:-1], tree.action[nodes[1:]]] = False
            tree.blocked[flight.path[-1], flight.action] = False
            _fly(nodes, flight.action, -1, tree.action, tree.flying)

    def _receive(self, worker: int, flights: Sequence[_Flight | None]) -> None:
        """Wait for a worker's answer; compute its atoms together with those that came meanwhile."""
        with self.ledger.emulator:
            replies = {worker: self.pool.answer(worker)}
            # Atoms that depend on what was met before are computed in turn.
            if hasattr(self.features, "of_steps"):
                for other in self.pool.answered():
                    replies[other] = self.pool.answer(other)
        received = [(flights[number], reply) for number, reply in replies.items()]
        atoms = self._atoms_of([(flight, reply.step) for flight, reply in received if flight])
        for (flight, reply), those in zip(received, atoms, strict=True):
            assert flight is not None
            self._check(reply.step, f"step({flight.action})")
            flight.seen = Seen(reply.step, reply.state, those)

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
        self.ledger.spend()
        self._ask(0, node, action)
        flight = _Flight(iter(()), [node], action)
        try:
            self._receive(0, [flight])
        except BaseException:
            self.pool.forget()
            self._nodes_renumbered()
            raise
        assert flight.seen is not None
        self._at[0] = self._add(node, action, flight.seen)
        return self._at[0]

    def _ask(self, worker: int, node: int, action: int) -> None:
        with self.ledger.states:
            state: bytes = self.tree.seen[node].state
            self.pool.ask(worker, Request(state, action, continues=self._at[worker] == node))
        self._at[worker] = NONE

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
            _block(nodes, tree.action, tree.unsolved, tree.blocked)


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
def _block(
    path: NDArray[np.int32],
    action_to: NDArray[np.int32],
    unsolved: NDArray[np.bool_],
    blocked: NDArray[np.bool_],
) -> None:
    """Block the actions along a path, from its end up, that lead to nodes with no open action."""
    for step in range(len(path) - 1, 0, -1):
        node, above = path[step], path[step - 1]
        for action in range(unsolved.shape[1]):
            if unsolved[node, action] and not blocked[node, action]:
                return
        if unsolved[above, action_to[node]]:
            blocked[above, action_to[node]] = True
