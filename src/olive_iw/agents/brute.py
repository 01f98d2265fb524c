"""The Brute: learns which actions to do by doing them again and again, from the reset.

It never saves or restores the game, and looks at no screen. It relies on the game to be
deterministic: the same actions give the same rewards, so the best episode can be played again.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from olive_iw.agents.episode import Observer, TrainingEpisode, play_episode
from olive_iw.agents.learner import PROGRESS, Planning, Progress
from olive_iw.agents.spec import TRAINING, Spec
from olive_iw.arithmetic import log
from olive_iw.errors import DamagedFileError, InputError, SimulatorError
from olive_iw.planners import Decision, Planner, Search
from olive_iw.randomness import child_seed
from olive_iw.reading import fill, read_bytes, read_json
from olive_iw.search.decision import Stopped
from olive_iw.search.rule import Stream
from olive_iw.search.tree import NONE, ROOT
from olive_iw.simulators.base import Simulator, Step

SEQUENCES = "sequences.safetensors"
LARGEST_MEMORY = 4_000_000_000
"""Bytes that a file of sequences may have."""
EXPLORATION = 0.005
"""Chance of a random action at a node of n visits, times ln(n + 2)."""


@final
class SequenceTree:
    """All sequences of actions that were done from the reset: a node is what one leads to.

    Shapes: N nodes, A actions. Node 0 is the reset.
    """

    def __init__(self, actions: int = 0) -> None:
        self.children = np.full((1, actions), NONE, np.int32)
        """Node after each action, shape (N, A); NONE where it was never done."""
        self.visits = np.zeros(1, np.int64)
        self.best = np.full(1, -np.inf)
        """Greatest score of an episode through each node, shape (N,)."""
        self.reward = np.zeros(1)
        """Reward of the step into each node, shape (N,)."""
        self.size = 1

    @property
    def actions(self) -> int:
        """Number of actions."""
        return self.children.shape[1]

    def values(self, node: int) -> NDArray[np.float64]:
        """Greatest score by each action of a node, shape (A,); NaN where none is known."""
        if node == NONE:
            return np.full(self.actions, np.nan)
        children = self.children[node]
        return np.where(children == NONE, np.nan, self.best[children])

    def learn(self, actions: Sequence[int], rewards: Sequence[float]) -> None:
        """Add an episode, from the reset to its end."""
        score, node = math.fsum(rewards), ROOT
        self._note(node, score)
        for action, reward in zip(actions, rewards, strict=True):
            child = int(self.children[node, action])
            if child == NONE:
                child = self._append(node, action, reward)
            node = child
            self._note(node, score)

    def _note(self, node: int, score: float) -> None:
        self.visits[node] += 1
        self.best[node] = max(self.best[node], score)

    def _append(self, parent: int, action: int, reward: float) -> int:
        if self.size == len(self.visits):
            rows, new = self.size, 2 * self.size
            for name, array in self._arrays().items():
                grown = np.empty((new, *array.shape[1:]), array.dtype)
                grown[:rows] = array
                setattr(self, name, grown)
        node, self.size = self.size, self.size + 1
        self.children[node], self.visits[node], self.best[node] = NONE, 0, -np.inf
        self.reward[node] = reward
        self.children[parent, action] = node
        return node

    def _arrays(self) -> dict[str, Any]:
        names = ("children", "visits", "best", "reward")
        return {name: getattr(self, name)[: self.size] for name in names}

    def save(self, path: Path) -> None:
        """Write all of it."""
        arrays = {name: np.ascontiguousarray(array) for name, array in self._arrays().items()}
        path.write_bytes(save(arrays))

    @classmethod
    def load(cls, path: Path) -> "SequenceTree":
        """Read what `save` wrote; anything else is a `DamagedFileError`."""
        try:
            found = load(read_bytes(path, LARGEST_MEMORY))
        except (SafetensorError, ValueError, KeyError, OverflowError) as error:
            raise DamagedFileError(path, f"holds no sequences ({error})") from None
        tree = cls()
        wanted = {name: (array.dtype, array.ndim) for name, array in tree._arrays().items()}
        if {name: (array.dtype, array.ndim) for name, array in found.items()} != wanted:
            raise DamagedFileError(path, "holds something else than sequences")
        tree.size = len(found["visits"])
        for name, array in found.items():
            if len(array) != tree.size or not tree.size:
                raise DamagedFileError(path, f"has {len(array)} {name} of {tree.size} nodes")
            setattr(tree, name, array.copy())
        tree._check(path)
        return tree

    def _check(self, path: Path) -> None:
        """Refuse arrays that are no tree, or in which a walk or a score would be nonsense."""
        parents, _ = np.nonzero(self.children != NONE)
        below = self.children[self.children != NONE]
        once = np.array_equal(np.sort(below), np.arange(1, self.size))
        if not once or (below <= parents).any():
            raise DamagedFileError(path, "holds sequences that are no tree")
        known = self.size > 1
        if not np.isfinite(self.reward).all() or not (np.isfinite(self.best).all() or not known):
            raise DamagedFileError(path, "holds rewards that are no numbers")
        if (self.visits < 0).any():
            raise DamagedFileError(path, "holds visits that are less than none")


@final
class BrutePlayer(Planner):
    """Follows the best known sequence of actions; where none is known, any action will do."""

    def __init__(self) -> None:
        super().__init__(None, None)
        self.memory = SequenceTree()
        self.explores = False
        """Whether it takes a random action now and then."""

    def grow(self, search: Search) -> Stopped:
        """Search nothing."""
        return "exhausted"

    def start(self, simulator: Simulator, seed: int, after: Sequence[int] = ()) -> Step:
        """Reset the simulator and begin an episode, at the start of all sequences."""
        if self.memory.size == 1:
            self.memory = SequenceTree(simulator.action_count)
        if self.memory.actions != simulator.action_count:
            words = f"it knows sequences of {self.memory.actions} actions"
            raise InputError(f"{words}, but the simulator has {simulator.action_count}")
        self._node = ROOT
        for action in after:
            self._node = self._follow(action)
        return super().start(_Unsaved(simulator), seed, after)

    def decide(self, calls: int = 100, seconds: float | None = None) -> Decision:
        """Choose the next action; that makes no calls, but doing it makes one."""
        self._check_not_over()
        memory, node, generator = self.memory, self._node, self._search.random(Stream.BANDIT)
        values = memory.values(node)
        known = ~np.isnan(values)
        explores = node == NONE or not known.any()
        if self.explores and not explores:
            explores = generator.random() < EXPLORATION / log(float(memory.visits[node] + 2))
        best = np.flatnonzero(values == values[known].max()) if not explores else None
        action = int(generator.integers(memory.actions) if best is None else generator.choice(best))
        children = memory.children[node] if node != NONE else np.full(memory.actions, NONE)
        visits = np.where(children == NONE, 0, memory.visits[children])
        return Decision(
            action, values, visits, 0, "exhausted", ties=1 if best is None else len(best)
        )

    def advance(self, action: int) -> Step:
        """Do an action for good; `SimulatorError` if it gives another reward than it once did."""
        step, self._node = super().advance(action), self._follow(action)
        self._search.simulator_at = ROOT
        if self._node != NONE and self.memory.reward[self._node] != step.reward:
            raise SimulatorError(
                f"the reward is {step.reward:g} where it was {self.memory.reward[self._node]:g} "
                "after the same actions: brute is for deterministic games"
            )
        return step

    def _follow(self, action: int) -> int:
        return NONE if self._node == NONE else int(self.memory.children[self._node, action])


@final
class SequenceLearner:
    """Plays whole episodes with little exploration and remembers all, until the calls are spent."""

    def __init__(self, spec: Spec, player: BrutePlayer) -> None:
        self.spec = spec
        self.player = player
        self.progress = Progress()

    def is_spent(self, calls: int) -> bool:
        """Whether a training with so many calls is over."""
        return self.progress.calls >= calls

    def training_episode(
        self, simulator: Simulator, calls: int, observer: Observer
    ) -> TrainingEpisode:
        """Play an episode and learn it; every action is a call.

        One that the end of the training cuts short is not learned: its score is no whole one.
        """
        progress, number, spec = self.progress, self.progress.episodes, self.spec
        self.player.explores = True
        try:
            game = play_episode(
                self.player,
                simulator,
                spec.decisions,
                seed=child_seed(spec.seed, TRAINING, number),
                max_actions=spec.options.training_actions,
                max_calls=calls - progress.calls,
                observer=observer,
            )
        finally:
            self.player.explores = False
        if game.ended != "calls spent":
            self.player.memory.learn(game.actions, game.rewards)
        progress.count(game)
        progress.finished = self.is_spent(calls)
        return TrainingEpisode(number, (game,), progress.calls, 0, 0, None)

    def planning_of(
        self, number: int, game: int, simulator: Simulator, before: int, calls: int
    ) -> Planning:
        """Say that nothing was planned."""
        return Planning(None, why_not="The Brute searches nothing: there are no trees.")

    def save(self, folder: Path) -> None:
        """Write what was learned and how far the training has come, into an existing folder."""
        self.player.memory.save(folder / SEQUENCES)
        (folder / PROGRESS).write_text(json.dumps(asdict(self.progress)), encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Read back what `save` wrote, to go on exactly."""
        self.player.memory = SequenceTree.load(folder / SEQUENCES)
        self.progress = fill(Progress, read_json(folder / PROGRESS), folder / PROGRESS)


class _Unsaved:
    """A simulator whose states are not saved."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    def save(self) -> None:
        """Save nothing."""

    def restore(self, state: Any) -> None:
        """Refuse to go back."""
        raise SimulatorError("brute goes back to the reset only")

    def reset(self) -> Step:
        return self._simulator.reset()

    def step(self, action: int) -> Step:
        return self._simulator.step(action)

    @property
    def action_count(self) -> int:
        return self._simulator.action_count

    @property
    def action_names(self) -> Sequence[str]:
        return self._simulator.action_names
