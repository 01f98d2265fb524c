"""How a Gymnasium environment's state is saved, restored and copied."""

import copy
import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, final

import cloudpickle  # type: ignore[import-untyped]
import gymnasium
import numpy as np

from olive_iw.errors import InputError, advise

Environment = gymnasium.Env[Any, Any]
_HARMLESS = (
    *("TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics"),
    *("RecordVideo", "RenderCollection", "HumanRendering", "Autoreset"),
)
"""Gymnasium's wrappers with a step of their own that leave what a step does as it is."""


_TRIED = 12
"""Steps that must come out the same after two resets, for an environment to be replayed."""


class _Reseeded(NamedTuple):
    """What was done to an environment besides its steps."""

    seed: int


class Content(NamedTuple):
    """What was saved of an environment."""

    state: Any
    """Its attributes, pickled; or what its own way of saving gave."""
    left_out: frozenset[str]
    """Attributes left out of it: constants, and drawings, which do not say how the game stands."""


class EnvironmentCopy(NamedTuple):
    """An environment by what was saved of it: without a window, ready to render pictures."""

    kind: type[Environment]
    content: Content
    constants: dict[str, Any]
    """Attributes that never change."""

    def environment(self) -> Environment:
        """Make the environment."""
        twin = object.__new__(self.kind)
        vars(twin).update(dict.fromkeys(self.content.left_out), render_mode="rgb_array")
        vars(twin).update(self.constants)
        EnvironmentStates(twin).restore(self.content)
        return twin


@final
class EnvironmentStates:
    """Saves and restores one environment.

    It does so by the functions `save(env)` and `restore(env, state)` where these are passed;
    otherwise by the environment's own `clone_state` and `restore_state` (ALE has them); otherwise
    by pickling its attributes, its random number generator among them. What cannot be pickled, such
    as Box2D's worlds, is restored by doing again all that was done since the reset
    (`replay_from`): just as exact, but it takes the longer the longer an episode is.
    """

    def __init__(
        self,
        env: Environment,
        save: Callable[[Any], Any] | None = None,
        restore: Callable[[Any, Any], None] | None = None,
    ) -> None:
        if (save is None) != (restore is None):
            raise InputError("save and restore belong together: pass both functions or neither")
        if save is None and any(vars(kind).get("__slots__") for kind in type(env).__mro__):
            name = type(env).__name__
            raise InputError(f"{name} keeps state in __slots__; pass save= and restore= to say how")
        self.env = env
        self.drawings: frozenset[str] = frozenset({"render_mode"})
        attributes = vars(env).items()
        self._constants = {name: it for name, it in attributes if _is_constant(it)}
        if type(env).__module__.startswith(_WITH_TABLES) and hasattr(env, _TABLE):
            self._constants[_TABLE] = env.P  # type: ignore[attr-defined]
        self._save, self._restore = save, restore
        self._clones = hasattr(env, "clone_state") and hasattr(env, "restore_state")
        self._seed: int | None = None
        self._done: tuple[Any, ...] = ()
        """Actions, and seeds (`_Reseeded`), since the reset, where those are what is saved."""

    def replay_from(self, seed: int, actions: Sequence[Any]) -> bool:
        """Save from here on what is done after the reset of a seed; False if that is not enough.

        It is where the environment does the same after two such resets.
        """
        looks = []
        for _ in range(2):
            shown = [self.env.reset(seed=seed)[0]]
            for number in range(_TRIED):
                told = self.env.step(actions[number % len(actions)])
                shown += told[:3]
                if told[2]:
                    break
            looks.append(pickle.dumps(shown))
        self.env.reset(seed=seed)
        self._seed, self._done = seed, ()
        return looks[0] == looks[1]

    def step(self, action: Any) -> Any:
        """Step the environment."""
        if self._seed is not None:
            self._done = (*self._done, action)
        return self.env.step(action)

    def reseed(self, seed: int) -> None:
        """Give the environment other random numbers from here on."""
        self._done = (*self._done, _Reseeded(seed))
        self.env.np_random = np.random.default_rng(seed)

    def save(self) -> Content:
        """Return the environment's state, its random number generator included."""
        if self._save is not None:
            state = self._save(self.env)
        elif self._clones:
            emulator = self.env.clone_state(include_rng=True)  # type: ignore[attr-defined]
            state = emulator, pickle.dumps(self.env.np_random)
        elif self._seed is not None:
            state = self._done
        else:
            state = self._pickled_attributes()
        return Content(state, self.drawings.union(self._unchanged()))

    def restore(self, content: Content) -> None:
        """Go back to a state saved from the same kind of environment."""
        if self._restore is not None:
            self._restore(self.env, content.state)
        elif self._clones:
            emulator, random = content.state
            self.env.restore_state(emulator)  # type: ignore[attr-defined]
            self.env.np_random = pickle.loads(random)
        elif self._seed is not None:
            if content.state[: len(self._done)] != self._done:
                self.env.reset(seed=self._seed)
                self._done = ()
            for done in content.state[len(self._done) :]:
                if isinstance(done, _Reseeded):
                    self.reseed(done.seed)
                else:
                    self.step(done)
        else:
            attributes = vars(self.env)
            loaded = _Unpickler(io.BytesIO(content.state), self.env).load()
            known = attributes | self._constants
            kept = {name: known[name] for name in content.left_out if name in known}
            attributes.clear()
            attributes.update(loaded | kept)

    def key(self, content: Content) -> bytes:
        """Bytes that are equal for equal states, wherever they were saved.

        A pickle also says which objects are one and the same, which copies change: not so here.
        """
        if self._has_own_way:
            return pickle.dumps(content.state)
        pickler = _Pickler(file := io.BytesIO(), self.env)
        pickler.fast = True
        try:
            pickler.dump(_Unpickler(io.BytesIO(content.state), self.env).load())
        except (ValueError, RecursionError, pickle.PicklingError):  # objects that hold each other
            return bytes(content.state)
        return file.getvalue()

    @property
    def _has_own_way(self) -> bool:
        """Whether its attributes are not what is saved."""
        return self._save is not None or self._clones or self._seed is not None

    def copied_environment(self) -> Environment:
        """Return another environment in the same state; it has no window and renders pictures."""
        if self._clones:
            spec = self.env.spec
            twin: Environment = (
                copy.deepcopy(self.env)
                if spec is None
                else gymnasium.make(spec, render_mode="rgb_array").unwrapped
            )
            EnvironmentStates(twin).restore(self.save())
            return twin
        return EnvironmentCopy(type(self.env), self.save(), self._constants).environment()

    def copyable(self, content: Content) -> "Environment | EnvironmentCopy":
        """Return what can be pickled in place of the environment, as it was in a saved state."""
        if self._has_own_way:
            return self.env
        return EnvironmentCopy(type(self.env), content, self._constants)

    def _pickled_attributes(self) -> bytes:
        attributes = vars(self.env)
        try:
            return self._pickled(self._changing(attributes))
        except _DrawingMetError:
            self.drawings |= {name for name in attributes if self._holds_drawing(name)}
            return self._pickled(self._changing(attributes))

    def _changing(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Attributes that are state."""
        out = self.drawings.union(self._unchanged())
        return {name: value for name, value in attributes.items() if name not in out}

    def _unchanged(self) -> Iterator[str]:
        """Names of constants that are still what they were."""
        attributes = vars(self.env)
        for name, it in self._constants.items():
            if attributes.get(name) is it and (name == _TABLE or _is_constant(it)):
                yield name

    def _holds_drawing(self, name: str) -> bool:
        try:
            self._pickled(vars(self.env)[name])
        except _DrawingMetError:
            return True
        return False

    def _pickled(self, thing: Any) -> bytes:
        file = io.BytesIO()
        try:
            _Pickler(file, self.env).dump(thing)
        except _DrawingMetError:
            raise
        except Exception as error:
            raise InputError(
                f"{type(self.env).__name__} cannot be copied ({type(error).__name__}: {error}); "
                "pass save= and restore= to say how, and plan for the simulator that this makes: "
                "olive_iw.simulators.GymnasiumSimulator(env, save=…, restore=…)"
            ) from error
        return file.getvalue()


def _is_constant(attribute: Any) -> bool:
    """Whether an attribute never changes: what made it, and spaces that nobody draws from."""
    if isinstance(attribute, gymnasium.Space):
        parts = getattr(attribute, "spaces", ())
        parts = parts.values() if isinstance(parts, dict) else parts
        return attribute._np_random is None and all(map(_is_constant, parts))
    return isinstance(attribute, gymnasium.envs.registration.EnvSpec)


def warn_of_wrappers(env: Environment) -> None:
    """Warn of wrappers that change what is planned for, as the plan does not look through them."""
    while isinstance(env, gymnasium.Wrapper):
        changed, kind = "", type(env)
        if isinstance(env, gymnasium.ActionWrapper):
            changed = "actions: one that is planned is another one in env.step"
        elif isinstance(env, gymnasium.RewardWrapper):
            changed = "rewards: the plan earns those of the environment inside"
        elif not isinstance(env, gymnasium.ObservationWrapper):
            known = kind.__module__.startswith("gymnasium.wrappers") and kind.__name__ in _HARMLESS
            if kind.step is not gymnasium.Wrapper.step and not known:
                changed = "steps, perhaps: the plan makes those of the environment inside"
        if changed:
            advise(
                f"the wrapper {kind.__name__} changes {changed}; plan for env.unwrapped and step "
                "that, or put what the wrapper does into an environment of your own"
            )
        env = env.env


def time_limit(env: Environment) -> int | None:
    """Return after how many actions an episode is cut off by a wrapper, if one does."""
    limits = []
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            limits.append(env._max_episode_steps)
        env = env.env
    return min(limits, default=None)


class _DrawingMetError(Exception):
    """A window, surface or the like was about to be saved."""


_WITH_TABLES, _TABLE = "gymnasium.envs.toy_text", "P"
"""Gymnasium's environments that are a table P of all transitions, large and never changed."""
_PLAIN = frozenset({str, int, float, bool, bytes, tuple, dict, list, type(None), np.ndarray})
"""Types of most of what is pickled, none of which is an environment or a drawing."""


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles an environment's attributes; references to the environment itself stay references."""

    def __init__(self, file: io.BytesIO, env: Environment) -> None:
        super().__init__(file)
        self._env = env

    def persistent_id(self, thing: Any) -> str | None:
        """Name of what is not copied."""
        if type(thing) in _PLAIN:
            return None
        if thing is self._env:
            return "environment"
        # Types of compiled code, such as Box2D's, may be of no module.
        if getattr(type(thing), "__module__", "").partition(".")[0] == "pygame":
            raise _DrawingMetError
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, env: Environment) -> None:
        super().__init__(file)
        self._env = env

    def persistent_load(self, name: str) -> Environment:
        """Find what was not copied."""
        return self._env
