"""Rollout-IW whose calls are made by several processes at the same time.

Two rollouts per worker and one more are under way (with one worker: one alone). A rollout walks the
tree by itself until it needs a call; while that call is made, the others walk. So that they spread,

- an action that rollouts under way have taken counts as visited by them already, though what they
  return is not known (virtual visits), and
- no call is asked for twice: an action whose call is being made is blocked, and so is an action
  below which all that is left to try is blocked.

Rollouts go on in turn, one after the other, whichever call ends first: the result depends on the
seed and the number of workers alone. With one worker it is that of `RolloutIW`.

One of the workers is this process: where it would have to wait, it makes a call itself. The others
are processes of their own. So N workers keep N cores busy, and none has to be shared.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from olive_iw.bandits.base import ActionStatistics, checked_choice
from olive_iw.errors import InputError
from olive_iw.features import Atoms
from olive_iw.planners.rollout_iw import Rollout, RolloutIW
from olive_iw.planners.tree import NONE, ROOT, NodeData
from olive_iw.simulators.base import Simulator, Step
from olive_iw.simulators.messages import Request, freeze, thaw
from olive_iw.simulators.workers import MOST_ASKED, Workers


class _Frozen(NamedTuple):
    """A state that another process saved."""

    content: bytes


@dataclass(slots=True, eq=False)
class PendingCall:
    """A rollout that waits for a call."""

    rollout: Rollout
    path: list[int]
    action: int
    worker: int | None = None
    """The other process that makes the call; None if none does."""
    number: int = 0
    """How many calls that process had been asked for, this one included."""
    shown: tuple[Step, Any] | None = None
    """What the call showed and the state after it, once they are known."""
    atoms: Atoms | None = None

    @property
    def node(self) -> int:
        """Where the call starts."""
        return self.path[-1]


class ParallelRolloutIW(RolloutIW):
    """Rollout-IW with search workers; for more than one the simulator must be picklable."""

    def __init__(self, *parts: Any, workers: int, **options: Any) -> None:
        """Assemble a planner; see `RolloutIW` for all but the number of workers."""
        super().__init__(*parts, **options)
        if workers < 1:
            raise InputError(f"{workers} search workers are not possible; it must be at least 1")
        self.workers = workers
        self.flights = 1 if workers == 1 else MOST_ASKED * workers + 1
        """Rollouts under way at a time."""
        self._pool: Workers | None = None
        self._pool_of: Simulator | None = None

    def start(self, simulator: Simulator, seed: int) -> Step:
        """Reset the simulator and begin an episode; workers start with a simulator's first one."""
        if self._pool is None or self._pool_of is not simulator:
            self.close()
            self._pool, self._pool_of = Workers(simulator, self.workers - 1), simulator
        self._nodes_renumbered()
        return super().start(simulator, seed)

    def close(self) -> None:
        """End the workers; `start` starts new ones."""
        super().close()
        if self._pool is not None:
            self._pool.close()
        self._pool = self._pool_of = None

    def saved_state(self, node: int) -> Any:
        """State of the simulator at a node; see `Planner.saved_state`."""
        state = self.tree.seen[node].state
        return thaw(state.content) if isinstance(state, _Frozen) else state

    @property
    def pool(self) -> Workers:
        """The other processes, one fewer than there are workers."""
        if self._pool is None:
            raise InputError("no episode has begun; call start() first")
        return self._pool

    def _nodes_renumbered(self) -> None:
        super()._nodes_renumbered()
        others = self.workers - 1
        self._at = [NONE] * others
        """Nodes at which the other processes stand, where nothing was asked of them since."""
        self._calls_of = [0] * others
        self._asked: list[deque[PendingCall]] = [deque() for _ in range(others)]
        self._unasked: deque[PendingCall] = deque()
        self._own: PendingCall | None = None
        """The last call that this process made."""
        self._without_atoms: list[PendingCall] = []

    def _search(self) -> None:
        """Roll out, several rollouts at a time, until the budget is spent or the root is solved."""
        flights: list[PendingCall | None] = [None] * self.flights
        try:
            while self._may_go_on() or any(flights):
                for number, flight in enumerate(flights):
                    flights[number] = self._turn(flight)
        except BaseException:
            # Interrupted: what is in the tree is right, what is under way is dropped.
            self.pool.forget()
            self._nodes_renumbered()
            self.tree.flying[:] = 0
            self.tree.blocked[:] = False
            raise

    def _may_go_on(self) -> bool:
        return self.ledger.left > 0 and not self._solved()

    def _turn(self, flight: PendingCall | None) -> PendingCall | None:
        """Take what a rollout's call showed, and go on until the next; None if there is none."""
        if flight is not None:
            self._land(flight)
            flight = self._go_on(flight.rollout)
        while flight is None and self._may_go_on() and self._open(ROOT):
            flight = self._go_on(self._rollout())
        return flight

    def _go_on(self, rollout: Rollout) -> PendingCall | None:
        """Walk until a call is needed, and ask for it; None if the rollout ended before."""
        for path, action in rollout:
            if self._may_go_on():
                flight = PendingCall(rollout, path, action)
                self._take_off(flight)
                return flight
        return None

    def _take_off(self, flight: PendingCall) -> None:
        """Ask for a call, and let the other rollouts know."""
        self.ledger.spend()
        with self.ledger.tree:
            self._fly(flight, 1)
        self._unasked.append(flight)
        self._ask()

    def _land(self, flight: PendingCall) -> None:
        """Add what a call showed to the tree, once it is known."""
        while flight.shown is None:
            self._work_for(flight)
        atoms = self._atoms_of_flight(flight)
        child = self._add(flight.node, flight.action, NodeData(*flight.shown, atoms))
        if flight is self._own:
            self._simulator_at = child
        elif flight.worker is not None and flight.number == self._calls_of[flight.worker]:
            self._at[flight.worker] = child
        with self.ledger.tree:
            self._fly(flight, -1)

    def _fly(self, flight: PendingCall, change: int) -> None:
        tree, path = self.tree, np.array(flight.path, np.int32)
        _fly(path, flight.action, change, tree.action, tree.unsolved, tree.flying, tree.blocked)

    def _work_for(self, flight: PendingCall) -> None:
        """Take the answers that came; if a flight's is not among them, make a call or wait."""
        while answered := self.pool.answered():
            for worker in answered:
                self._receive(worker)
        self._ask()
        if flight.shown is None and flight.worker is None:
            self._unasked.remove(flight)
            self._make(flight)
        elif flight.shown is None and self._unasked:
            self._make(self._unasked.popleft())
        elif flight.shown is None and flight.worker is not None:
            self._receive(flight.worker)

    def _make(self, flight: PendingCall) -> None:
        """Make a call in this process."""
        self._own = flight
        flight.shown = self._simulate(flight.node, flight.action)
        self._without_atoms.append(flight)

    def _ask(self) -> None:
        """Give calls to the other processes, as long as one has room for another."""
        while self._unasked and self._asked:
            worker = min(range(len(self._asked)), key=lambda each: len(self._asked[each]))
            if len(self._asked[worker]) == MOST_ASKED:
                return
            flight = self._unasked.popleft()
            with self.ledger.states:
                state = self.tree.seen[flight.node].state
                frozen = state.content if isinstance(state, _Frozen) else freeze(state)
                continues = self._at[worker] == flight.node
                self.pool.ask(worker, Request(frozen, flight.action, continues))
            self._asked[worker].append(flight)
            self._calls_of[worker] += 1
            flight.worker, flight.number = worker, self._calls_of[worker]
            self._at[worker] = NONE

    def _receive(self, worker: int) -> None:
        """Wait for another process's next answer."""
        with self.ledger.emulator:
            answer = self.pool.answer(worker)
        flight = self._asked[worker].popleft()
        self._check(answer.step, f"step({flight.action})")
        flight.shown = answer.step, None if answer.state is None else _Frozen(answer.state)
        self._without_atoms.append(flight)

    def _atoms_of_flight(self, flight: PendingCall) -> Atoms:
        """Atoms of a call that was made; computed together with others, where that is allowed.

        Features without `of_steps` may depend on what was met before: their turn decides.
        """
        if flight.atoms is not None:
            return flight.atoms
        together = self._without_atoms if hasattr(self.features, "of_steps") else [flight]
        steps = [each.shown[0] for each in together if each.shown is not None]
        parents = [self.tree.seen[each.node].step for each in together]
        computed = self._atoms_of(steps, parents)
        for each, atoms in zip(together, computed, strict=True):
            each.atoms = atoms
        found = computed[together.index(flight)]
        self._without_atoms = [each for each in self._without_atoms if each.atoms is None]
        return found

    def _atoms_of(self, steps: Sequence[Step], parents: Sequence[Step]) -> Sequence[Atoms]:
        features = self.features
        if len(steps) == 1 or features is None:
            return [self._atoms(*pair) for pair in zip(steps, parents, strict=True)]
        with self.ledger.features:
            hits: int = getattr(features, "cache_hits", 0)
            atoms: list[Atoms] = features.of_steps(steps, parents)  # type: ignore[attr-defined]
            hits = getattr(features, "cache_hits", 0) - hits
        self.ledger.cache_hits += hits
        self.ledger.cache_misses += len(steps) - hits
        return atoms

    def _choose(self, node: int) -> int:
        """Let the bandit choose among a node's open actions."""
        tree = self.tree
        with self.ledger.bandit:
            statistics = ActionStatistics(
                tree.count[node] + tree.flying[node],
                tree.mean[node],
                tree.variance[node],
                tree.unsolved[node] > tree.blocked[node],
            )
            return checked_choice(self.bandit, statistics, self._bandit_generator)

    def _open(self, node: int) -> bool:
        """Whether some action of a node can be chosen now."""
        if not self.tree.was_entered(node):
            return True
        return bool((self.tree.unsolved[node] > self.tree.blocked[node]).any())

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
    unsolved: NDArray[np.bool_],
    flying: NDArray[np.int64],
    blocked: NDArray[np.bool_],
) -> None:
    """Take off (change 1) or land (-1): count the visits, block or free the action at the end."""
    for step in range(1, len(path)):
        flying[path[step - 1], action_to[path[step]]] += change
    flying[path[-1], action] += change
    blocked[path[-1], action] = change > 0
    _renew_blocked(path, action_to, unsolved, blocked)


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
