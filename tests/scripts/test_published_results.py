"""What is published in `results/` proves itself, and the pages of results are made from it."""

import re
from pathlib import Path

import pytest

from olive_iw.randomness import generator
from olive_iw.runs.folder import find_runs
from olive_iw.runs.verification import verify_episode
from olive_iw.sweeps.file import read_sweep
from results_page import IMAGES, Evidence, page_texts, read_evidence
from results_page.copies import PROTOCOLS
from results_page.gather import DEVELOPED
from results_page.measures import mean_scores
from results_page.numbers import csv_files
from results_page.pages import SWEEPS
from results_page.pictures import make_pictures
from results_page.tables import question_pairs

ROOT = Path(__file__).parents[2]
RESULTS, DOCS = ROOT / "results" / "five-minute", ROOT / "docs"
SAMPLE = 6
"""Runs of which an episode is replayed here; `make results` replays all."""
LARGEST = 20_000_000
MOST_WORDS = 6_500
"""Of the three pages together: they answer, and the files of numbers have the rest."""
REBUILD = "results/ and docs/results*.md do not fit together: make results"


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return read_evidence(RESULTS)


def test_the_pages_are_what_the_data_give(evidence: Evidence) -> None:
    made = make_pictures(evidence)
    pictures = sorted((DOCS / IMAGES).glob("results-*.svg"))
    assert {path.stem for path in pictures} == made.keys(), REBUILD
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        assert f"<!-- evidence {evidence.digest} -->" in text, REBUILD
    texts = page_texts(evidence, made)
    for name, text in texts.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, REBUILD
    assert sum(len(text.split()) for text in texts.values()) <= MOST_WORDS


def test_the_files_of_numbers_are_what_the_data_give(evidence: Evidence) -> None:
    for name, text in csv_files(evidence).items():
        assert (RESULTS.parent / "tables" / name).read_text(encoding="utf-8") == text, REBUILD


def test_the_readme_says_what_the_pages_say(evidence: Evidence) -> None:
    """Every "so many of so many games" of the README is what a pair of the pages gives."""
    known = set()
    for one, other in question_pairs(evidence):
        ours, theirs = mean_scores(one), mean_scores(other)
        both = ours.keys() & theirs.keys()
        for games in (both, both & {*DEVELOPED}, both - {*DEVELOPED}):
            won = sum(ours[game] > theirs[game] for game in games)
            lost = sum(ours[game] < theirs[game] for game in games)
            known |= {f"{won} of {len(games)}", f"{lost} of {len(games)}"}
    told = re.findall(r"\d+ of (?:12|43|54|55)\b", (ROOT / "README.md").read_text("utf-8"))
    assert told
    assert {*told} <= known, "bring the README's sentences on results up to date"


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
        assert options.get("search_workers", 1) == 1
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
