"""Episodes replayed in real simulators: verified, damaged and noticed, filmed."""

import json
import re
import subprocess
from itertools import pairwise

import imageio_ffmpeg
import numpy as np
import pytest
from oracle import shortest_plan
from PIL import Image

from olive_iw.algorithms import make_spec
from olive_iw.errors import InputError
from olive_iw.reports.film import bar_heights, panel, short_name, shown_size, write_gif, write_video
from olive_iw.reports.run_tables import verification_table
from olive_iw.runs.config import RunConfig, to_toml
from olive_iw.runs.run import run
from olive_iw.runs.verification import Outcome, verify_episode, verify_folder
from olive_iw.simulators import make_simulator


def play(folder, game, actions, limit=None, **more):
    """Play real actions and write the episode file of it, of a run with this or no other limit."""
    simulator = make_simulator(game)
    simulator.reset()
    done, rewards, terminal = [], [], False
    for action in actions:
        step = simulator.step(action)
        done.append(action)
        rewards.append(step.reward)
        terminal = step.terminal
        if terminal:
            break
    values = np.random.default_rng(0).normal(size=(len(done), simulator.action_count))
    record = {
        "format": 1,
        "game": game,
        "algorithm": "rollout-iw",
        "profile": "laptop",
        "seed": 0,
        "phase": "evaluation",
        "episode": 0,
        "frame_skip": getattr(simulator, "frame_skip", None),
        "simulator_options": {},
        "actions": done,
        "rewards": rewards,
        "score": sum(rewards),
        "calls": 100 * len(done),
        "seconds": 1.0,
        "ended": "game over" if terminal else "action limit",
        "versions": {"python": "3.0.0"},
        "values": values.tolist(),
        **more,
    }
    path = folder / "seed-0" / "episodes" / "evaluation-0000.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    limit = limit or (50 if terminal else max(1, len(done)))
    config = RunConfig(game, make_spec("rollout-iw"), episodes=1, max_actions=limit)
    (path.parent.parent / "config.toml").write_text(to_toml(config.to_dict()))
    return path


def change(path, **entries):
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


def plan(game):
    return shortest_plan(game.removeprefix("grid:"))


@pytest.fixture(scope="module")
def breakout(tmp_path_factory):
    # FIRE serves the ball, and standing still misses it: some reward or a lost life on the way.
    actions = [1, 0, 2, 2, 3] * 6
    return play(tmp_path_factory.mktemp("breakout"), "breakout", actions)


@pytest.fixture
def key_door(tmp_path):
    return play(tmp_path, "grid:key-door", plan("grid:key-door"))


def test_a_won_grid_world_is_confirmed(key_door):
    found = verify_episode(key_door)
    assert found.outcome is Outcome.CONFIRMED, found.message
    assert found.score == 1.0
    assert found.action is None


def test_an_atari_episode_is_confirmed(breakout):
    found = verify_episode(breakout)
    assert found.confirmed, found.message
    assert found.score == json.loads(breakout.read_text())["score"]


def test_versions_that_differ_are_a_warning_only(key_door):
    found = verify_episode(key_door)
    assert found.confirmed
    assert any("played with python 3.0.0" in line for line in found.warnings)


def test_a_changed_reward_is_found_at_its_action(breakout, tmp_path):
    record = json.loads(breakout.read_text())
    record["rewards"][7] += 1
    record["score"] += 1
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(record))
    found = verify_episode(path)
    assert (found.outcome, found.action) == (Outcome.DIFFERS, 7)
    assert "differs at action 7 of 30" in found.message


def test_a_changed_score_is_found(key_door):
    change(key_door, score=2.0)
    found = verify_episode(key_door)
    assert found.outcome is Outcome.DIFFERS
    assert "score 1, but 2 is recorded" in found.message


def test_actions_after_the_end_are_found(key_door):
    record = json.loads(key_door.read_text())
    length = len(record["actions"])
    change(key_door, actions=[*record["actions"], 0], rewards=[*record["rewards"], 0.0])
    found = verify_episode(key_door)
    assert (found.outcome, found.action) == (Outcome.DIFFERS, length - 1)
    assert "game over, but 1 actions follow" in found.message


def test_an_end_that_never_came_is_found(tmp_path):
    path = play(tmp_path, "grid:corridor", [3, 3], ended="game over")
    found = verify_episode(path)
    assert found.outcome is Outcome.DIFFERS
    assert "the game is not over" in found.message


def test_an_action_that_does_not_exist_is_found(tmp_path):
    path = play(tmp_path, "grid:corridor", [3, 3])
    change(path, actions=[3, 9])
    found = verify_episode(path)
    assert (found.outcome, found.action) == (Outcome.DIFFERS, 1)


def test_an_evaluation_cut_short_is_not_confirmed(tmp_path):
    path = play(tmp_path, "grid:corridor", [3, 3], limit=50)
    found = verify_episode(path)
    assert found.outcome is Outcome.CONTRADICTS
    assert "it stops after 2 of 50 actions, and the game is not over" in found.message
    change(path, ended=None)
    found = verify_episode(path)
    assert found.outcome is Outcome.DIFFERS
    assert "it stops after 2 of 50 actions, and the game is not over" in found.message
    path = path.rename(path.with_name("training-0000.json"))
    change(path, phase="training")
    assert verify_episode(path).confirmed


@pytest.mark.parametrize("content", ["", '{"game": "breakout"', "[]", '{"game": "breakout"}'])
def test_torn_files_are_told_not_raised(tmp_path, content):
    path = tmp_path / "torn.json"
    path.write_text(content)
    found = verify_episode(path)
    assert found.outcome is Outcome.UNREADABLE
    assert "torn.json" in found.message


def test_an_unknown_game_is_told_not_raised(tmp_path):
    path = play(tmp_path, "grid:corridor", [3])
    change(path, game="grid:nowhere")
    alone = path.rename(tmp_path / "alone.json")
    assert verify_episode(alone).outcome is Outcome.UNREADABLE


def test_a_folder_is_verified_whole_and_the_table_says_so(tmp_path):
    play(tmp_path / "a", "grid:corridor", [3, 3])
    torn = play(tmp_path / "b", "grid:corridor", [3, 3])
    torn.write_text(torn.read_text()[:30])
    wrong = play(tmp_path / "c", "grid:corridor", [3, 3])
    change(wrong, rewards=[0.0, 5.0])
    found = verify_folder(tmp_path)
    assert [one.outcome.value for one in found] == ["confirmed", "unreadable", "differs"]
    text = verification_table(found).as_text(200)
    assert "1 confirmed, 1 differs, 0 contradicts, 1 unreadable." in text
    assert "differs at action 1 of 2" in text
    assert text.count("warning: played with python") == 1
    with pytest.raises(InputError, match="no episode file"):
        verify_folder(tmp_path / "a" / "seed-0" / "nothing")


def frames_of(path, size):
    """Decode a film: its frames a second as ffmpeg prints them, and its frames."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path)]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    rate = re.search(rb"(\d+) fps", done.stderr)[1]
    assert f"{size[0]}x{size[1]}".encode() in done.stderr
    return int(rate), np.frombuffer(done.stdout, np.uint8).reshape(-1, size[1], size[0], 3)


def test_five_actions_are_seventy_five_frames_at_sixty_a_second(tmp_path):
    path = play(tmp_path, "breakout", [1, 0, 2, 2, 3])
    film = write_video(path, tmp_path / "film.mp4")
    rate, frames = frames_of(film.path, (560, 420))
    assert film.frames == len(frames) == 75
    assert rate == 60
    assert film.size == (560, 420)
    assert film.warnings == ()
    assert [item.name for item in tmp_path.glob("*.mp4")] == ["film.mp4"]
    # The game moves within one action: frames are those of the game, not one picture held.
    assert any(np.abs(a.astype(int) - b).max() > 60 for a, b in pairwise(frames[:15]))


def test_a_video_shows_what_the_simulator_shows(tmp_path):
    path = play(tmp_path, "grid:corridor", [3, 3])
    film = write_video(path, tmp_path / "film.mp4")
    _, frames = frames_of(film.path, film.size)
    assert len(frames) == 30
    simulator = make_simulator("grid:corridor")
    simulator.reset()
    for number, action in enumerate([3, 3]):
        screen = simulator.step(action).screen
        large = np.kron(screen, np.ones((3, 3), np.uint8))
        for frame in frames[15 * number : 15 * number + 15]:
            error = np.abs(frame[:, :, 0].astype(int) - large).mean()
            assert error < 6  # compression
    assert np.abs(frames[0].astype(int) - frames[-1]).max() > 60


def test_the_overlay_adds_a_panel_below(tmp_path):
    path = play(tmp_path, "grid:corridor", [3, 3])
    film = write_video(path, tmp_path / "film.mp4", overlay=True)
    assert film.size == (384, 384 + 88)
    _, frames = frames_of(film.path, film.size)
    assert frames[0][384:].max() > 200
    with_values = frames[0][384:].astype(int)
    change(path, values=None)
    other = write_video(path, tmp_path / "other.mp4", overlay=True)
    _, without = frames_of(other.path, other.size)
    assert np.abs(with_values - without[0][384:]).max() > 60


def test_a_video_of_fewer_actions(tmp_path):
    path = play(tmp_path, "grid:corridor", [3, 3, 3])
    assert write_video(path, tmp_path / "film.mp4", max_actions=1).frames == 15


def test_a_film_that_differs_from_the_record_says_so(tmp_path):
    path = play(tmp_path, "grid:corridor", [3, 3])
    change(path, rewards=[0.0, 5.0])
    film = write_video(path, tmp_path / "film.mp4")
    assert "differs from the record at action 1" in film.warnings[0]


def test_bad_input_leaves_nothing_behind(tmp_path):
    path = play(tmp_path, "grid:corridor", [])
    with pytest.raises(InputError, match="no action to show"):
        write_video(path, tmp_path / "film.mp4")
    with pytest.raises(InputError, match=r"must end in \.mp4"):
        write_video(path, tmp_path / "film.avi")
    with pytest.raises(InputError, match="no action to show"):
        write_gif(path, tmp_path / "film.gif")
    assert [item.name for item in tmp_path.iterdir()] == ["seed-0"]


@pytest.mark.parametrize("seconds", [-1.0, 0.0, float("inf"), float("nan")])
def test_a_gif_of_no_time_is_refused(breakout, tmp_path, seconds):
    with pytest.raises(InputError, match=r"max_seconds = .* is not possible"):
        write_gif(breakout, tmp_path / "film.gif", max_seconds=seconds)


@pytest.mark.parametrize("number", [0, -1, -(10**30)])
def test_a_film_of_no_action_is_refused(breakout, tmp_path, number):
    with pytest.raises(InputError, match=r"max_actions = .* at least 1"):
        write_gif(breakout, tmp_path / "film.gif", max_actions=number)


def test_a_film_is_never_longer_than_its_episode(breakout, tmp_path):
    more = {"max_actions": 10**30, "max_seconds": 1e300}
    whole = write_gif(breakout, tmp_path / "whole.gif", max_seconds=60.0)
    assert write_gif(breakout, tmp_path / "more.gif", **more).frames == whole.frames


def test_a_gif_runs_in_real_time_and_stays_small(breakout, tmp_path):
    film = write_gif(breakout, tmp_path / "film.gif", max_seconds=4)
    assert film.path.stat().st_size <= 3_000_000
    with Image.open(film.path) as image:
        assert image.size == film.size
        assert image.is_animated
        total = 0
        for index in range(image.n_frames):
            image.seek(index)
            total += image.info["duration"]
    assert total == 4000


def test_a_gif_is_bounded_by_fewer_and_smaller_frames(breakout, tmp_path):
    full = write_gif(breakout, tmp_path / "full.gif", max_seconds=2)
    bound = int(full.path.stat().st_size * 0.7)
    small = write_gif(breakout, tmp_path / "small.gif", max_bytes=bound, max_seconds=2)
    assert small.path.stat().st_size <= bound
    assert small.frames < full.frames
    with pytest.raises(InputError, match="no GIF of 2 s fits in 100 bytes"):
        write_gif(breakout, tmp_path / "none.gif", max_bytes=100, max_seconds=2)


def test_sizes_are_even_and_atari_is_four_to_three():
    assert shown_size(210, 160, True) == (560, 420)
    assert shown_size(250, 160, True) == (666, 500)
    assert shown_size(128, 128, False) == (384, 384)
    assert shown_size(45, 33, False) == (100, 136)


def test_names_of_actions_are_shortened():
    names = ["NOOP", "FIRE", "UPRIGHTFIRE", "toggle"]
    assert [short_name(name) for name in names] == ["·", "F", "URF", "To"]


def test_bars_leave_penalties_out_of_their_scale():
    heights = bar_heights([1.0, 3.0, None, -500_000.0])
    assert heights[:2].tolist() == [0.0, 1.0]
    assert np.isnan(heights[2])
    assert heights[3] == 0.0
    assert bar_heights([2.0, 2.0]).tolist() == [0.5, 0.5]
    assert bar_heights([-600_000.0]).tolist() == [0.0]


def test_the_panel_marks_a_penalised_value():
    safe = np.asarray(panel(560, ["LEFT", "RIGHT"], 0, 3, [1.0, 2.0]))
    deadly = np.asarray(panel(560, ["LEFT", "RIGHT"], 0, 3, [1.0, -500_000.0]))
    red = (213, 94, 0)
    assert not (safe == red).all(axis=2).any()
    assert (deadly == red).all(axis=2).any()


@pytest.mark.parametrize(
    ("of_file", "words"),
    [
        ({"action_levels": 3}, ""),
        ({}, "options are {}, but {'action_levels': 3} in the run"),
        ({"action_levels": 5}, "'action_levels': 5}, but"),
    ],
)
def test_levels_of_actions_are_the_runs(tmp_path, of_file, words):
    spec = make_spec("value-iw", calls_per_action=4, action_levels=3)
    config = RunConfig("gym:Pendulum-v1", spec, episodes=1, max_actions=2)
    run(config, tmp_path / "run")
    path = next(tmp_path.rglob("evaluation-0000.json"))
    assert json.loads(path.read_text())["simulator_options"] == {"action_levels": 3}
    change(path, simulator_options=of_file)
    outcomes = {found.outcome for found in verify_folder(tmp_path)}
    assert outcomes == {Outcome.CONTRADICTS if words else Outcome.CONFIRMED}
    assert words in " ".join(found.message for found in verify_folder(tmp_path))
