"""Shortest plans, planners that write their rollouts down, and what a tree must hold.

Everything here is written from the definitions (the paper's Algorithm 1), with dictionaries and
recursion, and shares no code with the planners.
"""

import math
from collections import deque
from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

from olive_iw.planners import UCT, RolloutIW
from olive_iw.search.parallel import ParallelDriver
from olive_iw.simulators import GridWorld

ROOT = 0


@cache
def shortest_plan(world: str) -> tuple[int, ...]:
    """Actions to the goal of a grid world, or through all coins, by search over its true states."""
    simulator = GridWorld(world)
    simulator.reset()
    plans = {simulator.save(): ()}
    queue = deque(plans)
    while queue:
        state = queue.popleft()
        for action in range(simulator.action_count):
            simulator.restore(state)
            step, plan = simulator.step(action), (*plans[state], action)
            if step.terminal and step.reward > 0:
                return plan
            if not step.terminal and simulator.save() not in plans:
                plans[simulator.save()] = plan
                queue.append(simulator.save())
    raise ValueError(f"{world} cannot be won")


class Rollout(NamedTuple):
    search: int
    path: tuple[int, ...]
    counted: int
    """Edges from the root whose statistics the rollout changed."""
    calls_left: int


class Recorded:
    """A planner whose `rollouts` are those of the last decision."""

    def __init__(self, *parts, **options):
        super().__init__(*parts, **options)
        self._plain_back_up = self._search.back_up
        self._search.back_up = self._back_up

    def decide(self, calls=100, seconds=None):
        self.rollouts = []
        return super().decide(calls, seconds)

    def _back_up(self, path, counted=None):
        edges = len(path) - 1 if counted is None else min(len(path) - 1, counted)
        left = self.ledger.budget.left
        self.rollouts.append(Rollout(self.tree.search, tuple(path), edges, left))
        self._plain_back_up(path, counted)


class RecordedRolloutIW(Recorded, RolloutIW):
    """Rollout-IW that writes its rollouts down."""


class RecordedParallel(Recorded, RolloutIW):
    """Rollout-IW with workers, also with one, that writes its rollouts down."""

    def __init__(self, *parts, workers, **options):
        super().__init__(*parts, **options)
        self.driver = ParallelDriver(workers)


class RecordedUCT(Recorded, UCT):
    """UCT that writes its rollouts down."""


class Labels:
    """Novelty and solved labels of one search, by their definitions."""

    def __init__(self, planner, width):
        self.planner, self.tree, self.width = planner, planner.tree, width
        self.least_depth = {}
        self.entered = set()
        self.ended = set()
        """Nodes at which a rollout ended for good."""

    def enter(self, node, depth):
        """Reach a node; must the rollout end here?"""
        first = node not in self.entered
        self.entered.add(node)
        tree = self.tree
        novel = self.width is None or self._novel(node, depth, first)
        pruned = not novel and node != ROOT
        return pruned or bool(tree.terminal[node]) or depth >= self.planner.depth_limit

    def _novel(self, node, depth, first):
        atoms = [int(atom) for atom in self.tree.seen[node].atoms]
        tuples = list(combinations_with_replacement(atoms, 2)) if self.width == 2 else atoms
        if not first:
            return any(depth <= self.least_depth.get(atom, math.inf) for atom in tuples)
        new = [atom for atom in tuples if depth < self.least_depth.get(atom, math.inf)]
        self.least_depth.update(dict.fromkeys(new, depth))
        return bool(new)

    def solved(self, node):
        if node not in self.entered:
            return False
        return node in self.ended or all(self.action_solved(node, a) for a in self._actions())

    def action_solved(self, node, action):
        child = int(self.tree.children[node, action])
        return child >= 0 and self.solved(child)

    def _actions(self):
        return range(self.tree.actions)

    def follow(self, rollout):
        """Check every stop and every choice of a rollout, then label its end."""
        last = len(rollout.path) - 1
        for depth, node in enumerate(rollout.path):
            must_end = self.enter(node, depth)
            assert not must_end or depth == last, "a rollout went on from where it must end"
            if depth == last:
                assert must_end or rollout.calls_left == 0, "a rollout ended without a reason"
                if must_end:
                    self.ended.add(node)
            else:
                assert not self.solved(rollout.path[depth + 1]), "a solved action was chosen"

    def check(self):
        """Compare the tree's labels with these."""
        for node in self.entered:
            assert bool(self.tree.solved[node]) == self.solved(node)
            for action in self._actions():
                assert bool(self.tree.unsolved[node, action]) != self.action_solved(node, action)


def check_rollouts(planner, widths):
    """Check the last decision's rollouts; `widths` of its searches, in order.

    Returns the labels of the last search.
    """
    searches = sorted({rollout.search for rollout in planner.rollouts})
    assert len(searches) <= len(widths)
    for search, width in zip(searches, widths, strict=False):
        labels = Labels(planner, width)
        for rollout in planner.rollouts:
            if rollout.search == search:
                labels.follow(rollout)
    labels.check()
    return labels


def returns_by_edge(planner):
    """Returns that the last decision's rollouts gave to every edge (node, action)."""
    tree, edges = planner.tree, {}
    for rollout in planner.rollouts:
        value = 0.0
        for index in range(len(rollout.path) - 1, 0, -1):
            child = rollout.path[index]
            value = tree.reward[child] + planner.discount * value
            if index <= rollout.counted:
                edge = (rollout.path[index - 1], int(tree.action[child]))
                edges.setdefault(edge, []).append(value)
    return edges


def check_statistics(planner):
    """Compare count, mean and variance of every edge with the list of its returns."""
    tree, edges = planner.tree, returns_by_edge(planner)
    nodes = {node for rollout in planner.rollouts for node in rollout.path}
    for node in nodes:
        for action in range(tree.actions):
            returns = edges.get((node, action), [])
            mean = sum(returns) / len(returns) if returns else 0.0
            spread = sum((value - mean) ** 2 for value in returns)
            assert tree.count[node, action] == len(returns)
            assert math.isclose(tree.mean[node, action], mean, rel_tol=1e-9, abs_tol=1e-9)
            variance = (0.2 + spread) / (len(returns) + 1)
            assert math.isclose(tree.variance[node, action], variance, rel_tol=1e-6, abs_tol=1e-9)


def value_below(tree, node, risk):
    """Greatest risk-averse discounted return from a node to a leaf below it, by recursion."""
    values = []
    for child in tree.children[node]:
        if child >= 0:
            lost = tree.seen[child].step.lives < tree.seen[node].step.lives
            reward = tree.seen[child].step.reward
            if risk.averse:
                reward = reward * risk.negative_factor if reward < 0 else reward
                reward -= risk.life_penalty if lost else 0.0
            values.append(reward + tree.discount * value_below(tree, child, risk))
    return max(values, default=0.0)


def drawn(tree, node=ROOT):
    """A tree as nested tuples of what it keeps of the simulator: equal iff the trees are."""
    seen = tree.seen[node]
    children = tuple(
        (action, drawn(tree, int(child)))
        for action, child in enumerate(tree.children[node])
        if child >= 0
    )
    step = seen.step
    state = tree.saved_state(node)
    what = (step.screen.tobytes(), step.reward, step.terminal, step.lives, state)
    return (*what, seen.atoms.tobytes(), children)
