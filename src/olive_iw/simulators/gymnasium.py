"""Any Gymnasium environment that can be copied, as a simulator."""

import importlib
import io
import pickle
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import cloudpickle  # type: ignore[import-untyped]
import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from olive_iw.errors import InputError, unknown_name
from olive_iw.simulators.base import Screen, Step, check_call, read_only

Environment = gymnasium.Env[Any, Any]

_SMALLEST_PICTURE = 32
_PACKAGES = {"ALE/": "ale_py", "MiniGrid-": "minigrid", "BabyAI-": "minigrid"}


class GymnasiumState(NamedTuple):
    """A saved state."""

    content: Any
    """The environment's attributes, pickled; or what its own way of saving gave."""
    drawings: frozenset[str]
    """Attributes left out of it because they only hold windows and drawing surfaces."""
    terminal: bool


class GymnasiumSimulator:
    """The innermost environment (`env.unwrapped`) of an environment, or of a registered id.

    Wrappers, and with them time limits, are not part of it: only `terminated` ends an episode. The
    first `env.reset(seed=seed)` gives the state that every episode starts from.

    A state is saved by `save(env)` and restored by `restore(env, state)` where these are passed;
    otherwise by the environment's own `clone_state` and `restore_state` (ALE has them); otherwise
    by pickling its attributes, its random number generator among them. Environments that keep
    state elsewhere, in compiled code for example, need the two functions. ALE ids are made without
    sticky actions.

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
        **make_options: Any,
    ) -> None:
        if (save is None) != (restore is None):
            raise InputError("save and restore belong together: pass both functions or neither")
        given = {"seed": seed, "save": save, "restore": restore, "screen": screen}
        self._made_of = env_or_id, given | make_options
        self._env = env = _find_environment(env_or_id, make_options)
        space = env.action_space
        if not isinstance(space, Discrete):
            raise InputError(f"only Discrete action spaces can be planned with, not {space}")
        self._first_action, self.action_count = int(space.start), int(space.n)
        self.action_names = _action_names(env, self.action_count)
        self._save, self._restore = save, restore
        self._clones = hasattr(env, "clone_state") and hasattr(env, "restore_state")
        self._drawings: frozenset[str] = frozenset()
        self._terminal = False
        observation, _ = env.reset(seed=seed)
        is_picture = screen == "auto" and _is_picture(_image(observation))
        self._observed = screen == "observation" or is_picture
        self._first_step = self._look(observation, 0.0)
        self._first_state = self.save()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as another simulator made of the same, at the start of its episode."""
        return _remade, (cloudpickle.dumps(self._made_of),)

    def reset(self) -> Step:
        """Go to the start of the episode that the seed gave."""
        self.restore(self._first_state)
        return self._first_step

    def step(self, action: int) -> Step:
        """Do one step of the environment."""
        check_call(self, "the episode", action, self._terminal)
        observation, reward, terminated, _, _ = self._env.step(self._first_action + int(action))
        self._terminal = bool(terminated)
        return self._look(observation, float(reward))

    def save(self) -> GymnasiumState:
        """Return the environment's state, its random number generator included."""
        if self._save is not None:
            content = self._save(self._env)
        elif self._clones:
            emulator = self._env.clone_state(include_rng=True)  # type: ignore[attr-defined]
            content = emulator, pickle.dumps(self._env.np_random)
        else:
            content = self._pickled_attributes()
        return GymnasiumState(content, self._drawings, self._terminal)

    def restore(self, state: GymnasiumState) -> None:
        """Go back to a state saved from the same kind of environment."""
        if self._restore is not None:
            self._restore(self._env, state.content)
        elif self._clones:
            emulator, random = state.content
            self._env.restore_state(emulator)  # type: ignore[attr-defined]
            self._env.np_random = pickle.loads(random)
        else:
            attributes = vars(self._env)
            loaded = _Unpickler(io.BytesIO(state.content), self._env).load()
            kept = {name: attributes[name] for name in state.drawings if name in attributes}
            attributes.clear()
            attributes.update(loaded | kept)
        self._terminal = state.terminal

    def _pickled_attributes(self) -> bytes:
        attributes = vars(self._env)
        try:
            return self._pickled(self._without_drawings(attributes))
        except _DrawingMetError:
            self._drawings |= {name for name in attributes if self._holds_drawing(name)}
            return self._pickled(self._without_drawings(attributes))

    def _without_drawings(self, attributes: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in attributes.items() if name not in self._drawings}

    def _holds_drawing(self, name: str) -> bool:
        try:
            self._pickled(vars(self._env)[name])
        except _DrawingMetError:
            return True
        return False

    def _pickled(self, thing: Any) -> bytes:
        file = io.BytesIO()
        try:
            _Pickler(file, self._env).dump(thing)
        except _DrawingMetError:
            raise
        except Exception as error:
            raise InputError(
                f"{type(self._env).__name__} cannot be copied ({error}); "
                "pass save= and restore= to say how"
            ) from error
        return file.getvalue()

    def _look(self, observation: Any, reward: float) -> Step:
        picture = _image(observation) if self._observed else _rendered(self._env)
        if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.ndim < 2:
            way = "observation" if self._observed else 'rendering with render_mode="rgb_array"'
            raise InputError(f"{type(self._env).__name__} gives no uint8 picture as {way}")
        emulator = getattr(self._env, "ale", None)
        lives = 0 if emulator is None else int(emulator.lives())
        return Step(read_only(_grey(picture)), reward, self._terminal, lives)


def _remade(pickled: bytes) -> GymnasiumSimulator:
    env_or_id, options = pickle.loads(pickled)
    return GymnasiumSimulator(env_or_id, **options)


class _DrawingMetError(Exception):
    """A window, surface or the like was about to be saved."""


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles an environment's attributes; references to the environment itself stay references."""

    def __init__(self, file: io.BytesIO, env: Environment) -> None:
        super().__init__(file)
        self._env = env

    def persistent_id(self, thing: Any) -> str | None:
        """Name of what is not copied."""
        if thing is self._env:
            return "environment"
        if type(thing).__module__.partition(".")[0] == "pygame":
            raise _DrawingMetError
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, env: Environment) -> None:
        super().__init__(file)
        self._env = env

    def persistent_load(self, name: str) -> Environment:
        """Find what was not copied."""
        return self._env


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
            "sticky actions cannot be restored exactly; make it with repeat_action_probability=0.0"
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
