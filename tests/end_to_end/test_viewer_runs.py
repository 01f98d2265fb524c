"""Replaying run folders: trees are recomputed, compared with the record, and found again by id."""

import json
import shutil
import time

import numpy as np
import pytest

from olive_iw.algorithms import make_spec
from olive_iw.errors import InputError
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.players import saved_agent
from olive_iw.runs.run import run
from olive_iw.viewer import run_viewer
from olive_iw.viewer.footage import Footage
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.page_messages import Library, NewestScreens, Training
from olive_iw.viewer.run_library import (
    RunFollower,
    RunLibrary,
    live_source,
    newest_screens,
    recorded_source,
)
from olive_iw.viewer.shown_episode import shown_of


def small_run(out, algorithm="olive", **settings):
    """Train and evaluate on a grid world, in seconds; return the run's folder."""
    few = {"training_actions": 15, "screens_per_episode": 30, "max_training_episodes": 3}
    few |= {"calls_per_action": 20, "steps": 20}
    usual = make_spec(algorithm)
    own = {name: value for name, value in few.items() if name in usual.options.kinds}
    spec = usual.changed(**own, **settings)
    config = RunConfig("grid:collect", spec, training_calls=900, episodes=2, max_actions=10)
    run(config, out, device="cpu")
    return config.folder(out)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("viewer-runs"))


def opened(folder):
    library = RunLibrary(folder)
    return library.run(next(iter(library.runs)))


def messages_of(source, decisions=4):
    """Show some decisions; messages by type, of the last one."""
    shown = shown_of(source, lambda: None)
    for _ in range(decisions):
        if not shown.over:
            shown.decide()
            found = {type(message).__name__: message for message in shown.frame()}
            shown.advance()
    shown.close()
    return found


def test_a_configuration_is_read_back(folder):
    config = RunFolder(folder).config()
    assert config.spec.options.calls_per_action == 20
    assert config.folder(folder.parents[2]) == folder


def test_evaluation_episodes_are_recomputed_and_match(folder):
    for name in ("evaluation-0000", "evaluation-0001"):
        found = messages_of(recorded_source(opened(folder), name), decisions=10)
        assert found["Match"].state == "matches"
        assert found["RootActions"].chosen == found["RootActions"].recorded
        assert len(found["TreeSnapshot"].rows)
    assert found["NetworkView"].side ** 2 == len(found["NetworkView"].active)
    assert sum(found["NetworkView"].active) > 0


def test_the_first_training_episode_needs_no_network(folder):
    found = messages_of(recorded_source(opened(folder), "training-0000"))
    assert found["Match"].state == "matches"
    assert "NetworkView" not in found


@pytest.mark.parametrize("algorithm", ["olive", "vae-iw"])
def test_a_collection_with_two_search_workers_is_recomputed_with_two(algorithm, tmp_path):
    of_olive = {"first_share": 0.5} if algorithm == "olive" else {}
    run = opened(small_run(tmp_path, algorithm, search_workers=2, **of_olive))
    episodes = run.episode_files("training")
    assert "training-0000" in episodes
    assert ("training-0000-01" in episodes) == (algorithm == "olive")
    for name in list(episodes)[:2]:
        found = messages_of(recorded_source(run, name), decisions=15)
        assert found["Match"].state == "matches"


def test_later_training_episodes_are_shown_without_trees(folder):
    source = recorded_source(opened(folder), "training-0001")
    assert source.planning.planner is None
    assert "trained further" in source.planning.why_not
    found = messages_of(source)
    assert found["Moment"].stage == "shown"
    assert "TreeSnapshot" not in found
    assert found["RootActions"].recorded == source.record.actions[3]
    assert any(value is not None for value in found["RootActions"].values)


def altered(folder, tmp_path, **changes):
    """Copy a run, and change its first evaluation episode."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    path = copy / "episodes" / "evaluation-0000.json"
    fields = json.loads(path.read_text())
    for name, change in changes.items():
        change(fields[name])
    path.write_text(json.dumps(fields))
    return copy


def test_another_action_than_recorded_is_said(folder, tmp_path):
    def other(actions):
        actions[1] = (actions[1] + 1) % 4

    found = messages_of(
        recorded_source(opened(altered(folder, tmp_path, actions=other)), "evaluation-0000")
    )
    assert found["Match"].state == "differs"
    assert "decision 1 chose" in found["Match"].text


def test_another_reward_than_recorded_is_said(folder, tmp_path):
    def other(rewards):
        rewards[0] += 5

    found = messages_of(
        recorded_source(opened(altered(folder, tmp_path, rewards=other)), "evaluation-0000")
    )
    assert found["Match"].state == "differs"
    assert "the game itself went another way" in found["Match"].text


def test_footage_shows_what_the_episode_showed(folder):
    source = recorded_source(opened(folder), "evaluation-0000")
    footage, steps = Footage(source.record), [source.simulator.reset()]
    steps += [source.simulator.step(action) for action in source.record.actions]
    for decision in (7, 2, 9, 0, 5, len(steps) - 1):
        assert np.array_equal(footage.at(decision).screen, steps[decision].screen)


@pytest.mark.parametrize("name", ["../seed-0", "/etc", "evaluation-0000/../../config", "", "x"])
def test_names_are_looked_up_and_never_joined(folder, name):
    library = RunLibrary(folder)
    with pytest.raises(InputError, match="no run"):
        library.run(name)
    with pytest.raises(InputError, match="no episode"):
        recorded_source(opened(folder), name)


def test_a_folder_of_runs_lists_them_all(folder):
    library = RunLibrary(folder.parents[2])
    assert list(library.runs) == [folder.relative_to(folder.parents[2]).as_posix()]
    assert folder.parent.name.startswith("olive-laptop,calls_per_action=20")
    with pytest.raises(InputError, match="holds no run"):
        RunLibrary(folder / "episodes")


ODD_CONFIGS = {
    "torn": "game = ",
    "a folder": None,
    "no game": "algorithm = 'olive'",
    "unknown algorithm": "game = 'breakout'\nalgorithm = 'skynet'",
    "deep": "a = " + "[" * 5_000,
    "not text": "\udcff\udcfe",
}


@pytest.mark.parametrize("name", ODD_CONFIGS)
def test_a_bad_configuration_hides_no_other_run(folder, tmp_path, name):
    shutil.copytree(folder, tmp_path / "good")
    shutil.copytree(folder, tmp_path / "bad")
    config = tmp_path / "bad" / "config.toml"
    config.unlink()
    if ODD_CONFIGS[name] is None:
        config.mkdir()
    else:
        config.write_text(ODD_CONFIGS[name], errors="surrogateescape")
    library = RunLibrary(tmp_path)
    assert list(library.runs) == ["good"]
    assert len(library.warnings) == 1
    assert "bad" in library.warnings[0]
    assert "\n" not in library.warnings[0]
    with pytest.raises(InputError, match="no run that can be read"):
        RunLibrary(tmp_path / "bad")


def test_the_first_episode_that_can_be_opened_is_shown(folder, tmp_path):
    for run_name in ("a", "b"):
        shutil.copytree(folder, tmp_path / run_name)
    shutil.rmtree(tmp_path / "a" / "episodes")
    (tmp_path / "b" / "episodes" / "evaluation-0000.json").write_text('{"actions": [1e999')
    with run_viewer(tmp_path, port=0) as viewer:
        source = viewer.playback.shown.source
    assert (source.run, source.episode) == ("b", "evaluation-0001")


def latest(hub, kind):
    """Newest message of a type; None if there is none."""
    return hub._latest.get(kind, (0, None))[1]


def test_a_training_is_followed(folder, tmp_path):
    copy = tmp_path / "growing"
    shutil.copytree(folder, copy)
    events = (copy / "events.jsonl").read_text().splitlines(keepends=True)
    begun = [line for line in events if '"training episode"' in line][:1]
    (copy / "events.jsonl").write_text("".join(begun))
    (copy / "result.json").unlink()
    hub = Hub()
    follower = RunFollower(hub, RunLibrary(copy))
    follower.look()
    assert latest(hub, Training).state == "stopped"
    assert len(latest(hub, Training).episodes) == 1
    screens = latest(hub, NewestScreens)
    assert screens.count == len(np.load(copy / "checkpoint" / "screens.npy"))
    assert len(screens.images) == len(screens.elbos) == 12
    assert all(elbo < 0 for elbo in screens.elbos)
    time.sleep(0.01)
    (copy / "events.jsonl").write_text("".join(events))
    follower.look()
    assert len(latest(hub, Training).episodes) == 3
    assert latest(hub, Training).episodes[-1]["loss"] > 0
    assert len(latest(hub, Training).evaluations) == 2
    assert "evaluation 0: score" in latest(hub, Library).episodes[0]["title"]


def test_a_run_without_checkpoint_has_no_screens(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "run", ignore=shutil.ignore_patterns("checkpoint"))
    assert newest_screens(opened(tmp_path / "run")).count == 0


ODD_SCREENS = {
    "empty": b"",
    "torn": b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (9",
    "text": b"no screens at all",
    "other shape": np.zeros((3, 4, 5), np.uint8),
    "other type": np.zeros((3, 128, 128), np.complex64),
}


@pytest.mark.parametrize("name", ODD_SCREENS)
def test_an_odd_file_of_screens_is_left_out_and_the_rest_is_told(folder, tmp_path, name):
    copy, odd = tmp_path / "odd", ODD_SCREENS[name]
    shutil.copytree(folder, copy)
    path = copy / "checkpoint" / "screens.npy"
    if isinstance(odd, bytes):
        path.write_bytes(odd)
    else:
        np.save(path, odd)
    events = (copy / "events.jsonl").read_text()
    odd_lines = '{"type": "training episode", "number": []}\n[[[\n'
    (copy / "events.jsonl").write_text(odd_lines + events)
    hub = Hub()
    RunFollower(hub, RunLibrary(copy)).look()
    assert latest(hub, NewestScreens) is None
    assert len(latest(hub, Training).episodes) == 3


def test_a_trained_agent_plays_live_as_it_was_evaluated(folder):
    source = live_source("grid:collect", saved_agent(folder))
    assert source.spec.algorithm == "olive"
    record = recorded_source(opened(folder), "evaluation-0000").record
    shown, played = shown_of(source, lambda: None), []
    while not shown.over and len(played) < len(record.actions):
        shown.decide()
        played.append(shown.made.action)
        shown.advance()
    assert played == record.actions
    more = live_source("grid:collect", saved_agent(folder, calls_per_action=33))
    assert more.calls_of_decision(0) == 33


def test_offline_collection_is_recomputed(tmp_path):
    run_folder = opened(small_run(tmp_path, "vae-iw"))
    names = [name for name in run_folder.episode_files() if name.startswith("training")]
    assert len(names) > 1
    found = messages_of(recorded_source(run_folder, names[1]), decisions=20)
    assert found["Match"].state == "matches"
    assert len(found["TreeSnapshot"].rows)
