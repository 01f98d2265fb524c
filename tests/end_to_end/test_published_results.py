"""What is published in `results/` proves itself, and the page of results is made from it."""

import re
from pathlib import Path

from olive_iw.randomness import generator
from results_page import IMAGES, page_text, read_evidence
from results_page.page import SWEEPS
from results_page.pictures import make_pictures
from olive_iw.runs.compact import PROTOCOLS
from olive_iw.runs.folder import find_runs
from olive_iw.runs.verification import verify_episode
from olive_iw.sweeps.file import read_sweep

ROOT = Path(__file__).parents[2]
RESULTS, PAGE = ROOT / "results" / "five-minute", ROOT / "docs" / "results.md"
SAMPLE = 6
"""Runs of which an episode is replayed here; `make results` replays all."""
LARGEST = 20_000_000
REBUILD = "results/ and docs/results.md do not fit together: make results"


def test_the_page_is_what_the_data_give() -> None:
    evidence = read_evidence(RESULTS)
    made = make_pictures(evidence)
    pictures = sorted((PAGE.parent / IMAGES).glob("results-*.svg"))
    assert {path.stem for path in pictures} == made.keys(), REBUILD
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        assert f"<!-- evidence {evidence.digest} -->" in text, REBUILD
    assert PAGE.read_text(encoding="utf-8") == page_text(evidence, made), REBUILD


def test_the_readme_says_what_the_page_says() -> None:
    page, readme = PAGE.read_text(encoding="utf-8"), (ROOT / "README.md").read_text("utf-8")
    counts = dict(
        re.findall(r"against (Olive \(paper\)|patch-iw) (\d+ of \d+ and \d+ of \d+)", page)
    )
    told = re.search(r"`olive-plus` has the higher mean in .*; the numbers behind it", readme)
    assert told is not None
    found = re.findall(r"\d+ of \d+", told.group())
    wanted = f"{counts['Olive (paper)']} and {counts['patch-iw']}".split(" and ")
    assert found == wanted, "bring the sentence below the README's pictures up to date"
    behind = re.search(r"behind in (\d+) of \d+ games \(.*?\)\. In (\d+) of these", page)
    assert behind is not None
    assert (
        f"in {behind[2]} of the {behind[1]} games of the picture in which it is behind"
        in told.group()
    )
    olive = re.search(r"`olive` scores (higher than `rollout-iw` .* games), (lower in \d+)", page)
    assert olive is not None
    assert f"is {olive[1]} and {olive[2]}" in readme


def test_a_sample_replays_to_the_published_scores() -> None:
    runs = list(find_runs(RESULTS))
    assert runs
    chosen = generator(0).permutation(len(runs))[:SAMPLE]
    for run in (runs[place] for place in chosen):
        names = list(run.episode_files())
        found = verify_episode(run.episode_files()[names[0]])
        assert found.confirmed, found.message
        assert names[0] == "evaluation-0000"


def test_the_sweep_behind_the_page_is_of_its_protocol() -> None:
    jobs, protocol = read_sweep(ROOT / "sweeps" / "five-minute.toml"), PROTOCOLS["five-minute"]
    assert len(jobs) == 4 * 55
    for job in jobs:
        config, options = job.config, job.config.spec.options
        assert (config.max_actions, config.episodes) == (protocol.max_actions, 1)
        assert config.training_calls == protocol.training_calls
        assert options.calls_per_action == protocol.calls_per_action
        assert options.search_workers == 1
        assert config.spec.variant == "", "the algorithms' own settings"


def test_every_published_run_is_one_that_the_page_has_a_command_for() -> None:
    asked: dict[Path, int] = {}
    for name in SWEEPS:
        for job in read_sweep(ROOT / "sweeps" / f"{name}.toml", RESULTS):
            asked[job.folder] = max(asked.get(job.folder, 0), job.config.episodes)
    for run in find_runs(RESULTS):
        assert len(run.episode_files("evaluation")) == asked[run.path], run


def test_results_are_small_enough_for_a_repository() -> None:
    size = sum(path.stat().st_size for path in (ROOT / "results").rglob("*") if path.is_file())
    assert size < LARGEST
