"""What is observed: pictures of all kinds, or numbers of all kinds; and actions of all kinds."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text, Tuple

import olive_iw as olive
from olive_iw.errors import InputError
from olive_iw.simulators import NO_SCREEN, GymnasiumSimulator, check_simulator
from olive_iw.simulators.observations import names_of, numbers_of, picture_of

FLOATS = Box(0.0, 1.0, (3, 40, 48), np.float32)


class Any(gymnasium.Env):
    """Observes and does whatever its spaces say; what it is told is its reward."""

    def __init__(self, observations, actions=None):
        self.observation_space = observations
        self.action_space = actions or Discrete(3)
        self.told = 0.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.told = float(np.sum(np.asarray(action) * 1.0))
        return self.observation_space.sample(), self.told, False, False, {}


@pytest.mark.parametrize(
    ("space", "count"),
    [
        (Box(-1, 1, (2, 3)), 6),
        (Discrete(7), 1),
        (MultiDiscrete([3, 4]), 2),
        (MultiBinary(5), 5),
        (Dict(b=Discrete(3), a=Box(0, 1, (2,)), name=Text(4)), 3),
        (Tuple((Discrete(2), Tuple((Box(0, 1, (1,)), MultiBinary(2))))), 4),
        (Box(0, 255, (7, 7, 3), np.uint8), 147),
    ],
)
def test_numbers_of_every_kind_are_planned_on(space, count):
    simulator = GymnasiumSimulator(Any(space))
    first = simulator.reset()
    assert first.screen is NO_SCREEN
    assert first.values.shape == (count,)
    assert first.values.dtype == np.float64
    check_simulator(simulator, steps=15)


def test_dictionaries_are_read_in_the_order_of_their_keys():
    assert numbers_of({"b": 3, "a": np.array([1, 2]), "c": "text"}).tolist() == [1, 2, 3]
    assert numbers_of("text") is None
    assert names_of({"b": 3, "a": np.array([1, 2]), "c": "text"}) == ["a 0", "a 1", "b"]
    assert names_of({"b": (np.zeros((1, 2)), 4)}) == ["b 0 0,0", "b 0 0,1", "b 1"]
    assert names_of(5) == ["observation"]
    assert names_of({"image": np.ones((40, 40)), "n": 4}, without_picture=True) == ["n"]
    assert numbers_of({"image": np.ones((40, 40)), "n": 4}, without_picture=True).tolist() == [4]


@pytest.mark.parametrize(
    ("space", "shape"),
    [
        (FLOATS, (40, 48)),
        (Box(0.0, 1.0, (40, 48), np.float32), (40, 48)),
        (Box(-1.0, 1.0, (40, 48, 1), np.float64), (40, 48)),
        (Box(0, 255, (1, 40, 48), np.uint8), (40, 48)),
        (Dict(image=FLOATS, speed=Discrete(3)), (40, 48)),
    ],
)
def test_pictures_may_be_floats_and_have_their_channels_first(space, shape):
    simulator = GymnasiumSimulator(Any(space))
    assert simulator.reset().screen.shape == shape
    assert len(np.unique(simulator.reset().screen)) > 50
    check_simulator(simulator, steps=10)


def test_floats_are_read_within_their_bounds():
    picture = picture_of(np.full((32, 32), 0.5, np.float32), Box(-1.0, 1.0, (32, 32)))
    assert picture[0, 0] == 191
    assert picture_of(np.zeros((32, 32)), Box(-np.inf, np.inf, (32, 32))) is None


@pytest.mark.parametrize(
    ("space", "levels", "told", "names"),
    [
        (MultiDiscrete([2, 3]), None, [0, 1, 2, 1, 2, 3], ["0 0", "0 1", "0 2", "1 0"]),
        (MultiBinary(2), None, [0, 1, 1, 2], ["0 0", "0 1", "1 0", "1 1"]),
        (Box(-2.0, 2.0, (1,)), 5, [-2, -1, 0, 1, 2], ["-2", "-1", "0", "1", "2"]),
        (Box(0.0, 1.0, (2,)), 2, [0, 1, 1, 2], ["0 0", "0 1", "1 0", "1 1"]),
    ],
)
def test_actions_of_several_dimensions_are_their_product(space, levels, told, names):
    env = Any(Discrete(3), space)
    simulator = GymnasiumSimulator(env, action_levels=levels)
    assert simulator.action_count == len(told)
    assert [simulator.step(action).reward for action in range(len(told))] == told
    assert list(simulator.action_names[: len(names)]) == names


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (MultiBinary(9), "has 512 actions; at most 256"),
        (MultiDiscrete([20, 20]), "has 400 actions"),
        (Discrete(1000), "has 1,000 actions"),
        (Box(-np.inf, np.inf, (1,)), "action_levels=3"),
        (Tuple((Discrete(2),)), "cannot be planned with"),
    ],
)
def test_too_many_actions_are_refused_with_their_number(space, message):
    with pytest.raises(InputError, match=message):
        GymnasiumSimulator(Any(Discrete(3), space))
    with pytest.raises(InputError, match="has no bounds"):
        GymnasiumSimulator(Any(Discrete(3), Box(0, np.inf, (1,))), action_levels=3)


def test_pictures_are_left_out_by_force():
    simulator = GymnasiumSimulator("CartPole-v1", screen="none")
    assert simulator.step(0).screen is NO_SCREEN
    shown = GymnasiumSimulator("CartPole-v1")
    assert np.array_equal(shown.step(0).values, simulator.reset().values) is False
    assert np.array_equal(shown.reset().values, simulator.reset().values)
    bare = GymnasiumSimulator(gymnasium.make("CartPole-v1"))
    assert bare.reset().screen is NO_SCREEN
    assert "render_mode" in bare.why_no_picture


@pytest.mark.parametrize("algorithm", ["patch-iw", "rollout-iw"])
def test_features_of_pictures_say_why_there_are_none(algorithm, monkeypatch):
    def render(self):
        raise gymnasium.error.DependencyNotInstalled("pygame is not installed, run `pip install x`")

    kind = type(gymnasium.make("CartPole-v1").unwrapped)
    monkeypatch.setattr(kind, "render", render)
    simulator = olive.make_simulator("gym:CartPole-v1")
    with pytest.raises(InputError, match="none: pygame is not installed, run `pip install x`"):
        olive.make_agent(algorithm, calls_per_action=5).play(simulator, 2)
    with pytest.raises(InputError, match=r"\(it shows none\): plan on numbers with value-iw"):
        olive.make_agent("patch-iw").play(GymnasiumSimulator("CartPole-v1", screen="none"), 2)


class Uncopied(Any):
    """Cannot be pickled, but does the same after the same reset."""

    def __init__(self, same=True):
        super().__init__(Box(-1, 1, (2,)))
        self.engine, self.same, self.resets = (number for number in range(3)), same, 0

    def reset(self, *, seed=None, options=None):
        self.resets += 1
        return super().reset(seed=seed if self.same else self.resets)


def test_what_cannot_be_copied_is_restored_by_doing_it_again():
    simulator = GymnasiumSimulator(Uncopied())
    start, states = simulator.reset(), []
    for action in (0, 2, 1, 1):
        states.append((simulator.save(), action, simulator.step(action)))
    for state, action, expected in [*reversed(states), *states]:
        simulator.restore(state)
        found = simulator.step(action)
        assert np.array_equal(found.values, expected.values)
        assert found.reward == expected.reward
    assert np.array_equal(simulator.reset().values, start.values)
    with pytest.raises(InputError, match="pass save= and restore="):
        GymnasiumSimulator(Uncopied(same=False))
