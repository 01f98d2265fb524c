"""Rollouts whose calls are made by several processes at the same time.

Two rollouts per worker and one more are under way (with one worker: one alone). A rollout walks the
tree by itself until it needs a call; while that call is made, the others walk. So that they spread,

- an action that rollouts under way have taken counts as visited by them already, though what they
  return is not known (virtual visits), and
- no call is asked for twice: an action whose call is being made is blocked, and so is an action
  below which all that is left to try is blocked.

Rollouts go on in turn, one after the other, whichever call ends first: the result depends on the
seed and the number of workers alone. With one worker it is that of `Driver`.

One of the workers is this process: where it would have to wait, it makes a call itself. The others
are processes of their own. So N workers keep N cores busy, and none has to be shared.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from olive_iw.bandits import ActionStatistics
from olive_iw.bandits.base import Mask
from olive_iw.compiled import njit
from olive_iw.errors import InputError
from olive_iw.search.drivers import Driver, Start
from olive_iw.search.measures import Ints
from olive_iw.search.node import FrozenState
from olive_iw.search.rollout import Rollout
from olive_iw.search.search import Search
from olive_iw.search.tree import NONE, ROOT
from olive_iw.search.walk import Walk
from olive_iw.simulators.base import Simulator, Step
from olive_iw.simulators.messages import CallRequest
from olive_iw.simulators.workers import MOST_ASKED, Workers


@dataclass(slots=True, eq=False)
class PendingCall:
    """A rollout that waits for a call."""

    rollout: Rollout
    walk: Walk
    action: int
    worker: int | None = None
    """The other process that makes the call; None if none does."""
    shown: tuple[Step, Any] | None = None
    """What the call showed and the state after it, once they are known."""

    @property
    def node(self) -> int:
        """Where the call starts."""
        return self.walk.path[-1]


@final
class ParallelDriver(Driver):
    """Carries rollouts out with search workers; the simulator must be picklable."""

    pool: Workers
    """The other processes, one fewer than there are workers."""

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise InputError(f"{workers} search workers are not possible; it must be at least 1")
        self.workers = workers
        # Enough that every worker has a next call waiting, and one more that walks meanwhile.
        self.rollouts = 1 if workers == 1 else MOST_ASKED * workers + 1
        """Rollouts under way at a time."""
        self._pool_of: Simulator | None = None

    def open(self, simulator: Simulator) -> None:
        """Start the workers with a simulator's first episode."""
        if self._pool_of is not simulator:
            self.close()
            self.pool, self._pool_of = Workers(simulator, self.workers - 1), simulator

    def close(self) -> None:
        """End the workers; `open` starts new ones."""
        if self._pool_of is not None:
            self.pool.close()
        self._pool_of = None

    def run(self, search: Search, start: Start) -> None:
        """Roll out, several rollouts at a time, until the budget is spent or the root is solved."""
        self._begin(search)
        waiting: list[PendingCall | None] = [None] * self.rollouts
        search.told = self._told
        try:
            while self._may_go_on() or any(waiting):
                for number, call in enumerate(waiting):
                    waiting[number] = self._turn(call, start)
        except BaseException:
            # Interrupted: what is in the tree is right, what is under way is dropped.
            self.pool.forget()
            search.simulator_at = NONE
            self._begin(search)
            raise
        finally:
            search.told = None

    def _begin(self, search: Search) -> None:
        """Forget all that was under way."""
        if search.reseeds and self.workers > 1:
            raise InputError("reseed_search is for one search worker; leave search_workers out")
        self._search = search
        rows = search.tree.size + search.ledger.budget.left, search.tree.actions
        self.virtual_visits = np.zeros(rows, np.int64)
        """Rollouts under way through an action, int64, shape (nodes, actions)."""
        self.blocked = np.zeros(rows, np.bool_)
        """Unsolved actions below which every call is being made, bool, (nodes, actions)."""
        self._asked: list[deque[PendingCall]] = [deque() for _ in range(self.workers - 1)]
        """Calls that each of the other processes was asked for and has not answered."""
        self._unasked: deque[PendingCall] = deque()

    # Rollouts in turn

    def _may_go_on(self) -> bool:
        return self._search.ledger.budget.left > 0 and not self._search.solved

    def _turn(self, call: PendingCall | None, start: Start) -> PendingCall | None:
        """Take what a rollout's call showed, and go on until the next; None if there is none."""
        if call is not None:
            self._land(call)
            call = self._go_on(call.rollout)
        while call is None and self._may_go_on() and self._is_open(ROOT):
            call = self._go_on(self._unblocking(start(self._search)))
        return call

    def _go_on(self, rollout: Rollout) -> PendingCall | None:
        """Walk until a call is needed, and ask for it; None if the rollout ended before."""
        for walk, action in rollout:
            if self._may_go_on():
                call = PendingCall(rollout, walk, action)
                self._search.ledger.budget.spend()
                self._count(call, 1)
                self._unasked.append(call)
                self._ask()
                return call
        return None

    def _unblocking(self, rollout: Rollout) -> Rollout:
        """Look after a rollout: its end may be solved, and all that is left above it blocked."""
        walk = yield from rollout
        with self._search.ledger.stopwatches.tree:
            self._renew_blocked(walk.path[:-1])
        return walk

    def _land(self, call: PendingCall) -> None:
        """Add what a call showed to the tree, once it is known."""
        while call.shown is None:
            self._work_for(call)
        # Not before: atoms may depend on what was met before, so that a call's turn decides.
        self._search.add(call.node, call.action, *call.shown)
        self._count(call, -1)

    # Virtual visits

    def _told(self, node: int, known: ActionStatistics) -> ActionStatistics:
        """Add virtual visits to what is known of a node; what is blocked cannot be chosen."""
        # `a > b` of two masks is "a and not b", in one pass.
        return known._replace(
            count=known.count + self.virtual_visits[node],
            unsolved=known.unsolved > self.blocked[node],
        )

    def _is_open(self, node: int) -> bool:
        """Whether some action of a node can be chosen now."""
        tree = self._search.tree
        return not tree.was_entered(node) or bool((tree.unsolved[node] > self.blocked[node]).any())

    def _count(self, call: PendingCall, change: int) -> None:
        """Count a rollout's virtual visits when it begins to wait (1) or has its answer (-1)."""
        with self._search.ledger.stopwatches.tree:
            nodes = np.array(call.walk.path, np.int32)
            actions = np.append(self._search.tree.action[nodes[1:]], call.action)
            self.virtual_visits[nodes, actions] += change
            self.blocked[call.node, call.action] = change > 0
            self._renew_blocked(call.walk.path)

    def _renew_blocked(self, path: Sequence[int]) -> None:
        tree = self._search.tree
        _renew_blocked(np.array(path, np.int32), tree.action, tree.unsolved, self.blocked)

    # Calls

    def _work_for(self, call: PendingCall) -> None:
        """Take the answers that came; if a call's is not among them, make a call or wait."""
        while answered := self.pool.answered():
            for worker in answered:
                self._receive(worker)
        self._ask()
        if call.shown is not None:
            return
        if call.worker is not None and not self._unasked:
            self._receive(call.worker)
            return
        # Rather than wait, make a call here: this one if no worker has it, or else another.
        mine = call if call.worker is None else self._unasked[0]
        self._unasked.remove(mine)
        mine.shown = self._search.simulate(mine.node, mine.action)

    def _ask(self) -> None:
        """Give calls to the other processes, as long as one has room for another."""
        while self._unasked and self._asked:
            # The least busy one; the first of equals, so that the same seed asks the same worker.
            worker = min(range(len(self._asked)), key=lambda each: len(self._asked[each]))
            if len(self._asked[worker]) == MOST_ASKED:
                return
            call = self._unasked.popleft()
            with self._search.ledger.stopwatches.states:
                state = self._search.tree.seen[call.node].frozen
                # Rollouts take turns: hardly ever does one go on where its worker stands.
                self.pool.ask(worker, CallRequest(state, call.action, continues=False))
            self._asked[worker].append(call)
            call.worker = worker

    def _receive(self, worker: int) -> None:
        """Wait for another process's next answer."""
        with self._search.ledger.stopwatches.emulator:
            answer = self.pool.answer(worker)
        self.processor_seconds = self.pool.processor_seconds
        call = self._asked[worker].popleft()
        self._search.check(answer.step, f"step({call.action})")
        call.shown = answer.step, None if answer.state is None else FrozenState(answer.state)


@njit
def _renew_blocked(path: Ints, action_to: Ints, unsolved: Mask, blocked: Mask) -> None:
    """Block a path's unsolved actions, from its end up, that lead to nodes with no open action."""
    for step in range(len(path) - 1, 0, -1):
        node, above = path[step], path[step - 1]
        is_open = False
        for action in range(unsolved.shape[1]):
            is_open |= unsolved[node, action] and not blocked[node, action]
        action = action_to[node]
        blocked[above, action] = unsolved[above, action] and not is_open
