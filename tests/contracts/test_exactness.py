"""What decides is computed in an order that the source fixes (docs/fidelity.md).

The C library's, numpy's and BLAS's exponentials, sums and products differ between processors in
their last digit; `olive_iw.arithmetic` has some that do not.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import olive_iw

ROOT = Path(olive_iw.__file__).parent
ROOMS = ("simulators", "features", "novelty", "bandits", "search", "rules", "planners", "agents")
MODULES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
OF_TORCH = {"paper.py", "paper_loss.py", "paper_modules.py", "paper_planning.py", "guided.py"}
"""What is exact on one kind of processor only, as is said."""
ROUNDED = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "power", "float_power"),
    *("sin", "cos", "tan", "tanh", "dot", "vdot", "matmul", "inner", "einsum", "linalg"),
    *("sum", "nansum", "geomspace", "logspace", "argpartition"),
    *("mean", "average", "std", "var", "median", "quantile", "percentile", "cumprod", "prod"),
    *("standard_normal", "normal", "standard_exponential", "exponential", "gamma", "chisquare"),
}
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
    "features/vae/laptop.py: sum": "whole numbers",
    "features/vae/neighbourhoods.py: sum": "whole numbers",
    "planners/rollout_iw.py: sum": "whole numbers",
    "rules/outlook.py: sum": "whole numbers",
    "bandits/check.py: normal": "a check",
    "bandits/check.py: gamma": "a check",
    "features/vae/neighbourhoods.py: fastmath": "the profile paper's",
}
"""Places that look alike and do no harm, and why."""


def suspects(path: Path) -> Iterator[str]:
    """Name what is used in a module whose last digit is not the same everywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield "@"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            if not (isinstance(node.right, ast.Constant) and isinstance(node.right.value, int)):
                yield "**"
        elif isinstance(node, ast.ImportFrom) and node.module in ("math", "numpy", "statistics"):
            yield from ({alias.name for alias in node.names} & ROUNDED)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("sum", "pow", "hash"):  # sum: Python 3.12 adds floats otherwise
                yield node.func.id
        elif isinstance(node, ast.keyword) and node.arg == "fastmath":
            yield "fastmath"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ROUNDED:
                yield node.func.attr
            elif node.func.attr == "argsort" and "kind" not in {it.arg for it in node.keywords}:
                yield "argsort"  # which of two equals comes first


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_that_decides_depends_on_the_processor(path: Path) -> None:
    if path.name not in OF_TORCH:
        name = path.relative_to(ROOT).as_posix()
        found = {f"{name}: {what}" for what in suspects(path)}
        assert found <= EXACT.keys()


def test_every_exception_is_one() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {what}"
        for path in MODULES
        for what in suspects(path)
    }
    assert found >= EXACT.keys()
