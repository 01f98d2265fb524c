"""What the README and the documents show works: snippets run, commands and sweep files parse.

A block that cannot be run in a test has a comment before it that says why, for example
`<!-- not run: needs hours -->`.
"""

import functools
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from olive_iw.algorithms import ALGORITHMS
from olive_iw.cli import main as command_line
from olive_iw.cli.arguments import Command
from olive_iw.errors import AdviceWarning
from olive_iw.simulators import make_simulator
from olive_iw.sweeps.file import parse_sweep, read_sweep

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^(?: {4}.*\n)+", re.MULTILINE)
NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\s*\Z")
MAY_BE_LEFT_OUT = 3


@dataclass(frozen=True)
class Block:
    """Code in a page."""

    page: Path
    line: int
    language: str
    text: str
    left_out: bool

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    found = [(match, match[1], match[2]) for match in FENCE.finditer(text)]
    prose = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text)
    for match, language, code in found:
        left_out = bool(NOT_RUN.search(text[: match.start()]))
        yield Block(page, text[: match.start()].count("\n") + 2, language, code, left_out)
    for match in INDENTED.finditer(prose):
        code = re.sub("^ {4}", "", match[0], flags=re.MULTILINE)
        yield Block(page, prose[: match.start()].count("\n") + 1, "", code, left_out=False)


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def commands_of(block: Block) -> Iterator[list[str]]:
    """Words of every `olive-iw` command in a block, without redirections."""
    for line in block.text.replace("\\\n", " ").splitlines():
        if re.match(r"\s*(\$ |[A-Z_]+=\S+ )*olive-iw\b", line):
            words = shlex.split(line, comments=True)
            words = words[words.index("olive-iw") + 1 :]
            ends = [place for place, word in enumerate(words) if word in ("|", ">", ">>", "&&")]
            yield words[: ends[0]] if ends else words


COMMANDS = [
    pytest.param(words, id=f"{block}-{'-'.join(words[:2])}".replace("/", "."))
    for block in BLOCKS
    if block.language in ("", "sh", "bash", "console")
    for words in commands_of(block)
]


@pytest.fixture
def twin(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], dict[str, Any]]:
    """Make the command line, but with commands that only note the arguments they were given."""
    given: dict[str, Any] = {}

    def recording(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def accept(*arguments: Any, **named: Any) -> None:
            given.update(named, first=arguments[0] if arguments else None)

        return accept

    load = command_line._load

    def twin_of(name: str, words: list[str]) -> Command:
        command = load(name, words)
        return replace(command, function=recording(command.function))

    monkeypatch.setattr(command_line, "_load", twin_of)

    def parse(words: list[str]) -> dict[str, Any]:
        given.clear()
        with pytest.raises(SystemExit) as stop:
            command_line.main(words)
        if stop.value.code:
            raise stop.value
        return given

    return parse


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_parse(words: list[str], twin: Callable[[list[str]], dict[str, Any]]) -> None:
    if words[0] in ("--version", "--help", "--completion"):
        return
    try:
        given = twin(words)
    except SystemExit as stop:
        pytest.fail(f"olive-iw {' '.join(words)}: exit code {stop.code}")
    if given.get("algorithm") is not None:
        assert given["algorithm"] in ALGORITHMS
    if words[0] == "run" and given["first"] not in ("GAME", ""):
        make_simulator(given["first"])
    if words[0] == "sweep" and given["first"].name != "FILE":
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "patch-iw has no option steps", AdviceWarning)
            assert read_sweep(ROOT / given["first"])


def test_commands_that_are_wrong_are_noticed(
    twin: Callable[[list[str]], dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    for wrong in (["rnu", "breakout"], ["verify"], ["run", "breakout", "--seeds", "1"]):
        with pytest.raises(SystemExit):
            twin(wrong)
    assert twin(["run", "pong", "--seed", "3"])["seed"] == 3
    assert "unknown option of olive '--seeds'; did you mean --seed" in capsys.readouterr().err


def test_every_command_is_shown_somewhere() -> None:
    shown = {words.values[0][0] for words in COMMANDS}  # type: ignore[index]
    assert {"run", "sweep", "status", "export", "report", "compare", "verify"} <= shown


@pytest.mark.parametrize(
    "block",
    [block for block in BLOCKS if block.language == "toml" and "games" in block.text],
    ids=str,
)
def test_sweep_files_parse(block: Block) -> None:
    assert parse_sweep(block.text)


def test_few_blocks_are_left_out() -> None:
    assert sum(block.left_out for block in BLOCKS) <= MAY_BE_LEFT_OUT


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a finished run, for pages whose snippets read the folder `runs`."""
    folder = tmp_path_factory.mktemp("finished")
    short = ("--episodes", "2", "--max-actions", "2", "--calls-per-action", "5", "--quiet")
    out = ("--out", str(folder / "runs"))
    with pytest.raises(SystemExit) as stop:
        command_line.main(["run", "breakout", "--algorithm", "rollout-iw", *short, *out])
    assert stop.value.code == 0
    return folder / "runs"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```python" in page.read_text()], ids=lambda page: page.name
)
def test_snippets_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: Path
) -> None:
    """Run the snippets of a page one after the other, as at one prompt."""
    monkeypatch.chdir(tmp_path)
    if page.name == "reports.md":
        (tmp_path / "runs").symlink_to(runs)
    module = ModuleType("snippets_of_" + page.stem)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in blocks_of(page):
        if block.language == "python" and not block.left_out:
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            exec(code, vars(module))


def test_the_estimates_of_the_cluster_page_are_what_its_snippet_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = ROOT / "docs" / "cluster.md"
    (block,) = (block for block in blocks_of(page) if block.language == "python")
    exec(compile(block.text, str(page), "exec"), {})
    printed = [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()]
    assert len(printed) == 6
    for figures in printed:
        assert f"| {figures} |" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_site_builds_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = [page.read_text(encoding="utf-8") for page in site.rglob("*.html")]
    assert len(pages) > len(PAGES)
    for page in pages:
        assert not re.search(r'<(script|img|iframe)[^>]* src="https?://', page)
        assert not re.search(r'<link[^>]* rel="(stylesheet|preconnect)"[^>]*https?://', page)
