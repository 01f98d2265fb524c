import multiprocessing
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from olive_iw.errors import InputError
from olive_iw.simulators import GAMES, SimulatorError
from olive_iw.simulators.atari import PAPER_GAMES, AtariSimulator, _shows_unknown
from olive_iw.simulators.check import step_differences


def play(simulator, actions):
    steps = []
    for action in actions:
        steps.append(simulator.step(action))
        if steps[-1].terminal:
            break
    return steps


def same(steps, others):
    pairs = zip(steps, others, strict=True)
    return not any(step_differences(step, other) for step, other in pairs)


def play_to_the_end(simulator):
    """Last state before the end of a short Breakout game, and the action that ends it."""
    simulator.reset()
    while True:
        for action in (1, 2):
            state = simulator.save()
            if simulator.step(action).terminal:
                return state, action


def test_games_are_those_the_emulator_supports():
    assert len(PAPER_GAMES) == len(set(PAPER_GAMES)) == 55
    assert set(PAPER_GAMES) <= set(GAMES)
    # For several players only: loading one would end this process.
    assert not {"combat", "joust", "maze_craze", "warlords"} & set(GAMES)


def test_first_step_of_breakout():
    simulator = AtariSimulator("breakout")
    step = simulator.reset()
    assert simulator.action_names == ("NOOP", "FIRE", "RIGHT", "LEFT")
    assert simulator.action_count == 4
    assert step.screen.shape == (210, 160)
    assert step.screen.dtype == np.uint8
    assert not step.screen.flags.writeable
    assert step.ram.shape == (128,)
    assert not step.ram.flags.writeable
    assert (step.reward, step.terminal, step.lives) == (0.0, False, 5)


# In these the emulator's own reset is not repeatable, or stops in the middle of a frame.
@pytest.mark.parametrize("game", ["assault", "elevator_action", "qbert", "solaris"])
def test_every_episode_is_the_same(game):
    simulator = AtariSimulator(game)
    actions = np.random.default_rng(0).integers(simulator.action_count, size=20).tolist()
    unreset = play(simulator, actions)
    first = [simulator.reset(), *play(simulator, actions)]
    play(simulator, actions[::-1])
    second = [simulator.reset(), *play(simulator, actions)]
    other = AtariSimulator(game)
    assert same(first, second)
    assert same(first[1:], unreset)
    assert same(first, [other.reset(), *play(other, actions)])


def test_a_step_taken_is_not_changed_by_later_ones():
    simulator = AtariSimulator("freeway")
    step = simulator.reset()
    screen, ram = step.screen.copy(), step.ram.copy()
    later = play(simulator, [1, 1, 1])[-1]
    assert np.array_equal(step.screen, screen)
    assert np.array_equal(step.ram, ram)
    assert not np.array_equal(later.screen, screen)


def _play_elsewhere(data, actions, sender):
    simulator = AtariSimulator("space_invaders")
    simulator.restore(pickle.loads(data))
    sender.send(play(simulator, actions))


def test_a_pickled_state_goes_on_in_another_process():
    simulator = AtariSimulator("space_invaders")
    simulator.reset()
    play(simulator, [1, 2, 3, 4, 5] * 3)
    data = pickle.dumps(simulator.save())
    assert len(data) < 10_000
    actions = [5, 4, 3, 1, 1, 0]
    expected = play(simulator, actions)
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_play_elsewhere, args=(data, actions, sender))
    process.start()
    sender.close()
    assert same(expected, receiver.recv())
    process.join()


def test_frames_are_those_of_the_step():
    simulator = AtariSimulator("space_invaders")
    simulator.reset()
    state = simulator.save()
    expected = play(simulator, [1, 3, 4])
    simulator.restore(state)
    for action, step in zip([1, 3, 4], expected, strict=True):
        found, frames = simulator.step_frames(action)
        assert not step_differences(step, found)
        assert len(frames) == 15
        assert {frame.shape for frame in frames} == {(210, 160, 3)}
        assert np.array_equal(frames[-1], simulator.palette[found.screen])
    assert any(not np.array_equal(frame, frames[-1]) for frame in frames)


def test_every_colour_shown_is_known():
    simulator = AtariSimulator("ms_pacman")
    for step in (simulator.reset(), *play(simulator, [1, 2, 3, 4] * 5)):
        levels = simulator.grey_levels[step.screen].astype(int)
        luma = simulator.palette[step.screen] @ np.array([0.299, 0.587, 0.114])
        assert np.abs(levels - luma).max() <= 1
    assert len(np.unique(simulator.grey_levels)) > 5


@given(
    values=st.sets(st.integers(0, 255), min_size=1),
    row=st.integers(0, 3),
    column=st.integers(0, 4),
    shown=st.integers(0, 255),
    seed=st.integers(0, 100),
)
def test_unknown_colours_are_found_by_looking_at_changed_rows_alone(
    values, row, column, shown, seed
):
    draw = np.random.default_rng(seed)
    known = np.zeros(256, np.bool_)
    known[list(values)] = True
    last = draw.choice(sorted(values), (4, 5)).astype(np.uint8)
    screen = last.copy()
    screen[row, column] = shown
    assert _shows_unknown(screen, last, known) == (not known[screen].all())


@pytest.mark.parametrize("game", ["ms_pacman", "seaquest"])
def test_colours_are_the_emulators_wherever_a_call_starts(game):
    simulator = AtariSimulator(game)
    simulator.reset()
    states = [simulator.save()]
    for action in [1, 2, 3, 4] * 5:
        simulator.restore(states[action * 7 % len(states)])
        step, frames = simulator.step_frames(action)
        assert np.array_equal(frames[-1], simulator.palette[step.screen])
        states.append(simulator.save())


def test_a_call_holds_the_action_for_the_frames():
    long, short = AtariSimulator("breakout"), AtariSimulator("breakout", frame_skip=5)
    long.reset()
    short.reset()
    for action in [1, 2, 3, 3, 0, 2] * 4:
        step, parts = long.step(action), play(short, [action] * 3)
        assert sum(part.reward for part in parts) == step.reward
        assert np.array_equal(parts[-1].ram, step.ram)
        assert np.array_equal(parts[-1].screen, step.screen)


def test_pooling_takes_the_brighter_of_the_last_two_frames():
    pooled = AtariSimulator("space_invaders", pool_frames=True)
    most = AtariSimulator("space_invaders", frame_skip=14)
    last = AtariSimulator("space_invaders", frame_skip=1)
    pooled.reset()
    most.reset()
    flickered = False
    for action in [1, 2, 3, 1, 1, 3, 2, 1] * 3:
        found = pooled.step(action).screen
        earlier = most.step(action).screen
        last.restore(most.save())
        later = last.step(action).screen
        levels = pooled.grey_levels
        assert np.array_equal(levels[found], np.maximum(levels[earlier], levels[later]))
        assert np.all((found == earlier) | (found == later))
        flickered |= bool((levels[earlier] > levels[later]).any())
        most.restore(last.save())
    assert flickered


def test_a_call_ends_with_the_game_and_none_may_follow():
    simulator = AtariSimulator("breakout")
    before, action = play_to_the_end(simulator)
    with pytest.raises(SimulatorError, match="breakout is over; reset or restore"):
        simulator.step(0)
    over = simulator.save()
    simulator.restore(before)
    step, frames = simulator.step_frames(action)
    assert step.terminal
    assert 1 <= len(frames) <= 15
    simulator.reset()
    simulator.restore(over)
    with pytest.raises(SimulatorError, match="is over"):
        simulator.step(0)
    assert not simulator.reset().terminal
    assert not simulator.step(0).terminal


@pytest.mark.parametrize("action", [-1, 4, 17])
def test_actions_out_of_range_are_refused(action):
    simulator = AtariSimulator("breakout")
    with pytest.raises(SimulatorError, match=f"no action {action}; actions are 0 to 3"):
        simulator.step(action)


def test_mode_and_difficulty_change_the_game():
    plain = AtariSimulator("breakout").reset()
    assert step_differences(plain, AtariSimulator("breakout", mode=4).reset())
    assert not step_differences(plain, AtariSimulator("breakout", mode=0, difficulty=0).reset())
    actions = [1, 2, 3] * 5
    easy, hard = AtariSimulator("pong", difficulty=0), AtariSimulator("pong", difficulty=1)
    assert not same(play(easy, actions), play(hard, actions))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frame_skip": 0}, "frame_skip must be at least 1, not 0"),
        ({"frame_skip": 1, "pool_frames": True}, "pool_frames needs a frame_skip of at least 2"),
        ({"mode": 7}, "pong has no mode 7; available: 0, 1"),
        ({"difficulty": 9}, "pong has no difficulty 9; available: 0, 1, 2, 3"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        AtariSimulator("pong", **options)


def test_unknown_games_are_refused():
    with pytest.raises(InputError, match="did you mean breakout"):
        AtariSimulator("brekout")
    with pytest.raises(InputError, match="combat is a cartridge for two players or more"):
        AtariSimulator("combat")


def test_higher_screens():
    simulator = AtariSimulator("carnival")
    assert simulator.reset().screen.shape == (214, 160)
    assert simulator.step(0).screen.shape == (214, 160)


def test_an_emulator_is_silent(capfd):
    AtariSimulator("pong").reset()
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""
