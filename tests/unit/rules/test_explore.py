"""Exploring: worlds in which nothing is to be earned nearby, and whose answer is known."""

from dataclasses import dataclass

import numpy as np
import pytest
from synthetic import LevelFeatures, SyntheticSimulator

from olive_iw.planners import RolloutIW
from olive_iw.rules import Explore, Further, Persistence, Safety, Ties, Twins
from olive_iw.rules.explore import CELLS, IN_TILES, shown, worth
from olive_iw.search.measures import safe_below
from olive_iw.simulators.base import Step, read_only
from olive_iw.simulators.grid import WORLDS, GridWorld, World

OTHERS = (Ties(), Twins(), Safety(), Persistence(), Further())
SNAKE = (
    "################",
    "#A.............#",
    *("##############.#", "#..............#", "#.##############", "#..............#") * 2,
    "#G##############",
)
BACK = (
    "################",
    "#K....A.......D#",
    "##############.#",
    "#G.............#",
    "################",
)


@pytest.fixture(autouse=True)
def worlds(monkeypatch):
    monkeypatch.setitem(WORLDS, "snake", World("a long winding corridor", SNAKE, 1))
    monkeypatch.setitem(WORLDS, "back", World("a key at one end, the door at the other", BACK, 2))


class Blinking(GridWorld):
    """A world with a light in a corner, which goes on and off whatever is done."""

    _ticks = 0

    def reset(self):
        self._ticks = 0
        return super().reset()

    def step(self, action):
        self._ticks += 1
        return super().step(action)

    def save(self):
        return super().save(), self._ticks

    def restore(self, state):
        super().restore(state[0])
        self._ticks = state[1]

    def _look(self, reward):
        step = super()._look(reward)
        screen = step.screen.copy()
        screen[:8, -8:] = 200 * (self._ticks % 2)
        return Step(read_only(screen), step.reward, step.terminal, step.lives)


def actions_to_the_goal(world, rules, most, seed=0, calls=60):
    """Actions until the goal is reached with few calls each, or `most`."""
    planner = RolloutIW("patches", rules=rules)
    planner.start(world, seed)
    for number in range(most):
        if planner.over:
            return number
        planner.advance(planner.decide(calls).action)
    return most


@pytest.mark.parametrize(
    ("world", "most"),
    [(lambda: GridWorld("snake"), 100), (lambda: GridWorld("back"), 80)],
    ids=["a corridor no search sees the end of", "a detour to a key"],
)
def test_what_is_far_is_reached_by_exploring(world, most):
    assert actions_to_the_goal(world(), OTHERS, most) == most
    assert actions_to_the_goal(world(), (Explore(), *OTHERS), most) < most


def test_a_blinking_light_does_not_hold_it():
    assert actions_to_the_goal(Blinking("back"), (Explore(), *OTHERS), 80) < 80


@dataclass
class Cave:
    """Action 1 enters a cave that looks new at every step, and takes a life in its last one.

    Outside all looks alike. There is no way out of the cave.
    """

    length: int
    action_count = 2
    action_names = ("stay", "enter")
    inside = 0

    def reset(self):
        self.inside = 0
        return self._look()

    def step(self, action):
        self.inside += bool(self.inside or action)
        return self._look()

    def save(self):
        return self.inside

    def restore(self, state):
        self.inside = state

    def _look(self):
        level = min(self.inside, 200)
        screen = read_only(np.full((1, 1), level, np.uint8))
        return Step(screen, 0.0, False, int(self.inside < self.length))


@pytest.mark.parametrize(("length", "enters"), [(6, False), (60, True)])
def test_it_goes_into_the_unknown_but_into_no_trap(length, enters):
    planner = RolloutIW(LevelFeatures(), rules=[Explore(), *OTHERS])
    planner.start(Cave(length), seed=0)
    for _ in range(10):
        planner.advance(planner.decide(100).action)
    assert bool(planner.root.screen[0, 0]) is enters
    assert planner.root.lives == 1


def played(rules, world=None, workers=1, decisions=12, simulator=None):
    """Return what some decisions were and were worth."""
    planner = RolloutIW("patches", rules=rules, workers=workers)
    planner.start(simulator or GridWorld(world), seed=3)
    made = []
    for _ in range(decisions):
        decision = planner.decide(20)
        made.append((decision.action, decision.values.tobytes(), decision.visits.tolist()))
        planner.advance(decision.action)
        if planner.over:
            break
    planner.close()
    return made


def test_where_something_is_earned_it_changes_nothing():
    game = SyntheticSimulator(1, lives=0, reward_chance=1.0)
    earning = [played(rules, simulator=game) for rules in (OTHERS, (Explore(), *OTHERS))]
    assert earning[0] == earning[1]


def test_search_workers_interleave_its_rollouts():
    rules = (Explore(), *OTHERS)
    two = [played(rules, "snake", workers=2) for _ in range(2)]
    assert two[0] == two[1]
    assert len(two[0]) == 12


def test_what_follows_a_bookmark_follows_it_again():
    planner = RolloutIW("patches", rules=[Explore(), *OTHERS])
    planner.start(GridWorld("snake"), seed=0)

    def some():
        made = []
        for _ in range(6):
            decision = planner.decide(20)
            made.append((decision.action, decision.visits.tolist()))
            planner.advance(decision.action)
        return made

    some()
    here = planner.bookmark()
    first = some()
    planner.return_to(here)
    assert some() == first


def test_a_screen_shows_colours_in_tiles_and_a_cell():
    levels = np.arange(256, dtype=np.uint8)
    screen = np.zeros((210, 160), np.uint8)
    screen[16, 11] = 7  # the second band of rows, the second of columns
    atoms = shown(screen, levels)
    everywhere = {tile * 256 for tile in range(14 * 16)}
    assert {*atoms[:-1].tolist()} == {*everywhere, 17 * 256 + 7}
    assert IN_TILES <= atoms[-1] < IN_TILES + CELLS
    assert atoms[-1] == shown(np.zeros((210, 160), np.uint8), levels)[-1]  # too small for a cell
    screen[:60] = 200
    assert shown(screen, levels)[-1] != atoms[-1]


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (250, 160), (3, 500), (128, 128)])
def test_screens_of_any_size(shape):
    screen = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    height, width = shape
    rows = np.arange(height)[:, None] * 14 // height
    columns = np.arange(width) * 16 // width
    wanted = {*((rows * 16 + columns) * 256 + screen).ravel().tolist()}
    found = shown(screen, np.arange(256, dtype=np.uint8))[:-1].tolist()
    assert len(found) == len({*found})
    assert {*found} <= wanted
    assert len(found) == min(len(wanted), 4095)


def test_what_few_screens_showed_is_worth_most():
    atoms = np.array([0, 1, 0, 2, 0, IN_TILES], np.int32)
    ends, counts = np.array([0, 2, 4, 6]), np.zeros(IN_TILES + CELLS, np.int32)
    counts[:2] = 9, 1
    of_nodes = worth(atoms, ends, counts, np.zeros(0, np.int32), 0.0, 9)
    news = [0.25 - 0.01, 1 - 0.01, 3 * (1 - 0.01)]  # what all nine showed is worth nothing
    assert of_nodes.tolist() == pytest.approx([new / (1 + new / 5) for new in news])


def test_safe_steps_end_at_losses_and_at_the_end():
    parent = np.array([-1, 0, 1, 2, 0, 4, 4], np.int32)
    rewards = np.array([0, 0, 0, -1, 0, 0, 1.0])
    terminal = np.array([0, 0, 0, 0, 0, 1, 0], np.bool_)
    safe, ahead = safe_below(parent, rewards, terminal)
    assert safe.tolist() == [True, True, True, False, True, False, True]
    assert ahead.tolist() == [2, 1, 0, 0, 1, 0, 0]
