"""A simulator in a process of its own: the same steps, and an error where it hangs or crashes."""

import pickle

import numpy as np
import pytest
from synthetic import PixelFeatures, SyntheticSimulator, WaywardSimulator

from olive_iw.errors import InputError
from olive_iw.planners import RolloutIW
from olive_iw.simulators import LimitedSimulator, SimulatorError, check_simulator, make_simulator


@pytest.fixture
def limited():
    """Makes limited simulators, and ends their processes with the test."""
    made = []

    def make(simulator, *seconds):
        made.append(LimitedSimulator(simulator, *seconds))
        return made[-1]

    yield make
    for simulator in made:
        simulator.close()


def test_it_keeps_the_contract_and_shows_what_the_simulator_shows(limited):
    report = check_simulator(limited(make_simulator("grid:key-door")), steps=30)
    assert report.checks == check_simulator(make_simulator("grid:key-door"), steps=30).checks
    plain, other = make_simulator("breakout"), limited(make_simulator("breakout"))
    for one in (plain, other):
        one.reset()
    for action in (1, 2, 3):
        expected, found = plain.step(action), other.step(action)
        assert np.array_equal(expected.screen, found.screen)
        assert np.array_equal(expected.ram, found.ram)
    assert (other.action_names, other.frame_skip) == (plain.action_names, plain.frame_skip)
    assert np.array_equal(other.grey_levels, plain.grey_levels)


@pytest.mark.parametrize(
    ("happens", "says"),
    [
        (600, "a process did not answer within 0.5 seconds when .* told to do action 1"),
        ("die", "a process died when the simulator was told to do action 1"),
    ],
)
def test_a_call_that_hangs_or_crashes_is_an_error_and_others_are_possible(limited, happens, says):
    simulator = limited(WaywardSimulator(at={(1,): happens}, terminal_chance=0.0), 0.5)
    first = simulator.reset()
    state = simulator.save()
    with pytest.raises(SimulatorError, match=says):
        simulator.step(1)
    simulator.restore(state)
    assert simulator.step(2).reward == SyntheticSimulator(terminal_chance=0.0).step(2).reward
    assert np.array_equal(simulator.reset().screen, first.screen)


def test_search_workers_share_its_limit(limited):
    simulator = limited(SyntheticSimulator(), 7.0)
    assert type(pickle.loads(pickle.dumps(simulator))) is SyntheticSimulator
    found = []
    for one in (simulator, SyntheticSimulator()):
        planner = RolloutIW(PixelFeatures(), bandit="uniform", workers=2)
        planner.start(one, seed=0)
        found.append(planner.decide(40).values.tolist())
        if one is simulator:
            assert planner.driver.pool.call_seconds == 7.0
        planner.close()
    assert found[0] == found[1]


def test_what_cannot_be_is_refused(limited):
    with pytest.raises(InputError, match="call_seconds = 0"):
        LimitedSimulator(SyntheticSimulator(), 0)
    simulator = limited(SyntheticSimulator())
    with pytest.raises(SimulatorError, match="only reset or restore"):
        simulator.save()
