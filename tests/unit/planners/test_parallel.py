"""Search with several workers: the sequential search with one, a fixed one with more."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic import PixelFeatures, SyntheticSimulator, WaywardSimulator

from olive_iw.algorithms import make_agent
from olive_iw.errors import InputError
from olive_iw.features.vae import make_vae
from olive_iw.planners import RolloutIW, SearchWatch
from olive_iw.search.drivers import Driver
from olive_iw.search.parallel import ParallelDriver
from olive_iw.search.tree import NONE, ROOT
from olive_iw.simulators import AtariSimulator, GridWorld

ARRAYS = ["parent", "action", "depth", "reward", "terminal", "lives", "children", "value"]
ARRAYS += ["shaped_reward", "count", "mean", "variance", "unsolved", "solved"]


@pytest.fixture
def parallel():
    """Makes planners with workers, and ends the workers with the test."""
    made = []

    def make(features, *, workers, **options):
        made.append(RolloutIW(features, **options))
        made[-1].driver = ParallelDriver(workers)  # also for one worker
        return made[-1]

    yield make
    for planner in made:
        planner.close()


def play(planner, simulator, calls=30, decisions=4, seed=5):
    """Everything there is to know of some decisions, to be compared bit for bit."""
    planner.start(simulator, seed)
    told = []
    for _ in range(decisions):
        if planner.over:
            break
        decision = planner.decide(calls)
        tree, ledger = planner.tree, planner.ledger
        told.append((decision.action, decision.calls, decision.stopped))
        told.append((decision.values.tobytes(), decision.visits.tobytes()))
        told.append([getattr(tree, name)[: len(tree)].tobytes() for name in ARRAYS])
        told.append([(seen.atoms.tobytes(), seen.step.screen.tobytes()) for seen in tree.seen])
        told.append((ledger.calls, replace(ledger.counters)))
        if isinstance(planner.driver, ParallelDriver):
            assert_nothing_under_way(planner)
        planner.advance(decision.action)
    return told


def assert_nothing_under_way(planner):
    assert not planner.driver.virtual_visits.any()
    assert not planner.driver.blocked.any()


OPTIONS = [
    {"bandit": "uniform"},
    {"bandit": "ttts"},
    {"bandit": "ucb1", "width": 2},
    {"bandit": "max", "width": None, "depth_limit": 3},
    {"bandit": "ttts", "width": 2},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_one_worker_is_the_sequential_search(parallel, options):
    plain = play(RolloutIW(PixelFeatures(), **options), SyntheticSimulator(seed=2))
    one = play(parallel(PixelFeatures(), workers=1, **options), SyntheticSimulator(seed=2))
    assert one == plain


@pytest.mark.parametrize("features", ["bprost", "patches", "vae"])
def test_one_worker_is_the_sequential_search_in_atari(parallel, features):
    def made():
        return make_vae("laptop", 3) if features == "vae" else features

    plain = play(RolloutIW(made(), bandit="ttts"), AtariSimulator("breakout"), 25, 3)
    one = play(parallel(made(), workers=1, bandit="ttts"), AtariSimulator("breakout"), 25, 3)
    assert one == plain


@pytest.mark.parametrize("workers", [2, 3, 5])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_same_seed_gives_the_same_search_whoever_is_slow(parallel, workers, options):
    fast = play(
        parallel(PixelFeatures(), workers=workers, **options), WaywardSimulator(seed=2), calls=15
    )
    waits = {(action,) * length: 0.02 for action in range(3) for length in range(1, 5)}
    slow = play(
        parallel(PixelFeatures(), workers=workers, **options),
        WaywardSimulator(seed=2, at=waits),
        calls=15,
    )
    assert slow == fast


def test_with_learned_features_the_search_is_the_same_again(parallel):
    planners = [parallel(make_vae("laptop", 3), workers=3, bandit="ttts") for _ in range(2)]
    game = AtariSimulator("space_invaders")
    one, other = (play(planner, game, calls=40, decisions=2) for planner in planners)
    assert one == other
    for planner in planners:
        for seen in planner.tree.seen:
            assert np.array_equal(seen.atoms, planner.features.atoms(seen.step.screen))


@pytest.mark.parametrize("workers", [2, 3, 7])
@pytest.mark.parametrize("calls", [1, 2, 17])
def test_the_budget_is_spent_to_the_call(parallel, workers, calls):
    planner = parallel(PixelFeatures(), workers=workers, width=None)
    planner.start(SyntheticSimulator(terminal_chance=0.0, lives=0), 0)
    for _ in range(3):
        known = len(planner.tree)
        decision = planner.decide(calls)
        assert (decision.calls, decision.stopped) == (calls, "budget")
        assert len(planner.tree) == known + calls
        assert decision.visits.sum() >= 1
        planner.advance(decision.action)


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize("actions", [1, 2, 3])
def test_a_search_without_pruning_makes_every_call_once_and_ends(parallel, workers, actions):
    depth = 4
    simulator = SyntheticSimulator(action_count=actions, terminal_chance=0.0, lives=0)
    planner = parallel(None, workers=workers, depth_limit=depth, bandit="ttts")
    planner.start(simulator, 0)
    decision = planner.decide(10_000)
    nodes = sum(actions**level for level in range(1, depth + 1))
    assert (decision.calls, decision.stopped) == (nodes, "exhausted")
    assert len(planner.tree) == nodes + 1
    assert_nothing_under_way(planner)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_find_the_reward_of_a_world_of_width_one(parallel, workers):
    planner = parallel("patches", workers=workers)
    planner.start(GridWorld("corridor"), 1)
    decision = planner.decide(450)
    assert planner.tree.reward[: len(planner.tree)].max() > 0
    assert np.nanmax(decision.values) == decision.values[decision.action] > 0


def test_rollouts_under_way_count_as_visits_and_block_their_calls(parallel):
    seen = []

    class Recording:
        def choose(self, statistics, generator):
            seen.append((statistics.count.tolist(), statistics.unsolved.tolist()))
            return int(np.flatnonzero(statistics.unsolved)[0])

    planner = parallel(None, workers=3, bandit=Recording(), depth_limit=5)
    planner.start(SyntheticSimulator(terminal_chance=0.0, lives=0), 0)
    planner.decide(3)
    # Three rollouts leave the root before the first answer is taken.
    assert seen[:3] == [
        ([0, 0, 0], [True, True, True]),
        ([1, 0, 0], [False, True, True]),
        ([1, 1, 0], [False, False, True]),
    ]
    assert planner.tree.children[ROOT].tolist() == [1, 2, 3]
    assert NONE in planner.tree.children[1]


def test_a_dead_worker_does_not_change_the_search(parallel, tmp_path):
    calm = play(parallel(PixelFeatures(), workers=2), WaywardSimulator(seed=2))
    deadly = WaywardSimulator(
        seed=2, at={(action,): "die" for action in range(3)}, once=str(tmp_path / "died")
    )
    planner = parallel(PixelFeatures(), workers=2)
    assert play(planner, deadly) == calm
    assert (tmp_path / "died").exists()


def test_after_an_error_the_planner_goes_on(parallel, tmp_path):
    at = {(action, other): "raise" for action in range(3) for other in range(3)}
    simulator = WaywardSimulator(seed=2, at=at, once=str(tmp_path / "raised"))
    planner = parallel(PixelFeatures(), workers=3)
    planner.start(simulator, 0)
    with pytest.raises(ZeroDivisionError, match="no luck"):
        planner.decide(20)
    assert_nothing_under_way(planner)
    known = len(planner.tree)
    decision = planner.decide(20)
    assert len(planner.tree) == known + decision.calls
    assert_nothing_under_way(planner)


def test_an_interrupted_search_leaves_a_tree_to_go_on_with(parallel):
    planner = parallel(PixelFeatures(), workers=2, width=None)
    planner.start(SyntheticSimulator(terminal_chance=0.0, lives=0), 0)
    steps = []

    class Interrupt(SearchWatch):
        def on_step(self, step):
            steps.append(step)
            if len(steps) == 7:
                raise KeyboardInterrupt

    with planner.watched_by(Interrupt()), pytest.raises(KeyboardInterrupt):
        planner.decide(30)
    assert_nothing_under_way(planner)
    assert planner.decide(30).calls == 30


def test_an_untried_action_and_a_return_to_a_bookmark(parallel):
    def after(planner):
        decision = planner.decide(20)
        return decision.values.tolist(), planner.tree.parent[: len(planner.tree)].tolist()

    planner = parallel(PixelFeatures(), workers=2, bandit="ttts")
    planner.start(SyntheticSimulator(seed=1, terminal_chance=0.0, lives=0), 0)
    planner.decide(1)
    untried = int(np.flatnonzero(planner.tree.children[ROOT] == NONE)[0])
    planner.advance(untried)
    bookmark = planner.bookmark()
    first = after(planner)
    planner.advance(0)
    planner.return_to(bookmark)
    assert after(planner) == first


def test_every_step_is_shown_once(parallel):
    shown = []
    planner = parallel(PixelFeatures(), workers=3)

    class Show(SearchWatch):
        def on_step(self, step):
            shown.append(step)

    with planner.watched_by(Show()):
        planner.start(SyntheticSimulator(seed=4), 0)
        planner.decide(25)
    assert {id(step) for step in shown} == {id(seen.step) for seen in planner.tree.seen}
    assert len(shown) == len(planner.tree)


def test_only_rollout_iw_has_workers():
    for algorithm in ("uct", "breadth-first", "iw-1"):
        with pytest.raises(InputError, match=f"unknown option of {algorithm} 'search_workers'"):
            make_agent(algorithm, search_workers=2)
    with pytest.raises(InputError, match="at least 1"):
        RolloutIW(None, workers=0)
    assert type(RolloutIW(None).driver) is Driver
    assert RolloutIW(None, workers=3).driver.workers == 3
    assert isinstance(make_agent("patch-iw", search_workers=1).planner, RolloutIW)
