"""Dominated actions: which ones lead nowhere that another does not (DASP and DASA, length 1).

After every decision all nodes of the tree are looked at. An action is a duplicate at a node where
one before it, in the order of their numbers, led to the same saved state, byte by byte; otherwise
it is novel there. What an episode has so learned decides which actions are tried at nodes below
the root.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias, final

import numpy as np

from olive_iw.arithmetic import sigmoid
from olive_iw.bandits.base import Counts, Mask, Values
from olive_iw.compiled import njit
from olive_iw.search.measures import Ints
from olive_iw.search.rule import Rule, Stream
from olive_iw.search.search import Search
from olive_iw.search.tree import ROOT, Keys
from olive_iw.settings import Range

PruneActions: TypeAlias = Literal["none", "dasp", "dasa"]

MEMORY = 0.95
"""Weight of what earlier decisions have shown, beside 1 for the newest (α)."""
LEAST_CHANCE = 0.1
"""Chance at least that an action is tried (ε)."""
GAIN = 5.0
"""Steepness of the chance of an action, by how often it is novel."""


@final
@dataclass(unsafe_hash=True)
class Dominated(Rule):
    """Leaves out, below the root, actions that have led where another leads.

    What the episode has shown is in `useful`, the actions that were novel somewhere (DASP), and
    `novelty`, how often each is, the newest decisions counting most (DASA); shape (A,), A actions.
    """

    neutral: ClassVar = {"prune_actions": "none"}

    prune_actions: PruneActions = "dasa"
    """Which actions are left out: those that always have led where another leads (dasp), or each
    with a chance by how often it has (dasa)."""
    prune_after: Annotated[int, Range(0, 1_000_000)] = 60
    """Decisions of an episode before actions are left out: 300 frames, of 5 each. With another
    frame_skip it is as many as make 300 frames."""

    def start(self, search: Search) -> None:
        """Begin an episode."""
        self.useful = np.zeros(search.tree.actions, np.bool_)
        self.novelty = np.ones(search.tree.actions)
        self._decisions = 0

    @property
    def chances(self) -> Values:
        """Chance of each action to be tried at a node below the root."""
        if self._decisions < self.prune_after:
            return np.ones(len(self.useful))
        if self.prune_actions == "dasp":
            return self.useful.astype(np.float64)
        logistic = np.array([sigmoid(GAIN * (it - 0.5)) for it in self.novelty.tolist()])
        chances: Values = LEAST_CHANCE + (1 - LEAST_CHANCE) * logistic
        return chances

    def leaves_out(self, search: Search, node: int, action: int) -> bool:
        """Say whether an untried action is not to be tried; that lasts until its node is the root.

        At the root all are tried.
        """
        tree = search.tree
        if node == ROOT:
            return False
        if not tree.left_out[node, action]:
            chance, draw = self.chances[action], search.random(Stream.DOMINANCE).random
            tree.left_out[node, action] = chance < 1 and draw() >= chance
        return bool(tree.left_out[node, action])

    def decided(self, search: Search) -> None:
        """Learn from all that a decision's tree knows."""
        tree = search.tree
        tree.key_states()
        rows = tree.children[: tree.size], tree.state_key, tree.terminal, tree.pruned
        novel, duplicate = _counted(*rows)
        self.useful |= novel > 0  # once useful, for ever: DASP asks no more than that
        if self._decisions:  # the first one says nothing yet
            seen = novel + duplicate
            share = novel / np.maximum(seen, 1)
            renewed = (MEMORY * self.novelty + share) / (MEMORY + 1)
            self.novelty = np.where(seen > 0, renewed, self.novelty)
        self._decisions += 1


@njit
def _counted(children: Ints, key: Keys, terminal: Mask, pruned: Mask) -> tuple[Counts, Counts]:
    """Count at how many nodes each action is novel, and at how many it is a duplicate.

    Pruned children are not counted, but an action can be a duplicate of one; nothing is known of
    the state that a terminal child is in.
    """
    nodes, actions = children.shape
    novel, duplicate = np.zeros(actions, np.int64), np.zeros(actions, np.int64)
    for node in range(nodes):
        for action in range(actions):
            child = children[node, action]
            if child < 0 or terminal[child] or pruned[child]:
                continue
            found = False
            for earlier in range(action):
                other = children[node, earlier]
                if other >= 0 and not terminal[other] and key[other] == key[child]:
                    found = True
            if found:
                duplicate[action] += 1
            else:
                novel[action] += 1
    return novel, duplicate
