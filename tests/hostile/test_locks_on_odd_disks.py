"""A lock is held if the operating system says so, and not if it says anything else."""

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from strangers import Said

from olive_iw.runs import lock
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.lock import BusyError, is_locked, locked


def refuse(number: int) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return call


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOLCK, errno.EBADF, errno.EIO])
def test_a_disk_that_cannot_lock_has_no_running_run(
    number: int, bad: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Said]
) -> None:
    (bad / "result.json").unlink()
    (bad / "lock").write_text("process 1 on nowhere")
    monkeypatch.setattr(fcntl, "flock", refuse(number))
    assert not is_locked(bad / "lock")
    assert RunFolder(bad).state == "stopped"
    assert "1 stopped" in command("status", bad).out
    with pytest.raises(OSError, match=os.strerror(number)), locked(bad / "lock"):
        pass


@pytest.mark.parametrize("number", [errno.EWOULDBLOCK, errno.EACCES])
def test_a_lock_that_somebody_has(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    path.write_text("process 7\x1b[31m on a host")
    monkeypatch.setattr(fcntl, "flock", refuse(number))
    monkeypatch.setattr(lock, "PATIENCE", 0.0)
    assert is_locked(path)
    with pytest.raises(BusyError, match="by process 7�") as error, locked(path):
        pass
    assert "\x1b" not in str(error.value)


def test_looking_needs_no_right_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    path.touch()
    opened, system_open = [], os.open

    def note(name: Any, flags: int, *more: Any) -> int:
        opened.append(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        return system_open(name, flags, *more)

    monkeypatch.setattr(os, "open", note)
    with locked(path):
        opened.clear()
        assert is_locked(path)
    assert not is_locked(path)
    assert opened == [0, 0]


def test_looking_at_the_same_time_disturbs_nobody(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # another who only looks
        assert not is_locked(path)
