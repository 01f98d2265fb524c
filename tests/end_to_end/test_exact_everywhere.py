"""Same seed, same weights and actions: whatever kind of processor code is compiled and chosen for.

Processors are made believe: numba compiles for another one, numpy, OpenBLAS and the C library
choose other code, and texts have other hashes. The results are those in `golden_play.json`, made by

    python tests/end_to_end/test_exact_everywhere.py
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).with_name("exact_play.py")
GOLDEN = Path(__file__).with_name("golden_play.json")
SMALL, LARGE = ("breakout", "500", "30"), ("seaquest", "3000", "60")
ON_X86 = platform.machine() in ("x86_64", "AMD64")


def of_numpy() -> str:
    """Name all faster code of numpy's that this machine could use."""
    core = np._core._multiarray_umath
    return ",".join(name for name in core.__cpu_dispatch__ if core.__cpu_features__[name])


OLD = {
    "NUMBA_CPU_NAME": "generic",
    "PYTHONHASHSEED": "1",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": of_numpy(),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL,-AVX512DQ",
}
PROCESSORS = {
    "this one": {},
    "generic": OLD,
    "nehalem": {
        **OLD,
        **{"NUMBA_CPU_NAME": "nehalem", "OPENBLAS_CORETYPE": "Haswell", "PYTHONHASHSEED": "2"},
    },
    "haswell": {"NUMBA_CPU_NAME": "haswell", "OPENBLAS_CORETYPE": "Nehalem"},
}


def played(what: tuple[str, ...], processor: dict[str, str], cache: Path) -> dict[str, object]:
    command = [sys.executable, str(PROGRAM), *what]
    environment = {**os.environ, **processor, "OMP_NUM_THREADS": "1"}
    if processor:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    ("what", "name"),
    [
        *((SMALL, name) for name in PROCESSORS),
        *(pytest.param(LARGE, name, marks=pytest.mark.slow) for name in PROCESSORS),
    ],
    ids=lambda it: it[0] if isinstance(it, tuple) else it,
)
def test_a_seed_gives_one_game_on_every_processor(
    what: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    if name != "this one" and not ON_X86:
        pytest.skip("these are names of x86 processors")
    expected = json.loads(GOLDEN.read_text())[" ".join(what)]
    assert played(what, PROCESSORS[name], tmp_path) == expected


if __name__ == "__main__":
    made = {" ".join(what): played(what, {}, Path()) for what in (SMALL, LARGE)}
    GOLDEN.write_text(json.dumps(made) + "\n")
