from collections import deque
from itertools import permutations

import numpy as np
import pytest
from oracle import shortest_plan

from olive_iw.errors import InputError
from olive_iw.simulators import SimulatorError
from olive_iw.simulators.grid import CELL_SIZE, GRID_SIZE, WORLDS, Content, GridWorld

UP, DOWN, LEFT, RIGHT = range(4)


def play(world, actions):
    return [world.step(action) for action in actions]


def atoms(world):
    """(cell, content) as one number each."""
    return (np.arange(GRID_SIZE**2) * len(Content) + world.cells.ravel()).tolist()


def reward_found(world, width, order=range(4)):
    """Plain breadth-first IW(width): whether a reward is met."""
    seen = np.zeros((GRID_SIZE**2 * len(Content),) * width, bool)

    def is_new(names):
        tuples = np.ix_(*[names] * width)
        new = not seen[tuples].all()
        seen[tuples] = True
        return new

    world.reset()
    is_new(atoms(world))
    queue = deque([world.save()])
    while queue:
        state = queue.popleft()
        for action in order:
            world.restore(state)
            step = world.step(action)
            if step.reward > 0:
                return True
            if is_new(atoms(world)) and not step.terminal:
                queue.append(world.save())
    return False


def shortest_by_screens(world):
    """Length of the shortest way to the highest score, told apart by screens and scores alone."""
    best = 7 if world.name == "collect" else 1
    first = world.reset()
    seen = {first.screen.tobytes()}
    layer, length = [(world.save(), 0.0)], 0
    while layer:
        length += 1
        after = []
        for state, score in layer:
            for action in range(world.action_count):
                world.restore(state)
                step = world.step(action)
                if score + step.reward == best:
                    return length
                if step.screen.tobytes() not in seen and not step.terminal:
                    seen.add(step.screen.tobytes())
                    after.append((world.save(), score + step.reward))
        layer = after
    return None


@pytest.mark.parametrize("name", WORLDS)
def test_the_shortest_plan_wins(name):
    world = GridWorld(name)
    world.reset()
    steps = play(world, shortest_plan(name))
    assert [step.terminal for step in steps] == [False] * (len(steps) - 1) + [True]
    assert sum(step.reward for step in steps) == (7 if name == "collect" else 1)
    assert steps[-1].reward == 1


@pytest.mark.parametrize("name", [name for name in WORLDS if name != "collect"])
def test_no_plan_is_shorter(name):
    world = GridWorld(name)
    assert shortest_by_screens(world) == len(shortest_plan(name))


@pytest.mark.parametrize("name", WORLDS)
def test_the_width_is_as_stated(name):
    world = GridWorld(name)
    assert reward_found(world, world.width)
    assert world.width == 1 or not reward_found(world, world.width - 1)


def test_no_order_of_actions_lets_width_1_open_the_door():
    world = GridWorld("key-door")
    assert not any(reward_found(world, 1, order) for order in permutations(range(4)))


def test_worlds_are_closed_and_fit_the_screen():
    for world in WORLDS.values():
        assert len(world.rows) <= GRID_SIZE - (1 if world.lives else 0)
        assert {len(row) for row in world.rows} == {len(world.rows[0])}
        assert len(world.rows[0]) <= GRID_SIZE
        assert set(world.rows[0] + world.rows[-1]) == {"#"}
        assert all(row[0] == row[-1] == "#" for row in world.rows)


def test_every_content_has_a_patch_of_its_own():
    patches = {}
    for name in WORLDS:
        world = GridWorld(name)
        step = world.reset()
        for action in (None, *shortest_plan(name)):
            step = step if action is None else world.step(action)
            assert step.screen.shape == (128, 128)
            assert step.screen.dtype == np.uint8
            assert not step.screen.flags.writeable
            for (row, column), content in np.ndenumerate(world.cells):
                top, left = row * CELL_SIZE, column * CELL_SIZE
                patch = step.screen[top : top + CELL_SIZE, left : left + CELL_SIZE].tobytes()
                patches.setdefault(int(content), set()).add(patch)
    assert set(patches) == set(Content)
    assert all(len(shown) == 1 for shown in patches.values())
    assert len(set.union(*patches.values())) == len(Content)


def test_walls_and_the_closed_door_stop_the_agent():
    world = GridWorld("key-door")
    first = world.reset()
    for action in (LEFT, RIGHT, RIGHT, RIGHT):
        step = world.step(action)
    at_the_door = step.screen
    assert np.array_equal(world.step(RIGHT).screen, at_the_door)
    assert not np.array_equal(first.screen, at_the_door)
    play(world, [UP, UP])
    at_the_wall = world.cells
    world.step(UP)
    assert np.array_equal(world.cells, at_the_wall)


def test_the_key_opens_the_door():
    world = GridWorld("key-on-path")
    world.reset()
    assert Content.KEY in world.cells
    play(world, [RIGHT] * 4)
    assert Content.KEY not in world.cells
    play(world, [RIGHT] * 4)
    assert Content.DOOR in world.cells
    play(world, [RIGHT] * 2)
    assert Content.DOOR not in world.cells
    assert Content.OPEN_DOOR in world.cells


def test_lava_takes_a_life_and_sends_back():
    world = GridWorld("lava")
    first = world.reset()
    start = np.argwhere(world.cells == Content.AGENT).tolist()
    assert first.lives == 3
    for lives in (2, 1, 0):
        step = play(world, [RIGHT, RIGHT, RIGHT])[-1]
        assert step.lives == lives
        assert step.reward == 0
        assert step.terminal == (lives == 0)
        assert np.argwhere(world.cells == Content.AGENT).tolist() == start
        assert np.count_nonzero(world.cells == Content.LIFE) == lives
    with pytest.raises(SimulatorError, match="lava is over"):
        world.step(LEFT)


def test_coins_are_worth_one_once():
    world = GridWorld("collect")
    world.reset()
    rewards = [step.reward for step in play(world, [DOWN, DOWN, RIGHT, RIGHT, LEFT, RIGHT])]
    assert rewards == [0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize("action", [-1, 4])
def test_actions_out_of_range_are_refused(action):
    with pytest.raises(SimulatorError, match="actions are 0 to 3"):
        GridWorld("corridor").step(action)


def test_unknown_worlds_are_refused():
    with pytest.raises(InputError, match="did you mean corridor"):
        GridWorld("coridor")
