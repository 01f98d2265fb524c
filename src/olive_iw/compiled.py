"""Functions that numba compiles, and the place where it keeps what it compiled.

Loading numba takes half a second, and much is done without it. So it is loaded when one of the
functions is first called, which is compiled then: once, since what was compiled is kept beside the
modules, or in the user's cache. On some machines both are read-only, and without a place numba does
not even start; then a private temporary folder is taken.
"""

import atexit
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, final, overload

VARIABLE = "NUMBA_CACHE_DIR"
"""Read by numba when it is imported; child processes inherit it."""


Function = TypeVar("Function", bound=Callable[..., Any])
_all: set[Callable[..., Any]] = set()
_waiting: list["_Later"] = []
_loaded: list[Any] = []
"""Numba's own decorator, once numba is loaded."""


@overload
def njit(function: Function) -> Function: ...
@overload
def njit(**options: Any) -> Callable[[Function], Function]: ...
def njit(function: Any = None, **options: Any) -> Any:
    """Let numba compile a function when it is first called, and keep what comes of it."""
    if function is None:
        return partial(njit, **options)
    _all.add(function)
    if not _loaded:
        return _Later(function, options)
    # By IEEE 754 what is divided by zero is infinite. Python's model, which raises an error, has a
    # branch at every division, and no loop with one becomes vector code.
    return _loaded[0](**options, cache=True, error_model="numpy")(function)


@final
class _Later:
    """A function to be compiled, while numba is not loaded."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.function, self.options = function, options
        self.compiled: Any = None
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        _waiting.append(self)

    def __call__(self, *values: Any) -> Any:
        return self.load()(*values)

    def load(self) -> Any:
        """Return numba's function."""
        if self.compiled is None:
            _load()
        return self.compiled

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where somebody's compiled function calls it."""
        return self.load()._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copying and pickling look for what is not there
            raise AttributeError(name)
        return getattr(self.load(), name)


def _load() -> None:
    """Load numba, and put its functions in the place of those that waited for it."""
    ensure()
    import numba

    if not _loaded:
        _loaded.append(numba.njit)
    for later in _waiting:
        later.compiled = njit(later.function, **later.options)
    _waiting.clear()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "olive_iw":
            for key, value in list(vars(module).items()):
                if isinstance(value, _Later):
                    setattr(module, key, value.compiled)


def count() -> int:
    """Return how many functions there are to compile, of the modules that are loaded."""
    return len(_all)


@contextmanager
def telling(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell the name of every function of ours that numba begins to compile meanwhile."""
    _load()
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if function in _all:
                tell(function.__name__)

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


def ensure() -> None:
    """Let numba use a private temporary folder if nothing else can be written; before its import.

    A user's own setting of the variable stays.
    """
    if VARIABLE not in os.environ and not any(map(_is_writable, _places_of_numba())):
        os.environ[VARIABLE] = str(_private_folder())


def _places_of_numba() -> list[Path]:
    package = Path(__file__).parent / "__pycache__"
    try:
        users = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # nobody's home
        return [package]
    return [package, users]


def _is_writable(folder: Path, mode: int = 0o777) -> bool:
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
        # Permissions do not tell: the disk may be read-only.
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _private_folder() -> Path:
    """Return a folder of this user alone, the same one every time if nobody else took its name.

    What lies in it is run as code, so it must be nobody else's.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"olive-iw-{user}"
    if _is_writable(folder, mode=0o700):
        found = folder.lstat()  # of a link, not of what it leads to
        mine = found.st_uid == user and not found.st_mode & 0o077
        if stat.S_ISDIR(found.st_mode) and (mine or os.name == "nt"):
            return folder
    other = Path(tempfile.mkdtemp(prefix="olive-iw-"))
    atexit.register(shutil.rmtree, other, ignore_errors=True)
    return other
