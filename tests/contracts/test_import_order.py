"""A module imports only from the stages above its own (the flow from screen to report)."""

import ast
from pathlib import Path

import pytest

import olive_iw

ROOT = Path(olive_iw.__file__).parent
ANYWHERE = {
    *(
        "arithmetic",
        "compiled",
        "errors",
        "files",
        "processes",
        "randomness",
        "reading",
        "registry",
    ),
    *("settings", "tables"),
}
ORDER = [
    "simulators",
    "features",
    "novelty",
    "bandits",
    "search",
    "rules",
    "planners",
    "policy",
    "agents",
    "algorithms",
    "stats",
    "runs",
    "sweeps",
    "reports",
    "viewer",
    "cli",
]
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in ORDER)


def stage(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_stages(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    own = (name.split(".") for name in names if name.startswith("olive_iw."))
    return {parts[1] for parts in own}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_from_above(path: Path) -> None:
    if stage(path) in {"cli"}:
        return
    if stage(path) in ANYWHERE:
        allowed = ANYWHERE
    else:
        allowed = ANYWHERE | set(ORDER[: ORDER.index(stage(path)) + 1])
    assert imported_stages(path) <= allowed


def test_every_folder_is_in_the_order() -> None:
    folders = {path.parent.relative_to(ROOT).parts[0] for path in ROOT.glob("*/__init__.py")}
    assert folders <= set(ORDER)
