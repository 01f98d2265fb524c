"""A place for compiled code, where numba would find none: without one it does not even start.

Numba keeps what it compiled beside the modules, or in the user's cache; on some machines both are
read-only.
"""

import atexit
import os
import shutil
import stat
import tempfile
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"
"""Read by numba when it is imported; child processes inherit it."""


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
