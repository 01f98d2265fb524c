"""Configuration, events, lock and folder of a run."""

import json
import multiprocessing
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from olive_iw.algorithms import make_agent, make_spec
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.files import write_text
from olive_iw.runs import events
from olive_iw.runs.config import RunConfig, differences, to_toml, versions
from olive_iw.runs.folder import RunFolder, find_runs
from olive_iw.runs.lock import is_locked, locked
from olive_iw.runs.run import run
from olive_iw.runs.verification import check_run

OLD_RUNS = Path(__file__).parents[2] / "data" / "runs-0.1.0"
CONFIG = RunConfig("grid:corridor", make_spec("patch-iw"), episodes=2)


def test_configuration_survives_toml() -> None:
    fields = CONFIG.to_dict()
    assert tomllib.loads(to_toml(fields)) == fields


def test_configuration_names_every_number_and_version() -> None:
    fields = CONFIG.to_dict()
    assert fields["format"] == 2
    given = {name for name, value in CONFIG.spec.settings().items() if value is not None}
    tables = [fields[name] for name in ("decisions", "search", "rules", "simulator")]
    assert {name for table in tables for name in table} == given  # TOML has no word for None
    assert sum(map(len, tables)) == len(given)
    assert set(fields["versions"]) == {"python", "olive-iw", "ale-py", "torch", "numba", "numpy"}


def test_the_hash_changes_with_the_configuration() -> None:
    other = replace(CONFIG, episodes=3)
    assert CONFIG.to_dict()["hash"] == CONFIG.to_dict()["hash"]
    assert CONFIG.to_dict()["hash"] != other.to_dict()["hash"]


def test_differences_are_named() -> None:
    other = replace(CONFIG, spec=CONFIG.spec.changed(discount=0.9))
    assert differences(CONFIG.to_dict(), CONFIG.to_dict()) == []
    assert differences(CONFIG.to_dict(), other.to_dict()) == ["search.discount: 0.99 → 0.9"]


@pytest.mark.parametrize("name", ["training_calls", "episodes", "max_actions"])
def test_budgets_must_be_positive(name: str) -> None:
    with pytest.raises(InputError, match=name):
        replace(CONFIG, **{name: 0})


def test_the_folder_says_game_algorithm_profile_and_seed() -> None:
    assert CONFIG.folder(Path("runs")) == Path("runs/grid-corridor/patch-iw-laptop/seed-0")


def test_a_changed_configuration_is_refused_and_named(tmp_path: Path) -> None:
    store = RunFolder(tmp_path)
    with store.open(CONFIG):
        before = store.config_path.read_bytes()
    for other, named in (
        (replace(CONFIG, max_actions=3), "max_actions: 18000 → 3"),
        (replace(CONFIG, episodes=1), "episodes: 2 → 1"),
    ):
        with pytest.raises(InputError, match=named), store.open(other):
            pass
    assert store.config_path.read_bytes() == before


def test_a_run_may_be_asked_for_more_episodes(tmp_path: Path) -> None:
    config = RunConfig("grid:corridor", make_spec("patch-iw", calls_per_action=5), 1, 1, 2)
    first = run(config, tmp_path)
    folder = RunFolder(config.folder(tmp_path))
    kept = folder.episode_path("evaluation", 0).read_bytes()
    more = replace(config, episodes=3)
    assert folder.done(config)
    assert not folder.done(more)
    result = run(more, tmp_path)
    assert folder.episode_path("evaluation", 0).read_bytes() == kept
    assert len(result.scores) == 3
    assert result.scores[:1] == first.scores
    assert folder.config() == more
    assert folder.done(more)
    whole = run(more, tmp_path / "whole")
    assert result.scores == whole.scores


def test_a_learner_without_its_checkpoint_plays_no_more_episodes(tmp_path: Path) -> None:
    folder = tmp_path / "seed-0"
    shutil.copytree(OLD_RUNS / "grid-key-door" / "olive-laptop" / "seed-0", folder)
    store = RunFolder(folder)
    text = store.config_path.read_text()
    for package, version in versions().items():
        text = re.sub(rf'^{package} = ".*"$', f'{package} = "{version}"', text, flags=re.MULTILINE)
    store.config_path.write_text(text)
    config = store.config()
    store.check(config)
    with pytest.raises(InputError, match="has no checkpoint"):
        store.check(replace(config, episodes=3))


def test_runs_of_version_0_1_0_are_read(tmp_path: Path) -> None:
    found = {run.name: run for run in find_runs(OLD_RUNS)}
    assert set(found) == {
        "grid-corridor/patch-iw-laptop/seed-0",
        "grid-key-door/olive-laptop/seed-0",
        "grid-key-door/patch-iw-laptop/seed-0",
    }
    for folder in found.values():
        run = check_run(folder)
        assert (run.problems, run.warnings) == ({}, [])
        assert folder.state == "done"
        assert len(run.result.scores) == folder.config().episodes
        folder.check(folder.config(), versions_too=False)
        only_versions = r"\((versions\.[^;]+; )*versions\.[^;]+\);"
        with pytest.raises(InputError, match=only_versions) as refused:
            folder.check(folder.config())
        assert "versions.olive-iw" in str(refused.value)
    identity = found["grid-corridor/patch-iw-laptop/seed-0"].identity()
    assert identity.variant == "calls_per_action=10,width=2,discount=0.5"
    assert (identity.training_calls, identity.recorded_variant) == (0, None)


def test_the_folder_says_the_variant() -> None:
    spec = make_spec("patch-iw", seed=3, width=2, discount=0.5)
    folder = RunConfig("pong", spec).folder(Path("runs"))
    assert folder == Path("runs/pong/patch-iw-laptop,width=2,discount=0.5/seed-3")


def test_an_unreadable_configuration_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("format = ")
    with pytest.raises(DamagedFileError, match=r"config\.toml: cannot be read"):
        RunFolder(tmp_path).config()


def test_events_are_read_back_in_order_and_torn_lines_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    events.append_event(path, events.RunStarted(0, 0))
    with path.open("a") as file:
        file.write('{"type": "evaluation epi')
    events.append_event(path, events.RunFinished([1.0, 2.0]))
    assert list(events.read_events(path, events.RunStarted)) == [events.RunStarted(0, 0)]
    assert list(events.read_events(path, events.EvaluationEpisodeDone)) == []
    assert list(events.read_events(path, events.RunFinished)) == [events.RunFinished([1.0, 2.0])]
    types = [json.loads(line)["type"] for line in path.read_text().splitlines() if line[-1] == "}"]
    assert types == ["run started", "run finished"]


def test_events_of_a_missing_file_are_none(tmp_path: Path) -> None:
    assert list(events.read_events(tmp_path / "none.jsonl", events.RunStarted)) == []


def hold(path: Path, ready: "multiprocessing.synchronize.Event") -> None:
    with locked(path):
        ready.set()
        multiprocessing.Event().wait(600)


def test_a_living_owner_keeps_the_lock_and_a_dead_one_loses_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    owner = context.Process(target=hold, args=(path, ready))
    owner.start()
    assert ready.wait(120)
    assert is_locked(path)
    with pytest.raises(InputError, match=f"process {owner.pid}"), locked(path):
        pass
    owner.kill()
    owner.join()
    assert not is_locked(path)
    with locked(path):
        assert is_locked(path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_checkpoint_lost_between_two_renames_is_taken_back(tmp_path: Path) -> None:
    store = RunFolder(tmp_path)
    agent = make_agent("patch-iw")
    with store.open(CONFIG):
        store.save_checkpoint(agent)
    store.checkpoint_path.rename(tmp_path / "checkpoint.old")
    (tmp_path / "checkpoint.new").mkdir()
    with store.open(CONFIG):
        assert json.loads((store.checkpoint_path / "agent.json").read_text())["seed"] == 0
    assert not (tmp_path / "checkpoint.old").exists()
    assert not (tmp_path / "checkpoint.new").exists()


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "olive_iw", "--version"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(b"olive-iw ")
