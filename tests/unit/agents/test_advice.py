"""What works, but not as meant, is said once, with the way out."""

import sys
import warnings

import gymnasium
import pytest

import olive_iw as olive
from olive_iw import Policy
from olive_iw.errors import AdviceWarning, InputError


def made(name, *wrappers, **options):
    env = gymnasium.make(name, **options)
    for wrapper in wrappers:
        env = wrapper(env)
    env.reset(seed=0)
    return env


class Turned(gymnasium.ActionWrapper):
    def action(self, action):
        return (action + 1) % 2


class Twice(gymnasium.Wrapper):
    def step(self, action):
        self.env.step(action)
        return self.env.step(action)


class Doubled(gymnasium.RewardWrapper):
    def reward(self, reward):
        return 2 * reward


def agent(name="value-iw", **settings):
    return olive.make_agent(name, **{"calls_per_action": 5} | settings)


def test_foreseen_chance_is_said_and_named_the_way_out():
    env = made("FrozenLake-v1")
    with pytest.warns(AdviceWarning, match="foresees the dice .*reseed_search=True"):
        agent().act(env)
    with pytest.warns(AdviceWarning, match="foresees the dice"):
        agent().play(made("FrozenLake-v1"), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        careful = agent(reseed_search=True)
        careful.act(env)
        agent().act(made("CartPole-v1"))


def test_it_is_said_once():
    env, player = made("FrozenLake-v1"), agent()
    with pytest.warns(AdviceWarning):
        player.act(env)
    player.act(env)


@pytest.mark.parametrize(
    ("wrapper", "words"),
    [(Turned, "Turned changes actions"), (Twice, "Twice changes steps"), (Doubled, "rewards")],
)
def test_wrappers_that_are_not_looked_through_are_named(wrapper, words):
    with pytest.warns(AdviceWarning, match=f"{words}.*plan for env.unwrapped"):
        agent().act(made("CartPole-v1", wrapper))
    with pytest.warns(AdviceWarning, match=words):
        agent().play(made("CartPole-v1", wrapper), 1)


def test_wrappers_that_do_no_harm_are_not():
    agent().act(made("CartPole-v1", gymnasium.wrappers.RecordEpisodeStatistics))


def test_a_learner_that_never_learned_says_so():
    env = made("CartPole-v1", render_mode="rgb_array")
    player = agent("olive")
    with pytest.warns(AdviceWarning, match=r"never trained.*agent.train"):
        player.play(env, 1)
    player.play(env, 1)


@pytest.mark.parametrize("name", ["patch-iw", "rollout-iw"])
def test_a_missing_render_mode_is_named(name):
    with pytest.raises(InputError, match=r'render_mode="rgb_array".*value-iw'):
        agent(name).play(made("CartPole-v1"), 1)


class Uncopied(gymnasium.Env):
    """Cannot be pickled, and begins otherwise after each reset."""

    action_space = observation_space = gymnasium.spaces.Discrete(100)
    resets = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.engine, self.count, self.resets = (it for it in range(9)), self.resets, self.resets + 1
        return self.count, {}

    def step(self, action):
        self.count += 1
        return self.count, 1.0, False, False, {}


def test_what_cannot_be_copied_is_told_the_way_out_which_works():
    env = Uncopied()
    env.reset()
    way_out = r"save= and restore= .*GymnasiumSimulator\(env, save=…, restore=…\)"
    with pytest.raises(InputError, match=rf"{way_out}; agent.play\(env\) may do without"):
        agent().act(env)
    with pytest.raises(InputError, match=way_out):
        agent().play(env, 1)
    with pytest.raises(InputError, match="after two resets it does not do the same"):
        olive.make_simulator(env)
    simulator = olive.simulators.GymnasiumSimulator(
        env, save=lambda env: env.count, restore=lambda env, count: setattr(env, "count", count)
    )
    assert agent().play(simulator, 3).score == 3
    assert agent().act(simulator, simulator.reset()) in range(100)


@pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")
def test_worlds_of_compiled_code_are_restored_by_doing_again_what_was_done():
    pytest.importorskip("Box2D", reason="box2d has no wheel for this Python")
    env = made("LunarLander-v3")
    with pytest.raises(InputError, match=r"cannot pickle '\w+' object\).*agent.play\(env\) may"):
        agent().act(env)
    simulator = olive.simulators.GymnasiumSimulator("LunarLander-v3", screen="none")
    olive.simulators.check_simulator(simulator, steps=12)
    assert len(agent().play(simulator, 3).actions) == 3


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("CartPole-v1", "gym:CartPole-v1"),
        ("gym:CartPoel-v1", "CartPole-v1"),
        ("MiniGrid-DoorKey-5x5-v0", "gym:MiniGrid-DoorKey-5x5-v0"),
        ("gym:NoSuch-v0", ".*-v"),
        ("cartpole", "gym:CartPole-v1"),
        ("Taxi", "gym:Taxi-v"),
    ],
)
def test_names_of_environments_are_suggested(name, near):
    with pytest.raises(InputError, match=f"did you mean.* {near}"):
        olive.make_simulator(name)


def test_an_environment_whose_package_is_not_installed_is_suggested_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "minigrid", None)
    name = "MiniGrid-DoorKey-5x5-v0"
    monkeypatch.delitem(gymnasium.registry, name, raising=False)
    with pytest.raises(InputError, match=f"did you mean gym:{name}") as told:
        olive.make_simulator(name)
    assert len(str(told.value)) < 150
    with pytest.raises(InputError, match="needs a package: pip install minigrid"):
        olive.make_simulator(f"gym:{name}")


def test_a_name_that_is_near_to_nothing_is_told_in_a_few_lines():
    with pytest.raises(InputError, match=r"known: adventure, .* and \d+ more") as told:
        olive.make_simulator("qqqq")
    assert len(str(told.value)) < 400


def test_advice_names_the_line_that_asked_for_it_and_the_environment():
    env = made("FrozenLake-v1")
    for ask in (agent().act, lambda it: agent().play(it, 1), lambda it: Policy(agent()).act(it)):
        with pytest.warns(AdviceWarning, match=r"dice of <FrozenLakeEnv<FrozenLake-v1>>, ") as told:
            ask(env)
        assert told[0].filename == __file__
    with pytest.warns(AdviceWarning) as told:
        olive.make_simulator(made("CartPole-v1", Turned))
    assert told[0].filename == __file__


@pytest.mark.parametrize("name", ["value-iw", "olive"])
@pytest.mark.filterwarnings("ignore::olive_iw.errors.AdviceWarning")
def test_actions_of_a_range_are_cut_wherever_an_environment_is_given(name):
    env = made("Pendulum-v1", render_mode="rgb_array")
    with pytest.raises(InputError, match=r"any numbers of Box\(-2.0, 2.0, .*action_levels=3"):
        agent(name).play(env, 1)
    player = agent(name, action_levels=3, steps=1) if name == "olive" else agent(action_levels=3)
    player.train(env, 10)
    assert player.play(env, 2).actions[0] in range(3)
    assert player.act(env).tolist()[0] in (-2.0, 0.0, 2.0)
    with pytest.raises(InputError, match="action_levels are for"):
        agent(action_levels=3).play(made("CartPole-v1"), 1)
