"""A small random game whose every state follows from the seed and the actions that led to it."""

import os
import signal
import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from olive_iw.errors import SimulatorError
from olive_iw.simulators.base import Step, read_only

SIDE = 3
LEVELS = 3


class SyntheticState(NamedTuple):
    path: tuple[int, ...]
    """Actions since the reset: no two states of the game are the same one."""
    lives: int
    terminal: bool


@dataclass
class SyntheticSimulator:
    """Every step draws its screen, reward, loss and end from a generator seeded by its path.

    Screens have few contents, so that many states show nothing new. `log` holds the path of every
    step made since the object was made: one entry a call.
    """

    seed: int = 0
    action_count: int = 3
    lives: int = 2
    terminal_chance: float = 0.05
    last_depth: int = 1000
    reward_chance: float = 0.5

    def __post_init__(self) -> None:
        self.action_names = tuple(f"action {index}" for index in range(self.action_count))
        self.log: list[tuple[int, ...]] = []
        self.reset()

    def reset(self) -> Step:
        self._state = SyntheticState((), self.lives, False)
        return self._look(np.random.default_rng([self.seed, 0]), 0.0)

    def step(self, action: int) -> Step:
        if self._state.terminal:
            raise SimulatorError("stepped after the end")
        if not 0 <= action < self.action_count:
            raise SimulatorError(f"no action {action}")
        path = (*self._state.path, action)
        self.log.append(path)
        generator = np.random.default_rng([self.seed, 1, *path])
        reward = 0.0
        if generator.random() < self.reward_chance:
            reward = float(generator.choice([-2.0, -1.0, 1.0, 1.0, 3.0]))
        lives = self._state.lives
        if lives and generator.random() < 0.1:
            lives -= 1
        terminal = generator.random() < self.terminal_chance or len(path) >= self.last_depth
        terminal = terminal or (self.lives > 0 and lives == 0)
        self._state = SyntheticState(path, lives, bool(terminal))
        return self._look(generator, reward)

    def save(self) -> SyntheticState:
        return self._state

    def restore(self, state: SyntheticState) -> None:
        self._state = state

    def _look(self, generator: np.random.Generator, reward: float) -> Step:
        screen = read_only(generator.integers(0, LEVELS, (SIDE, SIDE), dtype=np.uint8))
        return Step(screen, reward, self._state.terminal, self._state.lives)


class PixelFeatures:
    """One atom for each pixel of a synthetic screen: the pixel and its level."""

    size = SIDE * SIDE * LEVELS

    def prepare(self, simulator, first):
        if first.screen.shape != (SIDE, SIDE):
            raise ValueError("these are features of the synthetic simulator")

    def of_step(self, step, previous):
        return (np.arange(SIDE * SIDE) * LEVELS + step.screen.ravel()).astype(np.int32)


class ScriptedSimulator:
    """A tree written down: `steps` maps a path to (level, reward, terminal, lives) of its step.

    Paths that are not written down show `default`. The screen is one pixel of that level.
    """

    def __init__(self, steps, action_count=2, default=(0, 0.0, False, 0), root=(0, 0)):
        self.steps, self.default, self.root = steps, default, root
        self.action_count = action_count
        self.action_names = tuple(f"action {index}" for index in range(action_count))
        self.log = []
        self.reset()

    def reset(self):
        self._path = ()
        level, lives = self.root
        return self._look(level, 0.0, False, lives)

    def step(self, action):
        self._path = (*self._path, action)
        self.log.append(self._path)
        return self._look(*self.steps.get(self._path, self.default))

    def save(self):
        return self._path

    def restore(self, state):
        self._path = state

    @staticmethod
    def _look(level, reward, terminal, lives):
        return Step(read_only(np.full((1, 1), level, np.uint8)), reward, terminal, lives)


class LevelFeatures:
    """The single atom of a screen of one level: that level."""

    size = 256

    def prepare(self, simulator, first):
        pass

    def of_step(self, step, previous):
        return step.screen[0, :1].astype(np.int32)


class ScriptedBandit:
    """Takes the actions it was given, in order."""

    def __init__(self, actions):
        self._actions = iter(actions)

    def choose(self, statistics, generator):
        action = next(self._actions)
        assert statistics.unsolved[action]
        return action


@dataclass
class WaywardSimulator(SyntheticSimulator):
    """Does something else than its call, wherever it is not in the process that made it.

    `at` maps a path to what happens there: "die", "raise", or a number of seconds to wait first.
    What `once` names happens only as long as that file is not there.
    """

    at: dict[tuple[int, ...], str | float] = field(default_factory=dict)
    once: str | None = None

    def __post_init__(self) -> None:
        self._made_in = os.getpid()
        super().__post_init__()

    def step(self, action: int) -> Step:
        happens = self.at.get((*self._state.path, action))
        if happens is not None and os.getpid() != self._made_in and self._may_happen():
            if happens == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if happens == "raise":
                raise ZeroDivisionError(f"no luck at {(*self._state.path, action)}")
            time.sleep(float(happens))
        return super().step(action)

    def _may_happen(self) -> bool:
        if self.once is None:
            return True
        try:
            os.close(os.open(self.once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


class HeavySimulator(SyntheticSimulator):
    """Its states are larger than what a pipe takes."""

    def save(self):
        return super().save(), bytes(4_000_000)

    def restore(self, state):
        super().restore(state[0])


class MachineSimulator:
    """A machine of states: `moves` maps (state, action) to (next state, reward); others stay.

    The screen is two pixels of the state's level (one alone would be no picture). `log` holds the
    state and action of every call.
    """

    def __init__(self, moves, levels, action_count=2, first="root"):
        self.moves, self.levels, self.first = moves, levels, first
        self.action_count = action_count
        self.action_names = tuple(f"action {index}" for index in range(action_count))
        self.log = []
        self.reset()

    def reset(self):
        self._state = self.first
        return self._look(0.0)

    def step(self, action):
        self.log.append((self._state, action))
        self._state, reward = self.moves.get((self._state, action), (self._state, 0.0))
        return self._look(reward)

    def save(self):
        return self._state

    def restore(self, state):
        self._state = state

    def _look(self, reward):
        level = self.levels.get(self._state, 0)
        return Step(read_only(np.full((1, 2), level, np.uint8)), float(reward), False, 0)
