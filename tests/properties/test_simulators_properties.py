import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from olive_iw.simulators import GridWorld
from olive_iw.simulators.base import Step, read_only
from olive_iw.simulators.check import step_differences
from olive_iw.simulators.grid import WORLDS

worlds = st.sampled_from(sorted(WORLDS))
walks = st.lists(st.integers(0, 3), max_size=60)


def play(world, actions):
    steps = []
    for action in actions:
        if steps and steps[-1].terminal:
            break
        steps.append(world.step(action))
    return steps


@given(worlds, walks, walks, walks)
def test_a_restored_world_goes_on_as_before(name, before, between, after):
    world = GridWorld(name)
    world.reset()
    steps = play(world, before)
    if steps and steps[-1].terminal:
        return
    state = world.save()
    expected = play(world, after)
    world.restore(state)
    play(world, between)
    other = GridWorld(name)
    other.restore(pickle.loads(pickle.dumps(state)))
    world.restore(state)
    for found in (play(world, after), play(other, after)):
        assert len(found) == len(expected)
        assert not any(map(step_differences, expected, found))


@given(worlds, walks, walks)
def test_screens_tell_states_apart(name, actions, others):
    states = {}
    for walk in (actions, others):
        world = GridWorld(name)
        step = world.reset()
        for action in walk:
            if step.terminal:
                break
            step = world.step(action)
            state = world.save()
            assert states.setdefault(step.screen.tobytes(), state) == state


@given(worlds, walks)
def test_rewards_and_lives_stay_in_range(name, actions):
    world = GridWorld(name)
    first = world.reset()
    steps = play(world, actions)
    lives = [step.lives for step in (first, *steps)]
    assert lives == sorted(lives, reverse=True)
    assert min(lives) >= 0
    assert {step.reward for step in steps} <= {0.0, 1.0}
    assert sum(step.reward for step in steps) <= 7


@given(st.data())
def test_differences_counts_pixels(data):
    height, width = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    changed = data.draw(st.sets(st.integers(0, height * width - 1)))
    screen = np.arange(height * width, dtype=np.uint8).reshape(height, width)
    other = screen.copy()
    other.flat[sorted(changed)] += 1
    step, found = (Step(read_only(shown), 0.0, False, 0) for shown in (screen, other))
    expected = {"screen": f"screen differs in {len(changed)} pixels"} if changed else {}
    assert step_differences(step, found) == expected
