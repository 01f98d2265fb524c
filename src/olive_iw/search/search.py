"""An episode's tree and what makes it grow: the verbs that planners and drivers are made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from olive_iw.bandits import ActionStatistics, Bandit
from olive_iw.bandits.base import back_up, checked_choice
from olive_iw.errors import InputError
from olive_iw.features.base import Atoms, Features, Guidance
from olive_iw.novelty import Judge
from olive_iw.randomness import child_seed, generator
from olive_iw.search.decision import Stopped
from olive_iw.search.ledger import Ledger
from olive_iw.search.node import NodeData
from olive_iw.search.rule import Rule, Stream, asked
from olive_iw.search.sight import Sight
from olive_iw.search.tree import AGAIN, MEMORY, NEW, NONE, ROOT, Tree
from olive_iw.search.walk import Walk
from olive_iw.search.watch import SearchWatch
from olive_iw.simulators.base import Simulator, Step, check_step, reseed


@final
@dataclass(eq=False)
class Search:
    """An episode as a planner searches it: its tree, ledger, random numbers, rules and watches.

    A decision makes one search in it, or several: each has its own table and solved labels.
    """

    features: Features | None
    bandit: Bandit
    tree: Tree
    """Empty before `start`, which makes the episode's tree with the same discount and risk."""
    depth_limit: int
    rules: tuple[Rule, ...]
    """What departs from the paper; see `heed`."""
    judge: Judge
    """Says which nodes show something new."""
    value_everywhere: bool = False
    """Whether a learned value counts where more is known, too."""
    ledger: Ledger = field(default_factory=Ledger)
    watches: list[SearchWatch] = field(default_factory=list)
    reseeds: bool = False
    """Whether every call of a search has fresh randomness."""
    simulator: Simulator = field(init=False)
    simulator_at: int = NONE
    """Node at which the simulator stands; NONE if that is not known."""
    far: bool = False
    """Whether the current search looks far."""
    told: Callable[[int, ActionStatistics], ActionStatistics] | None = None
    """What a driver makes of a node's statistics before the bandit is told of them."""
    table_of: Callable[[int], int] | None = None
    """Number of the table that a node is judged by, for planners that have several."""

    def __post_init__(self) -> None:
        self.heed(self.rules)
        for rule in self.asked["check"]:
            rule.check(self.features)
        self._sight = Sight(self.features)
        self._first_step: Step | None = None
        self._seed = 0

    def heed(self, rules: tuple[Rule, ...]) -> None:
        """Take rules, with what they know, and ask them from now on."""
        self.rules, self.asked = rules, asked(rules)

    # An episode, a decision, a search

    def start(self, simulator: Simulator, seed: int, after: Sequence[int] = ()) -> Step:
        """Reset the simulator, do the actions of `after`, and begin an episode's tree there."""
        self.simulator, self._seed, self.ledger = simulator, seed, Ledger()
        self.streams = [generator(seed, stream) for stream in Stream]
        self.tree = self.tree.emptied(simulator.action_count)
        for rule in self.asked["start"]:
            rule.start(self)
        step = simulator.reset()
        self._first_step = None
        self.check(step, "reset()")
        self._first_step = first = step
        done = [step]
        for action in after:
            step = simulator.step(action)
            self.check(step, f"step({action})")
            done.append(step)
        self.tree.above = tuple(done[:-1][-MEMORY:])
        if self.features is not None:
            self.features.prepare(simulator, first)
        atoms, guidance = self._sight.look(self, NONE, step)
        for watch in self.watches:
            watch.on_step(step)
        self.tree.add_root(NodeData(step, self._save(step), atoms))
        self._guided(ROOT, guidance)
        self.simulator_at = ROOT
        return step

    def random(self, stream: Stream) -> np.random.Generator:
        """Return the episode's generator of a stream."""
        return self.streams[stream]

    def start_decision(self, calls: int, seconds: float | None) -> None:
        """Open a budget; forget what the last decision found, but not the tree."""
        self.ledger.budget.open(calls, seconds)
        self.tree.start_decision()
        self.judge.start_decision()
        for rule in self.asked["start_decision"]:
            rule.start_decision(self)

    def begin(self, width: int | None, far: bool = False) -> None:
        """Begin a search that judges novelty at a width; None: nothing is judged or pruned.

        far: whether rollouts may be as long as they like, whatever rules say of their length
        """
        if width is not None and self.features is None:
            raise InputError("novelty needs features")
        self.tree.start_search()
        self.far = far
        size = 0 if self.features is None else self.features.size
        for rule in self.asked["sizes"]:
            size = rule.sizes(size)
        self.judge.begin(width, size)
        for rule in self.asked["begin"]:
            rule.begin(self)
        for watch in self.watches:
            watch.on_search(self)

    @property
    def solved(self) -> bool:
        """Whether nothing is left to search."""
        return bool(self.tree.was_entered(ROOT) and self.tree.solved[ROOT])

    @property
    def stopped(self) -> Stopped:
        """Why a search that ends now ends."""
        return "exhausted" if self.ledger.budget.left else "budget"

    # A walk: enter a node, choose an action, go to its child, back the return up

    def walk(self, start: int = ROOT) -> Walk:
        """Begin a rollout at a node."""
        walk = Walk([start])
        for rule in self.asked["walk"]:
            rule.walk(self, walk)
        return walk

    def enter(self, node: int, depth: int) -> bool:
        """Reach a node `depth` actions below the root; True if a walk may go on from it.

        It may unless the game is over there, it is too deep, or it shows nothing new.
        """
        tree = self.tree
        for watch in self.watches:
            watch.on_enter(node, depth)
        entered = tree.enter(node)
        with self.ledger.stopwatches.novelty:
            passes = self.judge.width is None or self._passes(node, depth, entered == AGAIN)
            tree.pruned[node] = not passes
            if passes and entered != AGAIN:
                for rule in self.asked["passed"]:
                    rule.passed(self, node)
        for watch in self.watches:
            watch.on_judged(node, passes)
        if not passes:
            self.ledger.counters.pruned_new += entered == NEW
            return False
        # Last, since what a terminal node shows belongs into the novelty table too.
        return not tree.terminal[node] and depth < self.depth_limit

    def _passes(self, node: int, depth: int, again: bool) -> bool:
        """Whether novelty, or a rule, lets a walk go on from a node that it has entered."""
        tree, judge, is_root, first = self.tree, self.judge, node == ROOT, not again
        if judge.is_choosy:  # only systems other than the paper's ask about more than novelty
            # The root that an episode begins with is met for the first time, and so is not kept.
            begins = judge.judging.by == "classic" and tree.decision == 1
            kept = not begins and not tree.is_new(node)
            over, pruned = bool(tree.terminal[node]), bool(tree.pruned[node])
            asked = judge.judging.asks(again, is_root, over, kept, pruned)
            if asked is None:
                return True
            first = asked
        for rule in self.asked["verdict"]:
            verdict = rule.verdict(self, node)
            if verdict is not None:
                return verdict
        # The root is asked as well, though it always passes: the table must know its atoms.
        if judge.is_new(self.read(node), depth, *self._table(node), first) or is_root:
            return True
        return any(rule.pardons(self, node, first) for rule in self.asked["pardons"])

    def _table(self, node: int) -> tuple[float, int]:
        """Return what says by which table a node is judged: the reward on its way, and a number."""
        gained = 0.0
        if self.judge.heeds_reward:
            gained = float(self.tree.total[node] - self.tree.total[ROOT])
        return gained, 0 if self.table_of is None else self.table_of(node)

    def read(self, node: int) -> Atoms:
        """Atoms of a node as the current search reads them."""
        seen, readers = self.tree.seen[node], self.asked["read"]
        if not readers or self.features is None:
            return seen.atoms
        return readers[0].read(seen, self.features.size)

    def new_atoms(self, node: int, depth: int) -> Atoms:
        """Atoms of a node that are new at a depth, as the current search reads them."""
        return self.judge.new_atoms(self.read(node), depth, *self._table(node))

    def choose(self, walk: Walk) -> int:
        """Choose an action at a walk's end: a rule does, or the bandit, by what rules offer it."""
        node = walk.path[-1]
        with self.ledger.stopwatches.bandit:
            known = self._known(node)
            for rule in self.asked["offer"]:
                known = rule.offer(self, node, known)
            for rule in self.asked["pick"]:
                action = rule.pick(self, walk, node, known)
                if action is not None:
                    return action
            return checked_choice(self.bandit, known, self.random(Stream.BANDIT))

    def _known(self, node: int) -> ActionStatistics:
        """Return what is known of a node's actions, and of the calls for them under way."""
        known = self.tree.statistics(node)
        # The driver first: no rule may choose an action whose call is being made.
        return known if self.told is None else self.told(node, known)

    def is_open(self, node: int) -> bool:
        """Whether a walk could go on from a node: not if all calls left there are being made."""
        return bool(self._known(node).unsolved.any())

    def known_child(self, node: int, action: int) -> int:
        """Return the node an action leads to, if it is in the tree; NONE otherwise."""
        return int(self.tree.children[node, action])

    def stops(self, walk: Walk) -> bool:
        """Whether a walk ends here rather than make another call."""
        return any(rule.stops(self, walk) for rule in self.asked["stops"])

    def arrive(self, walk: Walk, action: int) -> int:
        """Node that a walk goes on from after a call; NONE if no call was left."""
        walk.calls += 1
        child = int(self.tree.children[walk.path[-1], action])
        for rule in self.asked["arrive"] if child != NONE else ():
            child = rule.arrive(self, child)
        return child

    def solve(self, node: int) -> None:
        """Note that nothing is left to search below a node."""
        with self.ledger.stopwatches.tree:
            self.tree.solve(node)

    def back_up(self, path: Sequence[int], counted: int | None = None) -> None:
        """End a rollout: add its returns to the statistics of its edges.

        counted: edges from the root whose statistics change (all of them where it is None); what
            was earned behind them counts in their returns
        """
        tree, counters = self.tree, self.ledger.counters
        counters.rollouts += 1
        counters.rollout_depth += len(path) - 1
        with self.ledger.stopwatches.tree:
            known = tree.count, tree.mean, tree.variance, tree.low, tree.high
            nodes = np.array(path, np.int32)
            # Raw rewards: risk aversion is for the choice of the action alone (paper).
            edges = nodes[:-1], tree.action[nodes[1:]], tree.reward[nodes[1:]]
            back_up(*known, *edges, tree.discount, len(path) if counted is None else counted)
        for watch in self.watches:
            watch.on_rollout(path)

    # A call: simulate an action, describe what it shows, add it to the tree

    def expand(self, node: int, action: int, for_good: bool = False) -> int:
        """Simulate an action for one call, and add what it shows to the tree."""
        self.ledger.budget.spend()  # before: a call that fails or is interrupted was made too
        self.simulator_at = self.add(node, action, *self.simulate(node, action, for_good))
        return self.simulator_at

    def simulate(self, node: int, action: int, for_good: bool = False) -> tuple[Step, Any]:
        """Do an action in the simulator; return what it shows, and the state after it.

        What is done for good has the chance that the game has; other calls may have fresh one.
        """
        stopwatches = self.ledger.stopwatches
        if self.simulator_at != node:  # a rollout's next call mostly starts where its last ended
            with stopwatches.states:
                self.simulator.restore(self.tree.saved_state(node))
        self.simulator_at = NONE  # until the child is in the tree: the call may be interrupted
        with stopwatches.emulator:
            if self.reseeds and not for_good:
                seed = child_seed(self._seed, Stream.CHANCE, self.ledger.calls)
                reseed(self.simulator, seed)
            step = self.simulator.step(action)
        self.check(step, f"step({action})")
        return step, self._save(step)

    def add(self, node: int, action: int, step: Step, state: Any) -> int:
        """Add what an action showed to the tree, and the state after it."""
        counters, (atoms, guidance) = self.ledger.counters, self._sight.look(self, node, step)
        for watch in self.watches:
            watch.on_step(step)
        with self.ledger.stopwatches.tree:
            child = self.tree.add(node, action, NodeData(step, state, atoms))
        self._guided(child, guidance)
        counters.nodes += 1
        counters.twins += self.tree.is_twin(child)
        for rule in self.asked["added"]:
            rule.added(self, child)
        return child

    def _guided(self, node: int, guidance: Guidance | None) -> None:
        """Give a new node what a policy said of it."""
        if guidance is not None:
            self.tree.guide(node, guidance.prior, guidance.value, self.value_everywhere)

    def check(self, step: Step, method: str) -> None:
        """Raise `SimulatorError` if what a method of the simulator returned is no proper step."""
        check_step(step, self._first_step, self.simulator, method)

    def _save(self, step: Step) -> Any:
        if step.terminal:
            return None
        with self.ledger.stopwatches.states:
            return self.simulator.save()
