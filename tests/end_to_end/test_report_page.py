"""The whole way from run folders to tables, plots and a page, seen in a real browser too.

The golden file is rewritten by: OLIVE_WRITE_GOLDEN=1 pytest tests/end_to_end/test_report_page.py
"""

import json
import os
import re
import shutil
from datetime import datetime
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote

import pytest

from olive_iw import reports
from olive_iw.errors import InputError

GOLDEN = Path(__file__).with_name("test_report_page_golden.html")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
BROWSER_PATIENCE = 120_000
"""Milliseconds."""


def write_run(root, game, algorithm, seed, scores, *, training=(), **budget):
    identity = {"game": game, "algorithm": algorithm, "profile": "laptop", "seed": seed}
    folder = root / game.replace(":", "-") / f"{algorithm}-laptop" / f"seed-{seed}"
    (folder / "episodes").mkdir(parents=True)
    for phase, values in (("evaluation", scores), ("training", training)):
        for number, score in enumerate(values):
            episode = {
                "format": 1,
                **identity,
                "phase": phase,
                "episode": number,
                "frame_skip": 15,
                "simulator_options": {},
                "actions": [0],
                "rewards": [float(score)],
                "score": float(score),
                "calls": 100,
                "seconds": 0.25,
                "rollouts": number,
                "versions": {},
            }
            path = folder / "episodes" / f"{phase}-{number:04}.json"
            path.write_text(json.dumps(episode))
    result = {
        "format": 1,
        **identity,
        "scores": [float(score) for score in scores],
        "training_calls": 1000,
        "calls_per_action": 100,
        "max_actions": 200,
        "seconds_per_action": 0.25,
        "versions": {},
        **budget,
    }
    (folder / "result.json").write_text(json.dumps(result))
    return folder


def write_runs(root):
    write_run(root, "breakout", "rollout-iw", 0, [5, 6, 7, 6], training_calls=0)
    write_run(root, "breakout", "olive", 0, [50, 60, 70, 55], training=[1, 5, 30])
    write_run(root, "breakout", "olive", 1, [65, 45, 80, 75], training=[2, 9, 25])
    write_run(root, "qbert", "olive", 0, [6000, 7250, 500])
    write_run(root, "grid:key-door", "rollout-iw", 0, [1, 1], training_calls=0)
    return root


@pytest.fixture
def runs(tmp_path):
    return write_runs(tmp_path / "runs")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """One report with everything, for tests that only look at it."""
    folder = tmp_path_factory.mktemp("report")
    runs = write_runs(folder / "runs")
    return reports.report([runs], html=folder / "site" / "report.html", plots=folder / "plots")


@pytest.fixture
def page(written):
    return written.written[0]


def without_drawings(text):
    """What a golden file can hold: no drawings (they change with matplotlib), styles or dates."""
    for tag in ("svg", "style", "script", "footer"):
        text = re.sub(rf"<{tag}\b.*?</{tag}>", f"<{tag}></{tag}>", text, flags=re.DOTALL)
    return text


def test_the_page_is_the_golden_one(page):
    found = without_drawings(page.read_text())
    if os.environ.get("OLIVE_WRITE_GOLDEN"):
        GOLDEN.write_text(found)
    assert found == GOLDEN.read_text()


class Reader(HTMLParser):
    """Collects ids and links, and complains of tags that do not match."""

    void = frozenset({"meta", "link", "br", "wbr", "path", "use", "rect"})

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [value for key, value in attributes if key in ("href", "src", "xlink:href")]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.void:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.void:
            assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_else(page):
    reader = Reader()
    reader.feed(page.read_text())
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    inside = {link[1:] for link in reader.links if link.startswith("#")}
    assert inside <= set(reader.ids)
    outside = [link for link in reader.links if not link.startswith(("#", "data:"))]
    assert len(outside) == 17  # evaluation episodes, no other address
    assert all((page.parent / unquote(link)).is_file() for link in outside)


@pytest.mark.skipif(
    BROWSER is None, reason="no browser: apt-get install chromium to test the page in one"
)
def test_the_page_works_in_a_browser(page):
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="pip install playwright to test the page in a browser"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=BROWSER, args=list(FLAGS), timeout=BROWSER_PATIENCE
        )
        try:
            check_in_browser(browser, page)
        finally:
            browser.close()


def check_in_browser(browser, page):
    complaints, requests = [], []
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.set_default_timeout(BROWSER_PATIENCE)
    tab = context.new_page()
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(page.as_uri())
    assert complaints == []
    assert requests == [page.as_uri()]

    def games():
        return tab.eval_on_selector_all(
            "#scores tbody tr > :first-child", "cells => cells.map(cell => cell.textContent)"
        )

    def click(column):
        tab.click(f"#scores thead button:text-is('{column}')")

    assert games() == ["Breakout", "grid:key-door", "Qbert"]
    click("olive")  # numbers: the greatest first, a missing one last
    assert games() == ["Qbert", "Breakout", "grid:key-door"]
    click("olive")
    assert games() == ["Breakout", "Qbert", "grid:key-door"]
    click("rollout-iw")
    assert games() == ["Breakout", "grid:key-door", "Qbert"]
    click("game")
    click("game")
    assert games() == ["Qbert", "grid:key-door", "Breakout"]
    assert tab.get_attribute("#scores thead th:first-child", "aria-sort") == "descending"

    light = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != light
    tab.set_viewport_size({"width": 390, "height": 844})
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    plots = "[...document.querySelectorAll('figure .scroll')]"
    cut = tab.evaluate(f"{plots}.filter(box => box.scrollWidth > box.clientWidth).length")
    assert cut == 0  # plots have their panels below each other
    shown = "[...document.querySelectorAll('#scores figure .scroll')].map(b => b.clientWidth > 0)"
    assert tab.evaluate(shown) == [False, True]
    widest = "Math.max(...[...document.querySelectorAll('.scroll')].map(box => box.scrollWidth))"
    assert tab.evaluate(widest) > 390  # wide tables scroll in their own box
    assert complaints == []
    context.close()


def test_the_foot_says_when_with_what_and_how(runs, tmp_path):
    page = tmp_path / "my report.html"
    reports.report([runs], html=page, significance=0.1)
    foot = page.read_text().split("<footer>")[1]
    assert str(datetime.now().astimezone().year) in foot
    assert f"olive-iw {version('olive-iw')}" in foot
    assert f"<pre>olive-iw report {runs} --html &#39;{page}&#39; --significance 0.1</pre>" in foot
    assert f"<pre>olive-iw verify {runs}</pre>" in foot


def test_one_episode_of_one_run_is_told_in_the_singular_and_not_plotted(tmp_path):
    write_run(tmp_path / "runs", "breakout", "olive", 0, [50])
    report = reports.report([tmp_path / "runs"], html=tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "1 run, 1 episode;" in text
    assert "<summary>olive: 1 episode</summary>" in text
    assert 'aria-label="Plot: scores"' in text  # the paper's stands beside it
    for absent in ("aggregates", "profiles", "wins"):
        assert f'aria-label="Plot: {absent}"' not in text
    assert "No plot: there is one run of each game" in text
    assert "No plot: there is a single run." in text
    assert "[" not in report.tables[1].rows[0][1].text  # an aggregate without an interval


def test_a_game_named_by_a_stranger_is_text(tmp_path):
    game = "grid:$x_$<b>&{"
    folder = tmp_path / "runs"
    for seed in range(2):
        write_run(folder, game, "olive", seed, [1, 2], training=[1, 2])
        write_run(folder, game, "$\\frac$", seed, [1, 2])
    page = tmp_path / "report.html"
    done = reports.report([folder], html=page, plots=tmp_path / "plots")
    assert len(done.written) > 4
    assert "<b>" not in without_drawings(page.read_text())
    Reader().feed(page.read_text())


def test_text_markdown_and_latex(runs):
    text = reports.report([runs]).text
    assert "Scores: mean ± standard error (episodes)" in text
    assert "62.5 ± 4.33 (8)" in text
    markdown = reports.report([runs], markdown=True).text
    assert "| Breakout | 6 ± 0.41 (4) | **62.5 ± 4.33 (8)** |" in markdown
    latex = reports.report([runs], latex=True).text
    assert r"Breakout & 6 $\pm$ 0.41 (4) & \textbf{62.5 $\pm$ 4.33 (8)}" in latex


def test_plots_are_written(written):
    assert {path.suffix for path in written.written[1:]} == {".pdf", ".png", ".svg"}
    assert "scores.svg" in [path.name for path in written.written]
    assert all(path.stat().st_size > 1000 for path in written.written)


def test_a_damaged_run_is_told_and_the_rest_reported(runs, tmp_path):
    torn = runs / "qbert" / "olive-laptop" / "seed-0" / "episodes" / "evaluation-0001.json"
    torn.write_text("{")
    report = reports.report([runs / "qbert"], html=tmp_path / "report.html")
    assert any("evaluation-0001.json: cannot be read" in line for line in report.warnings)
    assert "Qbert" in report.text
    assert "evaluation-0001.json: cannot be read" in (tmp_path / "report.html").read_text()


def test_mixed_budgets_are_refused_unless_told(runs):
    write_run(runs, "qbert", "olive", 7, [1, 2], calls_per_action=10)
    with pytest.raises(InputError, match="different calls per action"):
        reports.report([runs])
    report = reports.report([runs], mix_budgets=True)
    assert [system.label for system in report.systems][1:] == [
        "olive [10 calls/action]",
        "olive [100 calls/action]",
    ]


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="no evaluation episode found"):
        reports.report([tmp_path])


def test_functions_of_the_package_stay_callable(runs, tmp_path):
    # A submodule of the same name would hide a function once it is imported.
    for _ in range(2):
        (comparison, _) = reports.compare(runs, "n-cpl")
        assert comparison.games[0].game == "breakout"
        with pytest.raises(InputError):
            reports.verify(tmp_path / "nothing")
        for write in (reports.video, reports.gif):
            with pytest.raises(InputError, match="must end in"):
                write(tmp_path / "episode.json", tmp_path / "film.txt")
