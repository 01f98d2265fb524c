"""Compact copies of runs hold what proves a score, and are refused where they could mislead."""

import shutil

import pytest
from made_up_runs import write_episode, write_run

from olive_iw.errors import InputError
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import Origin
from olive_iw.runs.verification import check_run
from results_page.copies import MOST_TRAINING, PROTOCOLS, copy_runs, protocol_of

COMMIT = "a" * 40
LENGTHS = {"max_actions": 1_200, "training_calls": 100_000}


@pytest.fixture
def runs(tmp_path):
    folder = write_run(tmp_path / "runs", [7.0], training=[1.0, 2.5], **LENGTHS)
    values = [[1.25, None], [0.5, 2.0]]
    write_episode(folder, "evaluation", 0, 7.0, values=values)
    (folder / "checkpoint").mkdir()
    (folder / "checkpoint" / "agent.json").write_text("{}")
    return tmp_path / "runs"


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results" / "five-minute"


def test_a_copy_has_all_but_checkpoint_and_values(runs, results):
    done = copy_runs(runs, results, COMMIT)
    assert done.new == [results / "breakout" / "olive-laptop" / "seed-0"]
    copy, run = RunFolder(done.new[0]), RunFolder(runs / "breakout" / "olive-laptop" / "seed-0")
    assert {path.name for path in copy.path.iterdir()} == {
        *("config.toml", "episodes", "origin.json", "result.json")
    }
    assert not check_run(copy).problems
    for name in run.episode_files():
        before, after = run.read_episode(name).to_dict(), copy.read_episode(name).to_dict()
        assert after == before | {"values": None}
    assert run.read_episode("evaluation-0000").values is not None
    assert '"rewards":[0,2.5]' in copy.episode_path("training", 1).read_text()
    assert copy.config_path.read_bytes() == run.config_path.read_bytes()
    origin = copy.read(Origin)
    assert origin is not None
    assert origin.commit == COMMIT
    assert "episodes/training-0001.json" in origin.sha256


def test_very_many_training_episodes_are_left_out(tmp_path, results):
    for seed, count in ((0, MOST_TRAINING), (1, MOST_TRAINING + 1)):
        write_run(tmp_path / "runs", [7.0], seed=seed, training=[1.0] * count, **LENGTHS)
    done = copy_runs(tmp_path / "runs", results, COMMIT)
    copies = [RunFolder(path) for path in done.new]
    assert [len(copy.episode_files()) for copy in copies] == [MOST_TRAINING + 1, 1]
    for copy in copies:
        assert not check_run(copy).problems
        assert copy.read(Origin).commit == COMMIT
    assert copy_runs(tmp_path / "runs", results, COMMIT).there == 2


def test_copying_again_copies_what_is_new(runs, results):
    copy_runs(runs, results, COMMIT)
    write_run(runs, [3.0], game="pong", **LENGTHS)
    unfinished = write_run(runs, [4.0], game="alien", **LENGTHS)
    (unfinished / "result.json").unlink()
    done = copy_runs(runs, results, COMMIT)
    assert [path.parts[-3] for path in done.new] == ["pong"]
    assert (done.there, done.unfinished) == (1, 1)


def test_a_copy_that_was_cut_off_is_made_again(runs, results):
    (copy,) = copy_runs(runs, results, COMMIT).new
    (copy / "result.json").unlink()
    assert copy_runs(runs, results, COMMIT).new == [copy]
    assert RunFolder(copy).finished


@pytest.mark.parametrize("lengths", [{"max_actions": 600}, {"training_calls": 20_000}])
def test_other_lengths_than_the_protocols_are_refused_and_the_rest_copied(runs, results, lengths):
    write_run(runs, [3.0], game="pong", **(LENGTHS | lengths))
    done = copy_runs(runs, results, COMMIT)
    assert ["in the protocol five-minute" in line for line in done.problems] == [True]
    assert [path.parts[-3] for path in done.new] == ["breakout"]


def test_what_does_not_learn_has_no_training_calls(tmp_path, results):
    lengths = {"max_actions": 1_200, "training_calls": 0}
    write_run(tmp_path / "runs", [3.0], algorithm="patch-iw", **lengths)
    assert copy_runs(tmp_path / "runs", results, COMMIT).new


def test_a_run_that_contradicts_itself_is_refused(runs, results):
    write_episode(runs / "breakout" / "olive-laptop" / "seed-0", "evaluation", 0, 9.0)
    done = copy_runs(runs, results, COMMIT)
    assert ["contradicts its run" in line for line in done.problems] == [True]
    assert not done.new


def test_another_play_or_commit_does_not_replace_what_is_there(runs, results):
    copy_runs(runs, results, COMMIT)
    (line,) = copy_runs(runs, results, "b" * 40).problems
    assert "remove it to replace it" in line
    shutil.rmtree(runs)
    write_run(runs, [8.0], **LENGTHS)
    (line,) = copy_runs(runs, results, COMMIT).problems
    assert "remove it to replace it" in line


@pytest.mark.parametrize("commit", ["", "main", "abc", "g" * 40, "a" * 41])
def test_a_commit_is_hexadecimal(runs, results, commit):
    with pytest.raises(InputError, match="is no commit"):
        copy_runs(runs, results, commit)


def test_nothing_finished_is_an_error(tmp_path, results):
    with pytest.raises(InputError, match="holds no finished run"):
        copy_runs(tmp_path, results, COMMIT)


def test_the_folder_names_the_protocol(tmp_path):
    assert protocol_of(tmp_path / "paper").max_actions == 18_000
    assert PROTOCOLS["five-minute"].max_actions * 15 == 18_000, "frames: five minutes of play"
    with pytest.raises(InputError, match="did you mean five-minute"):
        protocol_of(tmp_path / "five-minutes")
