"""How a Gymnasium environment's state is saved, restored and copied."""

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple, final

import cloudpickle  # type: ignore[import-untyped]
import gymnasium

from olive_iw.errors import InputError

Environment = gymnasium.Env[Any, Any]


class Content(NamedTuple):
    """What was saved of an environment."""

    state: Any
    """Its attributes, pickled; or what its own way of saving gave."""
    drawings: frozenset[str]
    """Attributes left out of it because they only say how it is drawn, or hold what was drawn."""


class EnvironmentCopy(NamedTuple):
    """An environment by what was saved of it: without a window, ready to render pictures."""

    kind: type[Environment]
    content: Content

    def environment(self) -> Environment:
        """Make the environment."""
        twin = object.__new__(self.kind)
        vars(twin).update(dict.fromkeys(self.content.drawings), render_mode="rgb_array")
        EnvironmentStates(twin).restore(self.content)
        return twin


@final
class EnvironmentStates:
    """Saves and restores one environment.

    It does so by the functions `save(env)` and `restore(env, state)` where these are passed;
    otherwise by the environment's own `clone_state` and `restore_state` (ALE has them); otherwise
    by pickling its attributes, its random number generator among them.
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
        self._save, self._restore = save, restore
        self._clones = hasattr(env, "clone_state") and hasattr(env, "restore_state")

    def save(self) -> Content:
        """Return the environment's state, its random number generator included."""
        if self._save is not None:
            state = self._save(self.env)
        elif self._clones:
            emulator = self.env.clone_state(include_rng=True)  # type: ignore[attr-defined]
            state = emulator, pickle.dumps(self.env.np_random)
        else:
            state = self._pickled_attributes()
        return Content(state, self.drawings)

    def restore(self, content: Content) -> None:
        """Go back to a state saved from the same kind of environment."""
        if self._restore is not None:
            self._restore(self.env, content.state)
        elif self._clones:
            emulator, random = content.state
            self.env.restore_state(emulator)  # type: ignore[attr-defined]
            self.env.np_random = pickle.loads(random)
        else:
            attributes = vars(self.env)
            loaded = _Unpickler(io.BytesIO(content.state), self.env).load()
            kept = {name: attributes[name] for name in content.drawings if name in attributes}
            attributes.clear()
            attributes.update(loaded | kept)

    def key(self, content: Content) -> bytes:
        """Bytes that are equal for equal states, wherever they were saved.

        A pickle also says which objects are one and the same, which copies change: not so here.
        """
        if self._save is not None or self._clones:
            return pickle.dumps(content.state)
        pickler = _Pickler(file := io.BytesIO(), self.env)
        pickler.fast = True
        try:
            pickler.dump(_Unpickler(io.BytesIO(content.state), self.env).load())
        except (ValueError, RecursionError, pickle.PicklingError):  # objects that hold each other
            return bytes(content.state)
        return file.getvalue()

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
        return EnvironmentCopy(type(self.env), self.save()).environment()

    def copyable(self, content: Content) -> "Environment | EnvironmentCopy":
        """Return what can be pickled in place of the environment, as it was in a saved state."""
        if self._save is not None or self._clones:
            return self.env  # it has its own way
        return EnvironmentCopy(type(self.env), content)

    def _pickled_attributes(self) -> bytes:
        attributes = vars(self.env)
        try:
            return self._pickled(self._without_drawings(attributes))
        except _DrawingMetError:
            self.drawings |= {name for name in attributes if self._holds_drawing(name)}
            return self._pickled(self._without_drawings(attributes))

    def _without_drawings(self, attributes: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in attributes.items() if name not in self.drawings}

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
                f"{type(self.env).__name__} cannot be copied ({error}); "
                "pass save= and restore= to say how"
            ) from error
        return file.getvalue()


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
