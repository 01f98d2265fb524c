"""The notebook runs from top to bottom, and shows what it promises."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_hour.ipynb"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's client
def test_it_runs_and_shows_pictures_and_scores(tmp_path: Path) -> None:
    book = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells)  # it is kept without
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(book, timeout=300, resources=place).execute()
    shown = [output for cell in book.cells for output in cell.get("outputs", ())]
    text = "".join(output.get("text", "") for output in shown)
    for words in ("<- chosen", "a tree of", "screens, loss", "bits are true", "scores [1.0, 1.0]"):
        assert words in text
    assert text.count("confirmed") == 2
    assert sum("image/png" in output.get("data", ()) for output in shown) == 2
    assert not any(output.get("name") == "stderr" for output in shown)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wheel", [None, "olive_iw-0.2.0-py3-none-any.whl"])
def test_its_first_cell_installs_where_nothing_is(
    wheel: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = next(it for it in nbformat.read(NOTEBOOK, as_version=4).cells if it.cell_type == "code")
    monkeypatch.chdir(tmp_path)
    done: list[list[str]] = []
    monkeypatch.setattr("subprocess.run", lambda command, check: done.append(command))
    exec(cell.source, {})
    assert done == []
    if wheel:
        (tmp_path / wheel).touch()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    exec(cell.source, {})
    assert [command[-3:] for command in done] == [["install", "--quiet", wheel or "olive-iw"]]
