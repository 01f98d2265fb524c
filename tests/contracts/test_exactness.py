"""What decides is computed in an order that the source fixes (docs/fidelity.md).

The C library's, numpy's and BLAS's exponentials, sums and products differ between processors in
their last digit; `olive_iw.arithmetic` has some that do not.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import olive_iw

ROOT = Path(olive_iw.__file__).parent
ROOMS = ("simulators", "features", "novelty", "bandits", "search", "rules", "planners", "agents")
FOR_ALL = ("arithmetic.py", "compiled.py", "randomness.py")
MODULES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
MODULES += [ROOT / name for name in FOR_ALL]
OF_TORCH = {"paper.py", "paper_loss.py", "paper_modules.py", "paper_planning.py", "guided.py"}
"""What is exact on one kind of processor only, as is said."""
LIBRARIES: dict[str, set[str]] = {
    "numpy": {
        # Types, and what makes, moves, chooses, orders or compares numbers as they are.
        *("bool_", "float32", "float64", "int32", "int64", "uint8", "uint32", "uint64"),
        *("floating", "generic", "integer", "ndarray", "iinfo", "inf", "nan", "newaxis"),
        *("append", "array", "asarray", "ascontiguousarray", "concatenate", "delete", "empty"),
        *("empty_like", "frombuffer", "full", "full_like", "indices", "moveaxis", "ndim"),
        *("ndindex", "ones", "pad", "repeat", "resize", "save", "shape", "size", "stack"),
        *("take", "unpackbits", "where", "zeros", "zeros_like", "lib.format.open_memmap"),
        *("array_equal", "clip", "flatnonzero", "isfinite", "isinf", "isnan", "nan_to_num"),
        *("nonzero", "maximum", "maximum.at", "minimum", "nanmax", "argmin", "argsort", "lexsort"),
        *("searchsorted", "sort"),
        *("random.Generator", "random.SeedSequence", "random.default_rng"),
        # One operation on each number, rounded as IEEE 754 says, or sums from first to last.
        *("abs", "arange", "diff", "floor", "ptp", "sqrt", "bincount", "count_nonzero", "cumsum"),
    },
    # A sum of `fsum` is right to the last digit, in whatever order.
    "math": {"ceil", "floor", "frexp", "fsum", "gcd", "inf", "isnan", "isqrt", "nan", "sqrt"},
    **{name: set() for name in ("cmath", "numba", "random", "scipy", "statistics", "torch")},
}
"""What may be asked of libraries: it comes out the same everywhere. Whoever needs more thinks, and
adds it, or the place to those below."""
METHODS = {
    *("dot", "sum", "mean", "std", "var", "trace", "prod", "cumprod", "argpartition"),
    *("normal", "standard_normal", "multivariate_normal", "lognormal", "laplace", "logistic"),
    *("exponential", "standard_exponential", "gamma", "standard_gamma", "beta", "chisquare"),
    *("binomial", "dirichlet", "geometric", "gumbel", "poisson", "triangular", "vonmises"),
}
"""Of arrays, which add up in an order of their own; of generators, which ask the C library."""
EXACT = {
    "features/image.py: @": "whole numbers",
    "simulators/observations.py: @": "whole numbers",
    "simulators/actions.py: prod": "whole numbers",
    "rules/grain.py: log": "a constant, of which the last digit decides nothing",
    "planners/two_queues.py: prod": "of Python's floats, one after the other",
    "agents/episode.py: sum": "a score, and calls",
    "agents/learner.py: sum": "whole numbers",
    "bandits/rules.py: sum": "whole numbers",
    "features/bprost.py: sum": "whole numbers",
    "features/vae/encoder.py: **": "whole numbers",
    "features/vae/laptop.py: **": "whole numbers",
    "features/vae/laptop.py: sum": "whole numbers",
    "features/vae/neighbourhoods.py: **": "whole numbers",
    "features/vae/neighbourhoods.py: sum": "whole numbers",
    "rules/outlook.py: sum": "whole numbers",
    "bandits/check.py: normal": "a check",
    "bandits/check.py: gamma": "a check",
    "compiled.py: **": "hands functions on, with the options that they name",
    "compiled.py: numba": "hands functions on, with the options that they name",
    "features/vae/devices.py: torch": "the profile paper's",
    "features/vae/neighbourhoods.py: fastmath": "the profile paper's",
}
"""Places that look alike and do no harm, and why."""


def suspects(tree: ast.AST) -> Iterator[str]:
    """Name what is used in a module whose last digit is not the same everywhere."""
    for asked in asked_of_libraries(tree):
        library, _, what = asked.partition(".")
        known = LIBRARIES.get(library)
        if known is not None and what not in known:
            yield what if known else library
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield "@"
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Pow):
            yield "**"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            if not (isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)):
                yield "**"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("sum", "pow", "hash"):  # sum: Python 3.12 adds floats otherwise
                yield node.func.id
            elif node.func.id == "njit":
                yield from {it.arg or "**" for it in node.keywords} - {"inline"}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in METHODS:
                yield node.func.attr
            elif node.func.attr == "argsort" and "kind" not in {it.arg for it in node.keywords}:
                yield "argsort"  # which of two equals comes first


def asked_of_libraries(tree: ast.AST) -> Iterator[str]:
    """Name all that a module takes from others, as `numpy.random.default_rng`."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                library = alias.name.partition(".")[0]
                modules[alias.asname or library] = alias.name if alias.asname else library
                if not LIBRARIES.get(library, True):
                    yield library
        elif isinstance(node, ast.ImportFrom) and node.module != "numpy.typing":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    inner = {node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in inner:
            name, _, rest = ast.unparse(node).partition(".")
            if name in modules and re.fullmatch(r"[\w.]+", rest):
                yield f"{modules[name]}.{rest}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_that_decides_depends_on_the_processor(path: Path) -> None:
    if path.name not in OF_TORCH:
        name = path.relative_to(ROOT).as_posix()
        found = {f"{name}: {what}" for what in suspects(ast.parse(path.read_text("utf-8")))}
        assert found <= EXACT.keys()


def test_every_exception_is_one() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {what}"
        for path in MODULES
        for what in suspects(ast.parse(path.read_text("utf-8")))
    }
    assert found >= EXACT.keys()


ROUNDED_ANYHOW = """
np.exp(x); np.linalg.norm(x); np.add.reduce(x); np.convolve(x, y); np.hypot(x, y); linear.inv(x)
np.random.normal(); generator.laplace(); math.exp(x); map(math.log, x); import scipy.special
from math import tanh; from numpy.linalg import norm; from numpy import dot as add
from statistics import fmean; x @ y; x @= y; x ** 2; x **= 2; 2.0 ** x; pow(x, y)
sum(x); x.sum(); x.dot(y); x.argsort(); njit(parallel=True); njit(fastmath=True); njit(**options)
"""
THE_SAME_EVERYWHERE = """
np.sqrt(x).max(); np.random.default_rng(0); np.argsort(x, kind='stable'); x.cumsum(); 2 ** 20
np.zeros(3).view(np.uint8); math.fsum(x); exp(x) * x / y; njit(inline="always")
"""


def named(line: str) -> list[str]:
    imports = "import math\nimport numpy as np\nimport numpy.linalg as linear\n"
    return list(suspects(ast.parse(imports + line)))


@pytest.mark.parametrize("line", re.findall(r"[^;\n]+", ROUNDED_ANYHOW), ids=str.strip)
def test_what_is_rounded_anyhow_is_noticed(line: str) -> None:
    assert named(line.strip())


@pytest.mark.parametrize("line", re.findall(r"[^;\n]+", THE_SAME_EVERYWHERE), ids=str.strip)
def test_what_is_the_same_everywhere_is_let_alone(line: str) -> None:
    assert not named(line.strip())
