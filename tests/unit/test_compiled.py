"""Where compiled code is kept when neither the package nor the user's home can be written."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import olive_iw
from olive_iw import compiled

SCRIPT = "import os, olive_iw\nprint(olive_iw.__file__)\nprint(os.environ.get('NUMBA_CACHE_DIR'))\n"
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def obey_permissions():
    """Let a process of root's be bound by what files permit, as everybody else is."""
    if os.getuid() == 0 and ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) != 0:
        os._exit(77)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="root has no limits elsewhere")
def test_a_read_only_package_and_home_do_not_keep_it_from_starting(tmp_path):
    package = tmp_path / "package"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(olive_iw.__file__).parent, package / "olive_iw", ignore=ignored)
    (tmp_path / "home").mkdir()
    (tmp_path / "temporary").mkdir()
    for folder in (tmp_path / "home", *(path for path in package.rglob("*") if path.is_dir())):
        folder.chmod(0o555)
    environment = {name: value for name, value in os.environ.items() if "CACHE" not in name}
    environment |= {
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "temporary"),
        "PYTHONPATH": str(package),
    }
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment,
        preexec_fn=obey_permissions,
        capture_output=True,
        text=True,
        check=False,
    )
    for folder in (path for path in package.rglob("*") if path.is_dir()):
        folder.chmod(0o755)
    if ran.returncode == 77:
        pytest.skip("root cannot be bound by permissions here")
    assert ran.returncode == 0, ran.stderr
    imported, cache = map(Path, ran.stdout.split())
    assert imported.is_relative_to(package)
    assert cache == tmp_path / "temporary" / f"olive-iw-{os.getuid()}"
    assert cache.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No place of numba's can be written; `tmp_path` is the folder of temporary files."""
    monkeypatch.delenv(compiled.VARIABLE, raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setattr(compiled, "_places_of_numba", lambda: [tmp_path / "file" / "folder"])
    monkeypatch.setattr(compiled.tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"olive-iw-{os.getuid()}"


def chosen():
    compiled.ensure()
    return Path(os.environ[compiled.VARIABLE])


def test_the_folder_is_used_again_and_a_users_own_setting_stays(nowhere, monkeypatch):
    assert chosen() == nowhere
    monkeypatch.delenv(compiled.VARIABLE)
    assert chosen() == nowhere
    monkeypatch.setenv(compiled.VARIABLE, "elsewhere")
    assert chosen() == Path("elsewhere")


@pytest.mark.parametrize("squatter", ["open to others", "a link", "a file"])
def test_a_folder_that_others_could_write_is_not_used(nowhere, tmp_path, squatter):
    if squatter == "open to others":
        nowhere.mkdir()
        nowhere.chmod(0o777)
    elif squatter == "a link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        nowhere.symlink_to(tmp_path / "theirs")
    else:
        nowhere.touch()
    found = chosen()
    assert found not in (nowhere, tmp_path / "theirs")
    assert found.stat().st_mode & 0o777 == 0o700


def test_nothing_is_set_where_numba_can_write(tmp_path, monkeypatch):
    monkeypatch.delenv(compiled.VARIABLE, raising=False)
    monkeypatch.setattr(compiled, "_places_of_numba", lambda: [tmp_path])
    compiled.ensure()
    assert compiled.VARIABLE not in os.environ
