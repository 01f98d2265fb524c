"""Any Gymnasium environment that can be copied, as a simulator."""

import importlib
import pickle
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Self

import cloudpickle  # type: ignore[import-untyped]
import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from olive_iw.errors import InputError, SimulatorError, unknown_name
from olive_iw.errors import shown as shown_value
from olive_iw.simulators.base import Screen, Step, check_call, read_only
from olive_iw.simulators.gymnasium_states import (
    Content,
    Environment,
    EnvironmentCopy,
    EnvironmentStates,
)

_SMALLEST_PICTURE = 32
_PACKAGES = {"ALE/": "ale_py", "MiniGrid-": "minigrid", "BabyAI-": "minigrid"}


class GymnasiumState(NamedTuple):
    """A saved state."""

    content: Content
    terminal: bool


class GymnasiumSimulator:
    """The innermost environment (`env.unwrapped`) of an environment, or of a registered id.

    Wrappers, and with them time limits, are not part of it: only `terminated` ends an episode. The
    first `env.reset(seed=seed)` gives the state that every episode starts from; without `reset` it
    is the state in which the environment is, whose last observation can be `shown`.

    A state is saved and restored as `EnvironmentStates` says. Environments that keep state
    elsewhere than in their attributes, in compiled code for example, need the functions `save` and
    `restore`. ALE ids are made without sticky actions.

    The screen is the observation, or its entry "image", if it is a picture: uint8, grey or RGB, at
    least 32 pixels each way (MiniGrid's "image" is a 7×7 grid of codes, not a picture). Otherwise
    it is what the environment renders as "rgb_array". `screen` chooses one of them by force.
    Colours are turned into grey levels.
    """

    def __init__(
        self,
        env_or_id: str | Environment,
        *,
        seed: int = 0,
        save: Callable[[Any], Any] | None = None,
        restore: Callable[[Any, Any], None] | None = None,
        screen: Literal["auto", "observation", "render"] = "auto",
        reset: bool = True,
        shown: Any = None,
        **make_options: Any,
    ) -> None:
        given = {"seed": seed, "save": save, "restore": restore, "screen": screen}
        given |= {"reset": reset, "shown": shown}
        self._made_of = env_or_id, given | make_options
        self._env = env = _find_environment(env_or_id, make_options)
        space = env.action_space
        if not isinstance(space, Discrete):
            raise InputError(f"only Discrete action spaces can be planned with, not {space}")
        self.first_action, self.action_count = int(space.start), int(space.n)
        """Actions of the environment are this number and those after it; ours begin with 0."""
        self.action_names = _action_names(env, self.action_count)
        self._states = self._followed = EnvironmentStates(env, save, restore)
        self._terminal = False
        observation = env.reset(seed=seed)[0] if reset else _observed(env, shown)
        is_picture = screen == "auto" and _is_picture(_image(observation))
        self._observed = screen == "observation" or is_picture
        self._first_step = self._look(observation, 0.0)
        self._first_state = self.save()

    def __repr__(self) -> str:
        return f"<GymnasiumSimulator of {self._env}, {self.action_count} actions>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as another simulator made of the same, at the start of its episode."""
        made_of, options = self._made_of
        named = isinstance(made_of, str)
        env = made_of if named else self._states.copyable(self._first_state.content)
        return _remade, (cloudpickle.dumps((env, options)),)

    def reset(self) -> Step:
        """Go to the start of the episode that the seed gave."""
        self.restore(self._first_state)
        return self._first_step

    def step(self, action: int) -> Step:
        """Do one step of the environment."""
        check_call(self, "the episode", action, self._terminal)
        told = self._env.step(self.first_action + int(action))
        observation, reward, self._terminal = _taken_apart(self._env, told)
        return self._look(observation, reward)

    def save(self) -> GymnasiumState:
        """Return the environment's state, its random number generator included."""
        return GymnasiumState(self._states.save(), self._terminal)

    def restore(self, state: GymnasiumState) -> None:
        """Go back to a state saved from the same kind of environment."""
        self._states.restore(state.content)
        self._terminal = state.terminal

    def reseed(self, seed: int) -> None:
        """Give the environment other random numbers from here on."""
        self._env.np_random = np.random.default_rng(seed)

    @classmethod
    def beside(cls, env: Environment, shown: Any = None) -> Self:
        """Return a simulator of a copy of an environment, to `follow` it; it is never touched."""
        if env.action_space != env.unwrapped.action_space:
            raise InputError(
                f"the wrappers of {env} change its actions; plan for env.unwrapped, and step that"
            )
        followed = EnvironmentStates(env.unwrapped)
        shown = _observed(followed.env, shown)
        simulator = cls(followed.copied_environment(), reset=False, shown=shown)
        simulator._followed = followed
        return simulator

    def follow(self, shown: Any = None) -> None:
        """Let episodes begin where the followed environment is now.

        `shown` is its last observation, needed if it has pictures for observations and does not
        tell them when asked (by `_get_obs`, as ALE does).
        """
        followed, self._terminal = self._followed, False
        followed.drawings = self._states.drawings
        self._first_state = GymnasiumState(followed.save(), self._terminal)
        self.restore(self._first_state)
        # ALE's own picture is that of before until the next step: ask the followed one.
        self._first_step = self._look(_observed(followed.env, shown), 0.0)

    def begins_at(self, state: GymnasiumState) -> bool:
        """Whether episodes begin in this state."""
        key = self._states.key
        return not state.terminal and key(state.content) == key(self._first_state.content)

    def leave(self) -> None:
        """Do nothing: the followed environment was never touched."""

    def _look(self, observation: Any, reward: float) -> Step:
        picture = _image(observation) if self._observed else _rendered(self._env)
        if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.ndim < 2:
            way = "observation" if self._observed else 'rendering with render_mode="rgb_array"'
            hint = "; pass what it showed last" if observation is None else ""
            raise InputError(f"{type(self._env).__name__} gives no uint8 picture as {way}{hint}")
        emulator = getattr(self._env, "ale", None)
        lives = 0 if emulator is None else int(emulator.lives())
        return Step(read_only(_grey(picture)), reward, self._terminal, lives)


def _remade(pickled: bytes) -> GymnasiumSimulator:
    env, options = pickle.loads(pickled)
    made_of = env.environment() if isinstance(env, EnvironmentCopy) else env
    return GymnasiumSimulator(made_of, **options)


def _taken_apart(env: Environment, told: Any) -> tuple[Any, float, bool]:
    """Return observation, reward and end of what a step returned, if it is as Gymnasium wants."""
    name = f"{type(env).__name__}.step"
    if not isinstance(told, tuple) or len(told) != 5:
        form = "observation, reward, terminated, truncated, info"
        found = f"{len(told)} values" if isinstance(told, tuple) else type(told).__name__
        raise SimulatorError(f"{name} returned {found}; it must return 5: {form}")
    try:
        return told[0], float(told[1]), bool(told[2])
    except (TypeError, ValueError):
        what = f"the reward {shown_value(told[1])} and terminated {shown_value(told[2])}"
        raise SimulatorError(f"{name} gave {what}; they must be one number and a bool") from None


def _find_environment(env_or_id: str | Environment, options: dict[str, Any]) -> Environment:
    if not isinstance(env_or_id, str):
        if options:
            raise InputError(f"options {', '.join(options)} are for ids, not for environments")
        env = env_or_id
    else:
        _import_package(env_or_id)
        sticky = {"repeat_action_probability": 0.0} if env_or_id.startswith("ALE/") else {}
        try:
            env = gymnasium.make(env_or_id, **{"render_mode": "rgb_array", **sticky, **options})
        except gymnasium.error.UnregisteredEnv as error:
            raise unknown_name("Gymnasium environment", env_or_id, gymnasium.registry) from error
        except (gymnasium.error.Error, ImportError, TypeError) as error:
            raise InputError(f"cannot make {env_or_id}: {error}") from error
    emulator = getattr(env.unwrapped, "ale", None)
    if emulator is not None and emulator.getFloat("repeat_action_probability") > 0:
        # ALE's saved states do not hold the action that may stick.
        raise InputError(
            "sticky actions cannot be restored exactly; "
            "make it with gymnasium.make(…, repeat_action_probability=0.0)"
        )
    return env.unwrapped


def _import_package(identifier: str) -> None:
    """Import the package that registers an environment, where it is one that is known."""
    for prefix, package in _PACKAGES.items():
        if identifier.startswith(prefix):
            try:
                module = importlib.import_module(package)
            except ImportError as error:
                name = package.replace("_", "-")
                raise InputError(f"{identifier} needs a package: pip install {name}") from error
            gymnasium.register_envs(module)
            if package == "ale_py":
                module.ALEInterface.setLoggerMode(module.LoggerMode.Error)


def _action_names(env: Environment, count: int) -> tuple[str, ...]:
    meanings = getattr(env, "get_action_meanings", None)
    names = meanings() if meanings is not None else getattr(env, "actions", None)
    try:
        found = tuple(str(getattr(name, "name", name)) for name in names)  # type: ignore[union-attr]
    except TypeError:
        found = ()
    return found if len(found) == count else tuple(f"action {index}" for index in range(count))


def _observed(env: Environment, shown: Any) -> Any:
    """Return the observation that was shown, or else what the environment says if asked."""
    return env._get_obs() if shown is None and hasattr(env, "_get_obs") else shown


def _image(observation: Any) -> Any:
    return observation.get("image") if isinstance(observation, dict) else observation


def _rendered(env: Environment) -> Any:
    try:
        return env.render()
    except NotImplementedError:
        return None


def _is_picture(image: Any) -> bool:
    return (
        isinstance(image, np.ndarray)
        and image.dtype == np.uint8
        and (image.ndim == 2 or (image.ndim == 3 and image.shape[2] in (1, 3)))
        and min(image.shape[:2]) >= _SMALLEST_PICTURE
    )


def _grey(picture: NDArray[np.uint8]) -> Screen:
    """Grey levels, uint8 (height, width), of a grey or RGB picture; always a copy."""
    if picture.ndim == 2:
        return picture.copy()
    if picture.shape[2] == 1:
        return picture[:, :, 0].copy()
    luma = picture[:, :, :3].astype(np.uint32) @ np.array([299, 587, 114], np.uint32)
    return ((luma + 500) // 1000).astype(np.uint8)
