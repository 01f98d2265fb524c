"""Consoles: the adapter keeps its promises, also where simulators share the only emulator."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import olive_iw as olive
from olive_iw.errors import InputError
from olive_iw.runs.records import read_episode
from olive_iw.runs.replay import replay, simulator_of
from olive_iw.simulators import RetroSimulator, SimulatorError

retro = pytest.importorskip("stable_retro", reason="the extra retro is not installed")

GAME = "Airstriker-Genesis-v0"


def walk(simulator, seed=0, count=6):
    """What a random walk from the start shows."""
    random, shown = np.random.default_rng(seed), [simulator.reset()]
    for action in random.integers(simulator.action_count, size=count):
        shown.append(simulator.step(int(action)))
    return [(step.screen.tobytes(), step.reward, step.lives, step.terminal) for step in shown]


@pytest.fixture(scope="module")
def simulator():
    return olive.make_simulator(f"retro:{GAME}")


def test_actions_are_directions_and_buttons(simulator):
    assert simulator.action_count == 35  # one of 5 ways, with one of 6 buttons or none
    assert {"NOOP", "B", "LEFT", "LEFT B"} < {*simulator.action_names}
    assert not any(" " in name and "START" in name for name in simulator.action_names)
    full = RetroSimulator(GAME, action_set="full")
    assert full.action_count == 126
    assert {*simulator.action_names} < {*full.action_names}
    assert len({*full.action_names}) == 126


def test_what_is_shown(simulator):
    first = simulator.reset()
    assert first.screen.shape == (224, 320)
    assert first.lives == 3
    left, right = (simulator.action_names.index(name) for name in ("LEFT", "RIGHT"))
    shown = []
    for action in (left, right):
        simulator.reset()
        shown.append(simulator.step(action))
    assert not np.array_equal(shown[0].screen, shown[1].screen)
    simulator.reset()
    step, frames = simulator.step_frames(left)
    assert np.array_equal(step.screen, shown[0].screen)
    assert len(frames) == 15
    assert frames[0].shape == (224, 320, 3)
    assert not np.array_equal(frames[0], frames[-1])


def test_who_shoots_scores_and_who_stays_dies(simulator):
    step, rewards, lives, presses = (
        simulator.reset(),
        0.0,
        [3],
        ("LEFT B", "NOOP", "RIGHT B", "NOOP"),
    )
    while not step.terminal:
        step = simulator.step(simulator.action_names.index(presses[len(lives) % 4]))
        rewards += step.reward
        lives.append(step.lives)
    assert rewards > 0
    assert lives[-1] == 0
    assert sorted(lives, reverse=True) == lives
    with pytest.raises(SimulatorError, match="is over"):
        simulator.step(0)


def test_simulators_of_one_process_take_turns(simulator):
    other = RetroSimulator(GAME, frame_skip=4)
    alone = [walk(each, seed) for seed, each in enumerate((simulator, other))]
    for each in (simulator, other):
        each.reset()
    random = [np.random.default_rng(seed) for seed in range(2)]
    for number in range(1, 7):
        for seed, each in enumerate((simulator, other)):
            step = each.step(int(random[seed].integers(each.action_count)))
            assert (step.screen.tobytes(), step.reward) == alone[seed][number][:2]


def test_so_do_those_of_several_threads(simulator):
    other = RetroSimulator(GAME, frame_skip=4)
    alone = [walk(each, 3) for each in (simulator, other)]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(walk, (simulator, other), (3, 3))) == alone


def test_a_state_restores_in_another_process_and_a_copy_begins_anew(simulator):
    copy = pickle.loads(pickle.dumps(RetroSimulator(GAME, frame_skip=4, action_set="full")))
    assert (copy.frame_skip, copy.action_set) == (4, "full")
    agent = olive.make_agent("patch-iw", calls_per_action=12, search_workers=2)
    found = [agent.play(simulator, 2, episode=0).actions for _ in range(2)]
    assert found[0] == found[1]


def test_an_environment_of_its_own_is_in_the_way_and_said_so(simulator):
    before = walk(simulator)
    simulator.close()
    env = retro.make(GAME, render_mode="rgb_array")
    try:
        with pytest.raises(InputError, match=r"one emulator a process.*must be closed before"):
            RetroSimulator(GAME)
    finally:
        env.close()
    assert walk(simulator) == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Airstriker-Genesis", f"did you mean {GAME}"),
        ("zzz", r"unknown retro game 'zzz'; known: .* and \d+ more"),
        ("../../stable/Airstriker-Genesis-v0", "unknown retro game"),
        ("SonicTheHedgehog-Genesis-v0", r"no ROM .*python -m stable_retro.import FOLDER"),
    ],
)
def test_games_that_are_not_there(name, message):
    with pytest.raises(InputError, match=message):
        olive.make_simulator(f"retro:{name}")


def test_options_that_cannot_be():
    for options in ({"frame_skip": 0}, {"action_set": "all"}):
        with pytest.raises(InputError, match=next(iter(options))):
            RetroSimulator(GAME, **options)


def test_without_the_package_the_extra_is_named(monkeypatch, simulator):
    simulator.close()
    monkeypatch.setitem(sys.modules, "stable_retro", None)
    with pytest.raises(InputError, match=r"needs stable_retro: pip install 'olive-iw\[retro\]'"):
        RetroSimulator(GAME)


def test_runs_are_made_verified_and_replayed(tmp_path, capsys):
    from olive_iw.cli.main import main

    common = ("--algorithm", "patch-iw", "--calls-per-action", "12", "--episodes", "2")
    more = ("--max-actions", "3", "--frame-skip", "8", "--search-workers", "2", "--quiet")
    for words in (
        ["run", f"retro:{GAME}", *common, *more, "--out", str(tmp_path)],
        ["verify", str(tmp_path)],
    ):
        with pytest.raises(SystemExit, match="0"):
            main(words)
    assert "2" in capsys.readouterr().out
    record = read_episode(next(tmp_path.rglob("evaluation-0001.json")))
    again = simulator_of(record)
    assert again.frame_skip == 8
    steps = [step.reward for step, _ in replay(record, again, with_frames=True)]
    assert steps == record.rewards
