"""Actions that lead to the same state are learned, and not bought twice."""

from dataclasses import replace

import numpy as np
import pytest

from olive_iw.agents import Decisions, play_episode
from olive_iw.algorithms import make_agent
from olive_iw.planners import RolloutIW, SearchWatch
from olive_iw.rules import Twins
from olive_iw.rules.twins import DIFFERENT, SAME, UNKNOWN
from olive_iw.search.drivers import Driver
from olive_iw.search.parallel import ParallelDriver
from olive_iw.search.tree import NONE, ROOT
from olive_iw.simulators import GridWorld
from olive_iw.simulators.grid import WORLDS, World

UP, DOWN, LEFT, RIGHT = range(4)
ROOM = (
    "#" * 16,
    "#A" + "." * 13 + "#",
    *["#" + "." * 14 + "#"] * 12,
    "#" + "." * 13 + "G#",
    "#" * 16,
)


class TwinWorld(GridWorld):
    """Every action is there twice: 0 and 4 are UP, 1 and 5 DOWN, and so on."""

    action_names = ("UP", "DOWN", "LEFT", "RIGHT", "up", "down", "left", "right")
    action_count = 8

    def _after(self, state, action):
        return super()._after(state, action % 4)


@pytest.fixture(autouse=True)
def room(monkeypatch):
    """Adds a wide room with the goal in the far corner."""
    monkeypatch.setitem(WORLDS, "room", World("a wide room", ROOM, width=1))


def started(world="room", seed=0, workers=None, avoid_twins=True, **options):
    rules = [Twins(avoid_twins)]
    planner = RolloutIW("patches", **{"bandit": "ttts", **options}, rules=rules)
    if workers is not None:
        planner.driver = ParallelDriver(workers)
    planner.start(TwinWorld(world), seed)
    return planner


def twins_of(planner):
    [rule] = planner.rules
    return rule


def calls_to_the_goal(seed, **options):
    """Calls that one long decision makes before it sees the goal, and what it has counted."""

    class Calls(SearchWatch):
        made, to_the_goal = 0, None

        def on_step(self, step):
            self.made += 1
            if step.reward > 0 and self.to_the_goal is None:
                self.to_the_goal = self.made

    planner, calls = started(seed=seed, **options), Calls()
    with planner.watched_by(calls):
        planner.decide(calls=5000)
    return calls.to_the_goal, planner.ledger.counters


@pytest.mark.parametrize("bandit", ["uniform", "ttts"])
def test_avoiding_twins_about_halves_the_calls_to_the_goal(bandit):
    """Learning what is a twin costs some hundred calls; what comes after costs half."""
    every, avoided = [], []
    for seed in range(5):
        calls, counters = calls_to_the_goal(seed, bandit=bandit, avoid_twins=False)
        assert (counters.skipped, counters.twins > 700) == (0, True)
        every.append(calls)
        calls, counters = calls_to_the_goal(seed, bandit=bandit)
        assert counters.skipped > 500
        assert counters.twins < 300
        avoided.append(calls)
    assert all(less < 0.7 * more for less, more in zip(avoided, every, strict=True))
    assert 0.45 < sum(avoided) / sum(every) < 0.65


def test_off_nothing_is_kept_and_nothing_is_drawn():
    plain, off = RolloutIW("patches"), started(bandit="uniform", avoid_twins=False)
    plain.start(TwinWorld("room"), 0)
    assert plain.rules == off.rules == ()
    assert told(plain) == told(off)


def test_pairs_are_counted_by_what_is_known_above():
    planner = started("corridor")
    search, twins = planner._search, twins_of(planner)
    search.ledger.budget.open(100)
    for action in (UP, DOWN, RIGHT):  # two walls, and a way
        search.expand(ROOT, action)
    assert twins.pairs[UNKNOWN].sum() == 2 * 3
    assert twins.same[UNKNOWN].sum() == 2 * 1
    assert twins.same[UNKNOWN, UP, DOWN] == twins.same[UNKNOWN, DOWN, UP] == 1
    assert twins.pairs[SAME].sum() == twins.pairs[DIFFERENT].sum() == 0
    further = int(planner.tree.children[ROOT, RIGHT])
    for action in (UP, DOWN, RIGHT, LEFT):
        search.expand(further, action)
    assert twins.pairs[SAME, UP, DOWN] == twins.same[SAME, DOWN, UP] == 1
    assert twins.pairs[SAME].sum() == 2
    assert twins.pairs[DIFFERENT, RIGHT].tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert twins.same[DIFFERENT].sum() == 0
    assert twins.pairs[UNKNOWN, LEFT].tolist() == [1, 1, 0, 1, 0, 0, 0, 0]
    assert [planner.tree.is_twin(node) for node in range(1, 8)] == [False, True, False] * 2 + [
        False
    ]
    planner.start(TwinWorld("corridor"), 0)
    assert twins.pairs.sum() == twins.same.sum() == 0


def standing_at_root(known, believed):
    """A planner whose root has some children, and what it believes of pairs: (n, same)."""
    planner = started("corridor")
    planner.ledger.budget.open(100)
    for action in known:
        planner._search.expand(ROOT, action)
    planner.tree.enter(ROOT)
    twins = twins_of(planner)
    twins.start(planner._search)
    for (one, other), (pairs, same) in believed.items():
        twins.pairs[UNKNOWN, one, other], twins.same[UNKNOWN, one, other] = pairs, same
    return planner, twins


def offered(planner, twins):
    """What the bandit is told of the root, and how many actions that leaves out."""
    counters = planner.ledger.counters
    before = counters.skipped
    told = twins.offer(planner._search, ROOT, planner.tree.statistics(ROOT))
    return told, counters.skipped - before


def test_a_chance_is_the_greatest_over_the_known_children_and_needs_five_pairs():
    believed = {(DOWN, UP): (9, 6), (DOWN, RIGHT): (9, 1), (LEFT, UP): (4, 4), (5, 4): (9, 9)}
    planner, twins = standing_at_root([UP, RIGHT], believed)
    expected = [0, 0.6, 0, 0, 0, 0, 0, 0]  # 4 pairs are too few, and 4 is no known child
    unsolved = np.ones(8, np.bool_)
    chances, greatest = twins.chances(planner.tree, ROOT, unsolved)
    assert (chances.tolist(), greatest) == (expected, 0.6)
    twins.pairs[UNKNOWN, LEFT, UP] = twins.same[UNKNOWN, LEFT, UP] = 5
    chances, greatest = twins.chances(planner.tree, ROOT, unsolved)
    assert chances[LEFT] == greatest == 5 / 6
    unsolved[LEFT] = False
    assert twins.chances(planner.tree, ROOT, unsolved)[1] == 0.6


def test_a_likely_twin_is_skipped_as_often_as_its_chance_says():
    planner, twins = standing_at_root([UP], {(DOWN, UP): (9, 8), (LEFT, UP): (9, 5)})
    tree, skipped = planner.tree, 0
    for _ in range(2000):
        told, number = offered(planner, twins)
        assert number == 1 - tree.unsolved[ROOT, DOWN]
        assert tree.unsolved[ROOT].sum() == 8 - number  # a chance of 1/2 is not enough
        assert np.flatnonzero(told.unsolved).tolist() == [UP, RIGHT, 4, 5, 6, 7]  # least first
        skipped += number
        tree.unsolved[ROOT] = True
    assert skipped / 2000 == pytest.approx(0.8, abs=0.03)


def test_nothing_is_skipped_where_nothing_else_is_left():
    certain = (10**6, 10**6)
    planner, twins = standing_at_root([UP], {(DOWN, UP): certain, (LEFT, UP): (99, 80)})
    tree = planner.tree
    tree.unsolved[ROOT] = False
    tree.unsolved[ROOT, DOWN] = True
    told, skipped = offered(planner, twins)
    assert (skipped, np.flatnonzero(told.unsolved).tolist()) == (0, [DOWN])
    tree.unsolved[ROOT, UP] = True
    told, skipped = offered(planner, twins)
    assert (skipped, np.flatnonzero(told.unsolved).tolist()) == (1, [UP])
    assert np.flatnonzero(tree.unsolved[ROOT]).tolist() == [UP]


def test_a_node_without_known_children_is_left_alone():
    planner, twins = standing_at_root([], {(DOWN, UP): (9, 9)})
    statistics = planner.tree.statistics(ROOT)
    assert twins.offer(planner._search, ROOT, statistics) is statistics


def told(planner, calls=60, decisions=5):
    """What there is to know of some decisions, but for what the features have cached."""
    found = []
    for _ in range(decisions):
        decision = planner.decide(calls)
        tree = planner.tree
        found.append((decision.action, decision.calls, decision.visits.tolist()))
        found.append((tree.parent[: len(tree)].tolist(), tree.action[: len(tree)].tolist()))
        counters = replace(planner.ledger.counters, cache_hits=0, cache_misses=0)
        found.append((tree.alike[: len(tree)].tolist(), counters))
        planner.advance(decision.action)
    return found


def test_the_same_seed_gives_the_same_search():
    planner = started(seed=3)
    first = told(planner)
    assert planner.ledger.counters.skipped > 0
    planner.start(TwinWorld("room"), 3)
    assert told(planner) == first
    assert told(started(seed=4)) != first


def test_a_return_to_a_bookmark_brings_the_statistics_back():
    planner = started()
    told(planner)
    mark = planner.bookmark()
    first = told(planner)
    for _ in range(2):
        planner.return_to(mark)
        assert told(planner) == first


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_avoid_twins_too(workers):
    found = []
    for _ in range(2):
        planner = started(workers=workers)
        try:
            found.append(told(planner))
            assert planner.ledger.counters.skipped > 0
            assert not planner.driver.blocked.any()
            assert not planner.driver.virtual_visits.any()
        finally:
            planner.close()
    assert found[0] == found[1]
    if workers == 1:
        planner = started()
        assert type(planner.driver) is Driver
        assert told(planner) == found[0]


def test_a_search_to_the_end_finds_every_state_that_is_left():
    planner = started("lava")
    decision = planner.decide(calls=5000)
    tree = planner.tree
    assert decision.stopped == "exhausted"
    assert tree.solved[ROOT]
    assert (tree.children[ROOT] != NONE).any()


def test_it_is_an_option_of_agents_and_is_counted_in_episodes():
    agent = make_agent("patch-iw", avoid_twins=True)
    assert agent.planner.rules == (Twins(),)
    assert agent.spec.variant == "avoid_twins=true"
    assert make_agent("patch-iw").planner.rules == ()
    options = Decisions(calls_per_action=60)
    episode = play_episode(agent.planner, TwinWorld("room"), options, seed=0, max_actions=4)
    assert episode.skipped_twins == agent.planner.ledger.counters.skipped > 0
