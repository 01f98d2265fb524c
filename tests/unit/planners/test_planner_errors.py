"""What cannot be is refused in one line that names it."""

import dataclasses

import numpy as np
import pytest
from oracle import drawn
from synthetic import PixelFeatures, SyntheticSimulator

from olive_iw.errors import InputError
from olive_iw.features import FeaturesError, check_features
from olive_iw.planners import UCT, BreadthFirst, RolloutIW
from olive_iw.simulators import GridWorld, SimulatorError


def endless(action_count=3):
    return SyntheticSimulator(action_count=action_count, terminal_chance=0.0, lives=0)


class Broken:
    """The synthetic simulator, whose steps from the fifth on (or reset) are changed."""

    def __init__(self, change, reset=False, action_count=3):
        self._inner = endless(action_count)
        self._change, self._change_reset = change, reset
        self.action_count, self.action_names = action_count, self._inner.action_names
        self.save, self.restore = self._inner.save, self._inner.restore

    def reset(self):
        step = self._inner.reset()
        return self._change(step) if self._change_reset else step

    def step(self, action):
        step = self._inner.step(action)
        return step if len(self._inner.log) <= 4 else self._change(step)


def wide(step):
    return dataclasses.replace(step, screen=np.zeros((3, 4), np.uint8))


def with_reward(reward):
    return lambda step: dataclasses.replace(step, reward=reward)


PLANNERS = [lambda: RolloutIW(PixelFeatures(), width=2), UCT, BreadthFirst]


@pytest.mark.parametrize("make", PLANNERS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (wide, r"Broken\.step\(\d\).*shape \(3, 4\).*reset\(\) showed \(3, 3\)"),
        (
            lambda step: dataclasses.replace(step, screen=np.zeros((3, 3))),
            r"Broken\.step\(\d\) shows a screen that is float64 .* must be a uint8 array",
        ),
        (with_reward(float("nan")), r"Broken\.step\(\d\) gave the reward nan"),
        (with_reward(float("inf")), r"Broken\.step\(\d\) gave the reward inf"),
        (with_reward(None), r"Broken\.step\(\d\) gave the reward None"),
        (lambda step: (step.screen, 0.0), r"Broken\.step\(\d\) returned tuple, not a Step"),
        (lambda step: None, r"Broken\.step\(\d\) returned NoneType, not a Step"),
    ],
)
def test_a_simulator_that_breaks_its_contract_while_planning(make, change, message):
    planner = make()
    planner.start(Broken(change), seed=0)
    with pytest.raises(SimulatorError, match=message):
        planner.decide(calls=50)
    assert planner.tree.size == 5  # nothing of the broken step is in the tree


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda step: step.screen, r"Broken\.reset\(\) returned ndarray, not a Step"),
        (
            lambda step: dataclasses.replace(step, screen=np.zeros((3, 3, 3), np.uint8)),
            r"Broken\.reset\(\) shows a screen that is uint8 of shape \(3, 3, 3\).*: turn colours",
        ),
        (with_reward(float("nan")), r"Broken\.reset\(\) gave the reward nan"),
    ],
)
def test_a_simulator_whose_reset_breaks_the_contract(change, message):
    with pytest.raises(SimulatorError, match=message):
        BreadthFirst().start(Broken(change, reset=True), seed=0)


@pytest.mark.parametrize("make", [lambda: RolloutIW(None), UCT, BreadthFirst])
def test_planning_goes_on_rightly_after_a_call_was_interrupted(make):
    """The simulator has moved by then, though the tree has not."""

    def interrupt(step):
        simulator._change = lambda step: step
        raise KeyboardInterrupt

    planner = make()
    simulator = Broken(interrupt, action_count=1)  # the next call is from the very same node
    planner.start(simulator, seed=0)
    with pytest.raises(KeyboardInterrupt):
        planner.decide(calls=50)
    planner.decide(calls=5)
    fresh = endless(action_count=1)
    for node in range(1, planner.tree.size):
        fresh.reset()
        for on_path in planner.tree.path(node)[1:]:
            step = fresh.step(int(planner.tree.action[on_path]))
        assert np.array_equal(step.screen, planner.tree.seen[node].step.screen)


@pytest.mark.parametrize("make", PLANNERS)
@pytest.mark.parametrize("calls", [0, -1])
def test_a_budget_must_be_positive(make, calls):
    planner = make()
    planner.start(SyntheticSimulator(), seed=0)
    with pytest.raises(InputError, match=f"budget of {calls} calls.*at least 1"):
        planner.decide(calls)
    assert planner.ledger.calls == 0


@pytest.mark.parametrize("make", PLANNERS)
def test_nothing_can_be_decided_or_done_after_the_end(make):
    planner = make()
    simulator = SyntheticSimulator(last_depth=1)
    planner.start(simulator, seed=0)
    planner.advance(planner.decide(calls=5).action)
    assert planner.over
    with pytest.raises(InputError, match="episode is over; call start"):
        planner.decide(calls=5)
    with pytest.raises(InputError, match="episode is over; call start"):
        planner.advance(0)
    planner.start(simulator, seed=0)
    assert not planner.over


@pytest.mark.parametrize("make", PLANNERS)
def test_nothing_can_be_decided_or_done_before_the_start(make):
    planner = make()
    with pytest.raises(InputError, match=r"call start\(\) first"):
        planner.decide(calls=5)
    with pytest.raises(InputError, match=r"call start\(\) first"):
        planner.advance(0)


@pytest.mark.parametrize("action", [-1, 3])
def test_an_action_that_the_simulator_does_not_have(action):
    planner = UCT()
    planner.start(SyntheticSimulator(), seed=0)
    planner.decide(calls=10)
    before = drawn(planner.tree)
    with pytest.raises(InputError, match=f"no action {action}; actions are 0 to 2"):
        planner.advance(action)
    assert drawn(planner.tree) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandit": "ucb2"}, "unknown bandit 'ucb2'; did you mean ucb1"),
        ({"features": "bprosd"}, "unknown features 'bprosd'; did you mean bprost"),
        ({"width": 3}, "width 3.*1, 2 or None"),
        ({"discount": 0.0}, r"discount 0\.0.*\(0, 1\]"),
        ({"discount": 1.01}, r"discount 1\.01"),
        ({"depth_limit": 0}, "depth limit 0.*at least 1"),
    ],
)
def test_rollout_iw_refuses(options, message):
    with pytest.raises(InputError, match=message):
        RolloutIW(**{"features": "patches", **options})


def test_uct_refuses_to_be_random_search():
    with pytest.raises(InputError, match="would be random search; try 'ucb1'"):
        UCT(bandit="uniform")


@pytest.mark.parametrize("features", ["bprost", "ram"])
def test_features_that_the_simulator_cannot_give(features):
    planner = RolloutIW(features)
    with pytest.raises(FeaturesError, match="patches"):
        planner.start(GridWorld("corridor"), seed=0)
    with pytest.raises(InputError, match=r"call start\(\) first"):
        planner.decide(calls=5)


class Gives:
    """Features that give the same, one after the other."""

    size = 10

    def __init__(self, *given):
        self.given = list(given)

    def prepare(self, simulator, first):
        self.turn = -1

    def of_step(self, step, previous):
        self.turn += 1
        return self.given[self.turn % len(self.given)]


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], r"the features Gives gave list; atoms are a sorted int32 array"),
        (None, "the features Gives gave NoneType"),
        (np.array([1.0]), r"the features Gives gave float64 of shape \(1,\)"),
        (np.array([[1]], np.int32), r"the features Gives gave int32 of shape \(1, 1\)"),
        (np.array([10], np.int32), r"an atom outside \[0, size\)"),
    ],
)
def test_features_that_give_no_atoms_are_refused_in_one_line(given, message, width):
    planner = RolloutIW(Gives(given), width=width)
    with pytest.raises(InputError, match=message):  # noqa: PT012
        planner.start(endless(), seed=0)
        planner.decide(5)


def test_what_is_no_part_is_refused_in_one_line():
    with pytest.raises(InputError, match="object is no features: it lacks size, prepare or"):
        RolloutIW(object())
    with pytest.raises(InputError, match="object is no bandit: it lacks the method choose"):
        RolloutIW("patches", bandit=object())


def ints(*atoms):
    return np.array(atoms, np.int32)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[1]], "gave list"),
        ([np.array([1])], "atoms of Gives are int64, not int32, at step 0"),
        ([ints(1), ints(2, 1)], "not sorted, or not unique, at step 1"),
        ([ints(2, 2)], "not sorted, or not unique"),
        ([ints(10)], r"outside \[0, 10\)"),
        ([ints(-1)], r"outside \[0, 10\)"),
    ],
)
def test_check_features_names_what_is_wrong(given, message):
    check_features(Gives(ints()), endless())
    with pytest.raises(FeaturesError, match=message):
        check_features(Gives(*given), endless())


def test_check_features_notices_memory_and_changes():
    class Remembers(Gives):
        def prepare(self, simulator, first):
            self.turn = getattr(self, "turn", -1)

    class Changes(Gives):
        def of_step(self, step, previous):
            self.given[0] += self.given[0] < 9
            return self.given[0]

    with pytest.raises(FeaturesError, match="other atoms for step 0"):
        check_features(Remembers(ints(1), ints(2), ints(3)), endless(), steps=9)
    with pytest.raises(FeaturesError, match="changed the atoms of step 0 afterwards"):
        check_features(Changes(ints(0)), endless(), steps=3)
