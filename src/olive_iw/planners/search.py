"""An episode's tree and what makes it grow: the verbs that planners and drivers are made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from olive_iw.bandits import ActionStatistics, Bandit
from olive_iw.bandits.base import back_up, checked_choice, untried
from olive_iw.features.base import (
    Atoms,
    CachedFeatures,
    Features,
    Guidance,
    GuidingFeatures,
    check_atoms,
)
from olive_iw.planners.check_step import check_step
from olive_iw.planners.decision import Stopped, best_actions
from olive_iw.planners.dominance import DominatedActions
from olive_iw.planners.house_rules import HouseRules
from olive_iw.planners.judge import Judge
from olive_iw.planners.ledger import Ledger
from olive_iw.planners.tree import AGAIN, MEMORY, NEW, NONE, ROOT, NodeData, Tree
from olive_iw.planners.twins import TwinStatistics
from olive_iw.planners.watch import SearchWatch
from olive_iw.randomness import child_seed, generator
from olive_iw.simulators.base import Simulator, Step, reseed

NO_ATOMS = np.empty(0, np.int32)


@final
@dataclass(eq=False)
class Search:
    """The tree of an episode, its ledger, its random numbers, and who looks on.

    A decision makes one search in it, or several: each has its own table and solved labels.
    """

    features: Features | None
    bandit: Bandit
    tree: Tree
    """At first an empty one, that says how trees discount and weigh risks."""
    depth_limit: int
    rules: HouseRules
    judge: Judge = field(init=False)
    """Says which nodes a walk may go on from."""
    twins: TwinStatistics | None = field(init=False)
    """What is known of twins, if they are to be avoided."""
    dominance: DominatedActions | None = field(init=False)
    """What is known of dominated actions, if they are to be left out."""
    ledger: Ledger = field(default_factory=Ledger)
    watches: list[SearchWatch] = field(default_factory=list)
    simulator_at: int = NONE
    """Node at which the simulator stands; NONE if that is not known."""
    simulator: Simulator = field(init=False)
    bandit_generator: np.random.Generator = field(init=False)
    tie_generator: np.random.Generator = field(init=False)
    guide: GuidingFeatures | None = field(init=False)
    """The features, if they come with a policy."""
    _cached: CachedFeatures | None = field(init=False)
    reseeds: bool = False
    """Whether every call of a search has fresh randomness."""
    _screen_shape: tuple[int, ...] | None = None
    _seed: int = 0

    def __post_init__(self) -> None:
        features = self.features
        self.judge = Judge(features, self.depth_limit, self.rules)
        self.twins = TwinStatistics() if self.rules.avoid_twins else None
        prunes = self.rules.prune_actions != "none"
        self.dominance = DominatedActions(self.rules) if prunes else None
        self.guide = features if isinstance(features, GuidingFeatures) else None
        self._cached = features if isinstance(features, CachedFeatures) else None

    # An episode, a decision, a search

    def start(self, simulator: Simulator, seed: int, after: Sequence[int] = ()) -> Step:
        """Reset the simulator, do the actions of `after`, and begin an episode's tree there."""
        self.simulator, self._seed = simulator, seed
        self.bandit_generator, self.tie_generator = generator(seed, 0), generator(seed, 1)
        if self.twins is not None:
            self.twins.start(simulator.action_count, generator(seed, 2))
        self.judge.start(generator(seed, 3))
        if self.dominance is not None:
            self.dominance.start(simulator.action_count, generator(seed, 5))
        self.ledger = Ledger()
        told = self.tree.discount, self.tree.risk, self.tree.untried
        self.tree = Tree(simulator.action_count, *told)
        step = simulator.reset()
        self._screen_shape = None
        self.check(step, "reset()")
        self._screen_shape = step.screen.shape
        first, done = step, [step]
        for action in after:
            step = simulator.step(action)
            self.check(step, f"step({action})")
            done.append(step)
        self.tree.above = tuple(done[:-1][-MEMORY:])
        if self.features is not None:
            self.features.prepare(simulator, first)
        for watch in self.watches:
            watch.on_step(step)
        guidance = self._guidance(NONE, step)
        atoms = self.atoms(step, None) if guidance is None else guidance.atoms
        self.tree.add_root(self.described(step, self._save(step), atoms))
        self._guided(ROOT, guidance)
        self.simulator_at = ROOT
        return step

    def start_decision(self, calls: int, seconds: float | None) -> None:
        """Open a budget; forget what the last decision found, but not the tree."""
        self.ledger.budget.open(calls, seconds)
        self.tree.start_decision()
        self.judge.start_decision()

    def begin(self, width: int | None, far: bool = False) -> None:
        """Begin a search that judges novelty as `Judge.begin` says."""
        self.tree.start_search()
        self.judge.begin(width, far)
        for watch in self.watches:
            watch.on_search(self.judge)

    @property
    def solved(self) -> bool:
        """Whether nothing is left to search."""
        return bool(self.tree.was_entered(ROOT) and self.tree.solved[ROOT])

    @property
    def undecided(self) -> bool | None:
        """Whether several actions share the greatest value; None if all lead to the same state."""
        tree = self.tree
        children = tree.children[ROOT][tree.children[ROOT] != NONE]
        if (tree.alike[children] == tree.alike[children[:1]]).all():
            return None
        return len(best_actions(tree.action_values(), self.rules.tie_tolerance)) > 1

    @property
    def stopped(self) -> Stopped:
        """Why a search that ends now ends."""
        return "exhausted" if self.ledger.budget.left else "budget"

    def close(self) -> None:
        """Give the tables' memory back."""
        self.judge.close()

    def enter_kept(self) -> None:
        """Judge all nodes there are, in the order in which they were made, before any walk."""
        tree, top = self.tree, self.tree.depth[ROOT]
        for node in range(tree.size):
            if not self.enter(node, int(tree.depth[node] - top)):
                tree.solve(node)

    # A walk: enter a node, choose an action, go to its child, back the return up

    def enter(self, node: int, depth: int) -> bool:
        """Reach a node `depth` actions below the root; True if a walk may go on from it."""
        tree = self.tree
        for watch in self.watches:
            watch.on_enter(node, depth)
        entered = tree.enter(node)
        with self.ledger.stopwatches.novelty:
            passes = self.judge.passes(tree, node, depth, entered)
            tree.pruned[node] = not passes
            if self.rules.max_repeats and passes and entered != AGAIN:
                self._only_repeat(node)
        for watch in self.watches:
            watch.on_judged(node, passes)
        if not passes:
            self.ledger.counters.pruned_new += entered == NEW
            return False
        return not tree.terminal[node] and depth < self.depth_limit

    def _only_repeat(self, node: int) -> None:
        """Let a walk go on by the same action only, from a node that passed as a repetition."""
        if self.judge.width is not None and self.judge.repeats(self.tree, node):
            self.tree.unsolved[node] = False
            self.tree.unsolved[node, self.tree.action[node]] = True

    def leaves_out(self, node: int, action: int) -> bool:
        """Say whether an untried action is not to be tried, because others lead where it does."""
        return self.dominance is not None and self.dominance.leaves_out(self.tree, node, action)

    def draw_persistence(self) -> float:
        """Chance with which one rollout keeps its direction; its mean is what the rules say.

        Whatever the distance of what is to be earned, some rollouts then go straight far enough:
        1 - chance is a power of a uniform number.
        """
        mean = self.rules.persistence
        if mean in (0.0, 1.0):
            return mean
        return 1.0 - float(self.bandit_generator.random() ** (mean / (1.0 - mean)))

    def choose(
        self,
        node: int,
        statistics: Callable[[int], ActionStatistics],
        persistence: float = 0.0,
    ) -> int:
        """Let the bandit choose among a node's actions, by what `statistics` tells of them.

        With the chance `persistence` the first choice at a node is the action that led there.
        """
        with self.ledger.stopwatches.bandit:
            known = statistics(node)
            if self.twins is not None:
                known, skipped = self.twins.avoid(self.tree, node, known)
                self.ledger.counters.skipped_twins += skipped
            if persistence and node != ROOT and untried(known.count):
                last = int(self.tree.action[node])
                if known.unsolved[last] and self.bandit_generator.random() < persistence:
                    return last
            return checked_choice(self.bandit, known, self.bandit_generator)

    def known_child(self, node: int, action: int) -> int:
        """Return the node an action leads to, if it is in the tree; NONE otherwise."""
        child = int(self.tree.children[node, action])
        self.ledger.counters.revisits += child != NONE
        return child

    def original(self, child: int) -> int:
        """Return the sibling that a new node is a twin of, if twins are avoided; or the node.

        The twin is then done with: a walk goes on from the sibling, unless that is solved.
        """
        tree = self.tree
        if self.twins is None or child == NONE or not tree.is_twin(child):
            return child
        above, first = tree.parent[child], tree.alike[child]
        if not tree.unsolved[above, first] or not tree.was_entered(
            int(tree.children[above, first])
        ):
            return child
        tree.enter(child)
        self.solve(child)
        return int(tree.children[above, first])

    def solve(self, node: int) -> None:
        """Note that nothing is left to search below a node."""
        with self.ledger.stopwatches.tree:
            self.tree.solve(node)

    def back_up(self, path: Sequence[int], counted: int | None = None) -> None:
        """End a rollout: add its returns to the statistics of its edges.

        With `counted`, only that many edges from the root have their statistics updated; what
        came after them still counts in their returns.
        """
        tree, counters = self.tree, self.ledger.counters
        counters.rollouts += 1
        counters.rollout_depth += len(path) - 1
        with self.ledger.stopwatches.tree:
            above, below = np.array(path[:-1], np.int32), np.array(path[1:], np.int32)
            rewards = tree.reward[below]
            if counted is not None and counted < len(above):
                tail = rewards[counted:]
                rewards[counted - 1] += tail @ tree.discount ** np.arange(1, len(tail) + 1)
                above, below, rewards = above[:counted], below[:counted], rewards[:counted]
            known = tree.count, tree.mean, tree.variance, tree.low, tree.high
            edges = above, tree.action[below], rewards
            back_up(*known, *edges, tree.discount)
        for watch in self.watches:
            watch.on_rollout(path)

    # A call: simulate an action, describe what it shows, add it to the tree

    def expand(self, node: int, action: int, for_good: bool = False) -> int:
        """Simulate an action for one call, and add what it shows to the tree."""
        self.ledger.budget.spend()
        step, state = self.simulate(node, action, for_good)
        guidance, above = self._guidance(node, step), self.tree.seen[node].step
        atoms = self.atoms(step, above) if guidance is None else guidance.atoms
        self.simulator_at = self.add(node, action, self.described(step, state, atoms))
        self._guided(self.simulator_at, guidance)
        return self.simulator_at

    def _guidance(self, node: int, step: Step) -> Guidance | None:
        """Ask the features, if they guide, about a step that follows a node (NONE: the first)."""
        if self.guide is None:
            return None
        with self.ledger.stopwatches.features:
            self.ledger.counters.cache_misses += 1
            return self.guide.of_path([*self.tree.last_steps(node, MEMORY), step])

    def _guided(self, node: int, guidance: Guidance | None) -> None:
        """Give a new node what the features said of it."""
        if guidance is not None:
            self.tree.guide(node, guidance.prior, guidance.value, self.rules.value_everywhere)

    def simulate(self, node: int, action: int, for_good: bool = False) -> tuple[Step, Any]:
        """Do an action in the simulator; return what it shows, and the state after it.

        What is done for good has the chance that the game has; other calls may have fresh one.
        """
        stopwatches = self.ledger.stopwatches
        if self.simulator_at != node:
            with stopwatches.states:
                self.simulator.restore(self.tree.saved_state(node))
        self.simulator_at = NONE  # until the child is in the tree: the call may be interrupted
        with stopwatches.emulator:
            if self.reseeds and not for_good:
                reseed(self.simulator, child_seed(self._seed, 4, self.ledger.calls))
            step = self.simulator.step(action)
        self.check(step, f"step({action})")
        return step, self._save(step)

    def atoms(self, step: Step, previous: Step | None) -> Atoms:
        """Atoms of a step after its previous one."""
        features, cached, counters = self.features, self._cached, self.ledger.counters
        if features is None or self.rules.training_mode:  # they are drawn when a node is added
            return NO_ATOMS
        hits = 0 if cached is None else -cached.cache_hits
        with self.ledger.stopwatches.features:
            atoms = features.of_step(step, previous)
        hits += 0 if cached is None else cached.cache_hits
        counters.cache_hits += hits
        counters.cache_misses += 1 - hits
        return check_atoms(atoms, features)

    def described(self, step: Step, state: Any, atoms: Atoms) -> NodeData:
        """Describe a step for the tree, with noise in its atoms if the rules want it."""
        return NodeData(step, state, self.judge.noisy(step.screen, atoms))

    def add(self, node: int, action: int, seen: NodeData) -> int:
        """Add what an action showed to the tree."""
        counters = self.ledger.counters
        for watch in self.watches:
            watch.on_step(seen.step)
        with self.ledger.stopwatches.tree:
            child = self.tree.add(node, action, seen)
        counters.nodes += 1
        counters.twins += self.tree.is_twin(child)
        if self.twins is not None:
            self.twins.note(self.tree, child)
        return child

    def check(self, step: Step, method: str) -> None:
        """Raise `SimulatorError` if what a method of the simulator returned is no proper step."""
        check_step(step, self._screen_shape, self.simulator, method)

    def _save(self, step: Step) -> Any:
        if step.terminal:
            return None
        with self.ledger.stopwatches.states:
            return self.simulator.save()
