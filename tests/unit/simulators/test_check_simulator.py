import copy
from dataclasses import replace

import numpy as np
import pytest

from olive_iw.simulators import SimulatorError, Step, check_simulator


class Counter:
    """A simulator as a user may write it: a number goes up or down; it ends at 10."""

    action_count = 2
    action_names = ("up", "down")

    def reset(self):
        self.number, self.clock = 0, 0
        return self.look(0.0)

    def step(self, action):
        self.number += 1 if action == 0 else -1
        self.clock += 1
        return self.look(1.0 if self.number == 3 else 0.0)

    def look(self, reward):
        screen = np.full((4, 6), self.number % 256, np.uint8)
        screen[0, 0] = self.clock % 256
        screen.flags.writeable = False
        return Step(screen, reward, terminal=abs(self.number) == 10, lives=1)

    def save(self):
        return self.number, self.clock

    def restore(self, state):
        self.number, self.clock = state


def broken(**methods):
    """A counter with some methods replaced."""
    return type("Broken", (Counter,), methods)()


def forgetful_restore(self, state):
    self.number = state[0]


def unstable_reset(self):
    self.number, self.clock = 0, getattr(self, "clock", 0)
    return self.look(0.0)


def careless_step(change):
    def step(self, action):
        return change(self, Counter.step(self, action))

    return step


def growing_screen(self, step):
    shape = (4, 6 + self.clock // 5)
    screen = np.zeros(shape, np.uint8)
    screen.flags.writeable = False
    return replace(step, screen=screen)


def restored_reward(self, step):
    return replace(step, reward=float(getattr(self, "restored", 0)))


def counting_restore(self, state):
    Counter.restore(self, state)
    self.restored = getattr(self, "restored", 0) + 1


class Hidden:
    """Compares as it should, but cannot be pickled."""

    def __init__(self, content):
        self.content = content

    def __reduce__(self):
        raise TypeError("states are not for sale")


class Living(Counter):
    """Hands out its own dictionary instead of a copy."""

    def reset(self):
        self.values = {"number": 0}
        return self.show()

    def step(self, action):
        self.values["number"] += 1
        return self.show()

    def show(self):
        self.number, self.clock = self.values["number"], 0
        return self.look(0.0)

    def save(self):
        return self.values

    def restore(self, state):
        self.values = state


def test_a_sound_simulator_passes():
    report = check_simulator(Counter(), steps=100)
    assert str(report).startswith("Counter keeps the simulator contract")
    counts = {check.name: check.count for check in report.checks}
    assert set(counts) == {
        "protocol", "colours", "reset", "steps", "restore", "terminal", "pickling", "immutability"
    }  # fmt: skip
    assert counts["restore"] >= 400
    assert counts["pickling"] == 100
    assert counts["terminal"] >= 1
    assert all(check.verified in str(report) for check in report.checks)


def test_the_same_seed_walks_the_same_way():
    assert check_simulator(Counter(), seed=3) == check_simulator(Counter(), seed=3)
    assert check_simulator(Counter(), seed=3) != check_simulator(Counter(), seed=4)


def test_the_report_of_a_restore_names_step_and_pixels():
    with pytest.raises(SimulatorError, match=r"^restore: screen differs in 1 pixels after restore"):
        check_simulator(broken(restore=forgetful_restore))
    with pytest.raises(SimulatorError, match=r"at step 1$"):
        check_simulator(broken(restore=forgetful_restore))


@pytest.mark.parametrize(
    ("simulator", "message"),
    [
        (object(), "protocol: action_count, action_names, reset, step, save, restore missing"),
        (broken(action_count=0), "actions: action_count must be a positive int, not 0"),
        (broken(action_names=("up",)), "actions: 2 actions need as many names"),
        (broken(reset=unstable_reset), "reset: screen differs in 1 pixels after the second reset"),
        (broken(step=careless_step(growing_screen)), r"steps: screen has shape \(4, 7\), had"),
        (broken(save=lambda self: Hidden(Counter.save(self))), "pickling: raised TypeError"),
        (
            broken(step=careless_step(restored_reward), restore=counting_restore),
            r"restore: reward is 2.0, was 0.0 after restore at step 1",
        ),
        (Living(), "immutability: screen differs in 23 pixels as its state changed at step 1"),
        (broken(restore=lambda self, state: 1 / 0), "restore: raised ZeroDivisionError"),
        (
            broken(grey_levels=np.zeros(4, np.uint8)),
            r"colours: .*grey_levels is uint8 of shape \(4,\); it must be uint8 of shape \(256,\)",
        ),
        (broken(grey_levels=np.zeros(256)), "colours: .*grey_levels is float64"),
        (
            broken(palette=np.zeros((256, 4), np.uint8)),
            r"colours: .*must be uint8 of shape \(256, 3",
        ),
        (broken(palette=[[0, 0, 0]]), "colours: .*palette is list of shape"),
    ],
)
def test_violations_are_named(simulator, message):
    with pytest.raises(SimulatorError, match=message):
        check_simulator(simulator)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"screen": np.zeros((4, 6), np.uint8)}, "screen must be read-only"),
        ({"screen": np.zeros((4, 6), np.float32)}, "screen is float32 .* must be a uint8 array"),
        ({"screen": np.zeros((4, 6, 3), np.uint8)}, "screen is .*: turn colours into grey levels"),
        ({"screen": [[0, 1]]}, "screen is list; it must be a uint8 array"),
        ({"ram": np.zeros((8, 2), np.uint8)}, "ram must be uint8 of shape"),
        ({"ram": [1, 2]}, "ram must be uint8 of shape"),
        ({"reward": 1}, r"reward must be a float up to 1e\+100, not 1"),
        ({"reward": float("nan")}, r"reward must be a float up to 1e\+100, not nan"),
        ({"terminal": 0}, "terminal must be a bool, not 0"),
        ({"lives": None}, "lives must be an int, not None"),
        ({"ram": np.zeros(8, np.uint8)}, "ram must be read-only"),
    ],
)
def test_ill_formed_steps_are_named(change, message):
    simulator = broken(step=careless_step(lambda self, step: replace(step, **change)))
    with pytest.raises(SimulatorError, match=f"steps: {message}"):
        check_simulator(simulator)


def test_something_else_than_a_step_is_named():
    with pytest.raises(SimulatorError, match="steps: what step or reset returned has no screen"):
        check_simulator(broken(reset=lambda self: None))


def test_an_end_that_cannot_be_left_is_caught():
    """Once over, always over: only a restore across the end shows it."""

    def step(self, action):
        found = Counter.step(self, action)
        self.over = getattr(self, "over", False) or found.terminal
        return replace(found, terminal=self.over)

    def reset(self):
        self.over = False
        return Counter.reset(self)

    with pytest.raises(SimulatorError, match="terminal is True, was False"):
        check_simulator(broken(step=step, reset=reset))


def test_a_state_changed_much_later_is_caught():
    """Saved states share a list that is cut after thirty saves."""

    def save(self):
        self.saved = getattr(self, "saved", [])
        self.saved.append(Counter.save(self))
        if len(self.saved) == 30:
            self.saved[0] = (5, 5)
        return _Shared(self.saved, len(self.saved) - 1)

    def restore(self, state):
        Counter.restore(self, state.all[state.index])

    with pytest.raises(SimulatorError, match="when restored much later at step 1"):
        check_simulator(broken(save=save, restore=restore))


class _Shared:
    def __init__(self, states, index):
        self.all, self.index = states, index

    def __reduce__(self):
        return _Shared, (copy.copy(self.all), self.index)
