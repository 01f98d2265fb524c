import importlib
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from olive_iw.errors import InputError
from olive_iw.simulators import NO_SCREEN, GymnasiumSimulator, SimulatorError, check_simulator


class Noise(gymnasium.Env):
    """Random pictures, grey or coloured; ends when a random number says so."""

    action_space = Discrete(3, start=5)

    def __init__(self, shape=(40, 48), key=None):
        self.shape, self.key = shape, key
        self.observation_space = Box(0, 255, shape, np.uint8)
        if key is not None:
            self.observation_space = Dict({key: self.observation_space})
        self.itself = self

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observe(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.added = action
        return self.observe(), action, bool(self.np_random.random() < 0.05), False, {}

    def observe(self):
        picture = self.np_random.integers(256, size=self.shape, dtype=np.uint8)
        return picture if self.key is None else {self.key: picture}


class Foreign(Noise):
    """Keeps something that cannot be copied, as compiled simulators do."""

    def __init__(self):
        super().__init__()
        self.engine = (number for number in range(3))
        self.count = 0

    def step(self, action):
        self.count += 1
        picture = np.full(self.shape, self.count % 256, np.uint8)
        return picture, 0.0, False, False, {}


@pytest.mark.parametrize(
    ("identifier", "shape"),
    [
        ("MiniGrid-DoorKey-5x5-v0", (160, 160)),
        ("MiniGrid-Dynamic-Obstacles-5x5-v0", (160, 160)),
        ("CartPole-v1", (400, 600)),
        ("ALE/Breakout-v5", (210, 160)),
    ],
)
def test_environments_keep_the_contract(identifier, shape):
    simulator = GymnasiumSimulator(identifier)
    check_simulator(simulator, steps=25)
    assert simulator.reset().screen.shape == shape
    assert len(np.unique(simulator.reset().screen)) > 2


def test_random_numbers_travel_with_the_state():
    check_simulator(GymnasiumSimulator(Noise()), steps=50)
    check_simulator(GymnasiumSimulator(Noise((40, 40, 3), key="image")), steps=20)


def test_the_seed_chooses_the_episode():
    first, same, other = (GymnasiumSimulator(Noise(), seed=seed).reset() for seed in (0, 0, 1))
    assert np.array_equal(first.screen, same.screen)
    assert not np.array_equal(first.screen, other.screen)


def test_a_state_restores_in_another_simulator():
    simulator, other = (GymnasiumSimulator("CartPole-v1") for _ in range(2))
    simulator.step(0)
    state = pickle.loads(pickle.dumps(simulator.save()))
    expected = [simulator.step(action).screen for action in (0, 1, 0)]
    other.restore(state)
    found = [other.step(action).screen for action in (0, 1, 0)]
    assert np.array_equal(expected, found)


def test_an_attribute_made_after_saving_is_gone_after_restoring():
    environment = Noise()
    simulator = GymnasiumSimulator(environment)
    state = simulator.save()
    simulator.step(0)
    assert hasattr(environment, "added")
    simulator.restore(state)
    assert not hasattr(environment, "added")
    assert environment.itself is environment


def test_actions_start_where_the_space_does():
    simulator = GymnasiumSimulator(Noise())
    assert simulator.action_count == 3
    assert [simulator.step(action).reward for action in range(3)] == [5.0, 6.0, 7.0]
    assert simulator.action_names == ("action 0", "action 1", "action 2")
    with pytest.raises(SimulatorError, match="no action -1; actions are 0 to 2"):
        simulator.step(-1)


def test_names_of_actions():
    assert GymnasiumSimulator("MiniGrid-Empty-5x5-v0").action_names[:3] == (
        "left", "right", "forward"
    )  # fmt: skip
    assert GymnasiumSimulator("ALE/Pong-v5").action_names[1] == "FIRE"


def test_nothing_follows_the_end():
    simulator = GymnasiumSimulator(Noise())
    while not simulator.step(0).terminal:
        pass
    over = simulator.save()
    for restore in (lambda: None, lambda: simulator.restore(over)):
        restore()
        with pytest.raises(SimulatorError, match="the episode is over"):
            simulator.step(0)
        assert not simulator.reset().terminal
        simulator.step(0)


def test_time_limits_and_wrappers_are_left_out():
    environment = gymnasium.make("MountainCar-v0", render_mode="rgb_array", max_episode_steps=3)
    simulator = GymnasiumSimulator(environment)
    assert not any(simulator.step(1).terminal for _ in range(6))


def test_lives_of_ale_games():
    assert GymnasiumSimulator("ALE/Breakout-v5").reset().lives == 5


def test_colours_become_grey_levels():
    class Stripes(Noise):
        def observe(self):
            picture = np.zeros((40, 40, 3), np.uint8)
            picture[0], picture[1], picture[2], picture[3] = (
                (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
            )  # fmt: skip
            return picture

    screen = GymnasiumSimulator(Stripes()).reset().screen
    assert screen[:5, 7].tolist() == [76, 150, 29, 255, 0]


def test_functions_of_the_user_save_what_cannot_be_copied():
    with pytest.raises(InputError, match=r"Foreign cannot be copied .* pass save= and restore="):
        GymnasiumSimulator(Foreign())
    simulator = GymnasiumSimulator(
        Foreign(),
        save=lambda env: env.count,
        restore=lambda env, count: setattr(env, "count", count),
    )
    check_simulator(simulator, steps=20)
    with pytest.raises(InputError, match="pass both functions or neither"):
        GymnasiumSimulator(Noise(), save=lambda env: None)


def test_small_observations_are_no_pictures_unless_said_so():
    first = GymnasiumSimulator(Noise((7, 7, 3))).reset()
    assert first.screen is NO_SCREEN
    assert first.values.shape == (7 * 7 * 3,)
    simulator = GymnasiumSimulator(Noise((7, 7, 3)), screen="observation")
    assert simulator.reset().screen.shape == (7, 7)
    rendered = GymnasiumSimulator("ALE/Pong-v5", screen="render").reset()
    observed = GymnasiumSimulator("ALE/Pong-v5").reset()
    assert np.array_equal(rendered.screen, observed.screen)


@pytest.mark.parametrize(
    ("identifier", "options", "message"),
    [
        ("Pendulum-v1", {}, r"actions are any numbers of Box.*--action-levels 3"),
        ("Pendulum-v1", {"action_levels": 1}, "action_levels = 1 is not possible"),
        ("Pendulum-v1", {"action_levels": 257}, "257 actions; at most 256"),
        ("CartPole-v1", {"action_levels": 3}, "action_levels are for actions that are a Box"),
        ("MiniGrid-DorKey-5x5-v0", {}, "did you mean MiniGrid-DoorKey-5x5-v0"),
        ("CartPole-v1", {"colour": 3}, "cannot make CartPole-v1: .*colour"),
        ("ALE/Pong-v5", {"repeat_action_probability": 0.25}, "sticky actions"),
        (Noise(), {"size": 3}, "options size are for ids, not for environments"),
    ],
)
def test_what_cannot_be_made_is_refused(identifier, options, message):
    with pytest.raises(InputError, match=message):
        GymnasiumSimulator(identifier, **options)


def test_a_missing_package_is_named(monkeypatch):
    def import_module(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", import_module)
    with pytest.raises(InputError, match="MiniGrid-Empty-5x5-v0 needs a package: pip install mini"):
        GymnasiumSimulator("MiniGrid-Empty-5x5-v0")
