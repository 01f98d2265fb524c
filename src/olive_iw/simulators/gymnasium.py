"""Any Gymnasium environment that can be copied, as a simulator."""

import importlib
import inspect
import pickle
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, NamedTuple, Self

import cloudpickle  # type: ignore[import-untyped]
import gymnasium
import numpy as np
from gymnasium.spaces import Box

from olive_iw.errors import InputError, SimulatorError, one_line, unknown_name
from olive_iw.errors import shown as shown_value
from olive_iw.simulators.actions import actions_of
from olive_iw.simulators.base import NO_SCREEN, Numbers, Step, check_call, read_only
from olive_iw.simulators.gymnasium_states import (
    Content,
    Environment,
    EnvironmentCopy,
    EnvironmentStates,
    warn_of_wrappers,
)
from olive_iw.simulators.observations import grey, names_of, numbers_of, picture_of

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

    The screen is the observation, or its entry "image", if it is a picture (see `picture_of`).
    Otherwise it is what the environment renders as "rgb_array", or nothing, if it renders nothing.
    `screen` chooses one of these by force: rendering may take a hundred times as long as a step,
    and who plans on numbers needs none. What is observed besides pictures are a step's `values`.

    Actions are those of a Discrete, MultiDiscrete or MultiBinary space, 256 at most; a Box has
    `action_levels` for each dimension. `actions` are what `env.step` is given.
    """

    def __init__(
        self,
        env_or_id: str | Environment,
        *,
        seed: int = 0,
        save: Callable[[Any], Any] | None = None,
        restore: Callable[[Any, Any], None] | None = None,
        screen: Literal["auto", "observation", "render", "none"] = "auto",
        action_levels: int | None = None,
        reset: bool = True,
        shown: Any = None,
        **make_options: Any,
    ) -> None:
        given = {"seed": seed, "save": save, "restore": restore, "screen": screen}
        given |= {"action_levels": action_levels, "reset": reset, "shown": shown}
        self._made_of = env_or_id, given | make_options
        self._env = env = _find_environment(env_or_id, make_options)
        self.actions, self.action_names = actions_of(env, action_levels)
        """What the environment's step takes for each action, and its name."""
        self.action_count, self.action_levels = len(self.actions), action_levels
        self._states = self._followed = EnvironmentStates(env, save, restore)
        self._terminal = False
        observation = _reset(env, seed) if reset else _observed(env, shown)
        self.why_no_picture = ""
        """What keeps it from showing pictures, and what would help; nothing if it shows some."""
        self._shows = screen if screen != "auto" else self._best_way(observation)
        self._first_step = self._look(observation, 0.0)
        self.value_names = names_of(observation, self._shows == "observation")
        """Name of each of a step's values, as far as the observation has names."""
        try:
            self._first_state = self.save()
        except InputError as error:
            if not reset:
                raise
            if not self._states.replay_from(seed, self.actions):
                why = "it cannot be replayed either: after two resets it does not do the same"
                raise InputError(f"{error}; {why}") from error
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
        told = self._states.step(self.actions[int(action)])
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
        self._states.reseed(seed)

    @classmethod
    def beside(cls, env: Environment, shown: Any = None, **options: Any) -> Self:
        """Return a simulator of a copy of an environment, to `follow` it; it is never touched."""
        if env.action_space != env.unwrapped.action_space:
            raise InputError(
                f"the wrappers of {env} change its actions; plan for env.unwrapped, and step that"
            )
        warn_of_wrappers(env)
        followed = EnvironmentStates(env.unwrapped)
        shown = _observed(followed.env, shown)
        try:
            copied = followed.copied_environment()
        except InputError as error:
            more = "agent.play(env) may do without, by doing again what was done since the reset"
            raise InputError(f"{error}; {more}") from error
        simulator = cls(copied, reset=False, shown=shown, **options)
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

    def _best_way(self, observation: Any) -> Literal["observation", "render", "none"]:
        """Say where pictures come from; a rendered one must come out once."""
        env = self._env
        if picture_of(observation, env.observation_space) is not None:
            return "observation"
        try:
            with warnings.catch_warnings():  # of Gymnasium's: that nothing is rendered
                warnings.simplefilter("ignore")
                rendered = env.render()
        except Exception as error:
            rendered, why = None, one_line(str(error))
            self.why_no_picture = f"it renders none: {why}" if why else "it renders none"
        if _is_rendered(rendered):
            return "render"
        later = self._next_observation() if observation is None else observation
        if picture_of(later, env.observation_space) is not None:
            raise InputError(self._problem(None, "observation"))
        if numbers_of(later) is None:
            return "render"
        if "rgb_array" in env.metadata.get("render_modes", ()) and env.render_mode != "rgb_array":
            why = 'if it can render, make it with gymnasium.make(…, render_mode="rgb_array")'
            self.why_no_picture = why
        return "none"

    def _look(self, observation: Any, reward: float) -> Step:
        emulator, observed = getattr(self._env, "ale", None), self._shows == "observation"
        values, screen = numbers_of(observation, without_picture=observed), NO_SCREEN
        if observation is None and not observed:
            values = self._unknown()
        if self._shows != "none":
            space = self._env.observation_space
            picture = picture_of(observation, space, 1) if observed else self._rendered()
            if not _is_rendered(picture):
                raise InputError(self._problem(observation))
            screen = read_only(grey(picture))
        elif values is None:
            raise InputError(self._problem(observation))
        lives = 0 if emulator is None else int(emulator.lives())
        return Step(screen, reward, self._terminal, lives, values=values)

    def _unknown(self) -> Numbers | None:
        """Return numbers of which nothing is known, as many as the next step shows."""
        values = numbers_of(self._next_observation())
        return None if values is None else read_only(np.full_like(values, np.nan))

    def _next_observation(self) -> Any:
        """Return what a step would show; it is undone."""
        state = self.save()
        told = self._states.step(self.actions[0])
        self.restore(state)
        return _taken_apart(self._env, told)[0]

    def _rendered(self) -> Any:
        try:
            return self._env.render()
        except NotImplementedError:
            return None

    def _problem(self, observation: Any, shows: str | None = None) -> str:
        """Say why nothing can be seen."""
        way = {
            "observation": "gives no picture as observation",
            "render": 'gives no uint8 picture as rendering with render_mode="rgb_array"',
            "none": "gives no numbers as observation",
        }[shows or self._shows]
        hint = "; pass what it showed last" if observation is None else ""
        return f"{type(self._env).__name__} {way}{hint}"


def _remade(pickled: bytes) -> GymnasiumSimulator:
    env, options = pickle.loads(pickled)
    made_of = env.environment() if isinstance(env, EnvironmentCopy) else env
    return GymnasiumSimulator(made_of, **options)


def _reset(env: Environment, seed: int) -> Any:
    """Return the observation of a reset that is as Gymnasium wants it."""
    name = f"{type(env).__name__}.reset"
    with suppress(ValueError):  # compiled functions do not say what they take
        taken = inspect.signature(env.reset).parameters.values()
        if not any(each.name == "seed" or each.kind is each.VAR_KEYWORD for each in taken):
            form = "reset(*, seed=None, options=None)"
            raise SimulatorError(f"{name} takes no seed; it must be {form}")
    told = env.reset(seed=seed)
    if not isinstance(told, tuple) or len(told) != 2:
        found = f"{len(told)} values" if isinstance(told, tuple) else type(told).__name__
        raise SimulatorError(f"{name} returned {found}; it must return 2: observation, info")
    return told[0]


def _taken_apart(env: Environment, told: Any) -> tuple[Any, float, bool]:
    """Return observation, reward and end of what a step returned, if it is as Gymnasium wants."""
    name = f"{type(env).__name__}.step"
    if not isinstance(told, tuple) or len(told) != 5:
        form = "observation, reward, terminated, truncated, info"
        found = f"{len(told)} values" if isinstance(told, tuple) else type(told).__name__
        raise SimulatorError(f"{name} returned {found}; it must return 5: {form}")
    try:
        return told[0], float(told[1]), bool(told[2])
    except (TypeError, ValueError, OverflowError):
        what = f"the reward {shown_value(told[1])} and terminated {shown_value(told[2])}"
        raise SimulatorError(f"{name} gave {what}; they must be one number and a bool") from None


def _find_environment(env_or_id: str | Environment, options: dict[str, Any]) -> Environment:
    if not isinstance(env_or_id, str):
        if options:
            raise InputError(f"options {', '.join(options)} are for ids, not for environments")
        env = env_or_id
        warn_of_wrappers(env)
    else:
        import_package(env_or_id)
        sticky = {"repeat_action_probability": 0.0} if env_or_id.startswith("ALE/") else {}
        try:
            env = gymnasium.make(env_or_id, **{"render_mode": "rgb_array", **sticky, **options})
        except (gymnasium.error.UnregisteredEnv, gymnasium.error.NameNotFound) as error:
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


def import_package(identifier: str) -> None:
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


def _observed(env: Environment, shown: Any) -> Any:
    """Return the observation that was shown, or else what the environment says of itself."""
    if shown is not None:
        return shown
    for name in ("_get_obs", "gen_obs"):
        if hasattr(env, name):
            return getattr(env, name)()
    space = env.observation_space
    for name in ("state", "s"):  # of those that observe all of it, as CartPole does
        found = getattr(env, name, None)
        if found is not None:
            found = np.asarray(found, space.dtype) if isinstance(space, Box) else found
            if space.contains(found):
                return found
    return None


def _is_rendered(picture: Any) -> bool:
    return isinstance(picture, np.ndarray) and picture.dtype == np.uint8 and picture.ndim in (2, 3)
