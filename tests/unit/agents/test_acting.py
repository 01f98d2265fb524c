import gc
import pickle
import weakref

import ale_py
import gymnasium
import minigrid
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import olive_iw as olive
from olive_iw.errors import InputError

gymnasium.register_envs(ale_py)
gymnasium.register_envs(minigrid)

ENVIRONMENTS = {
    "ALE/Breakout-v5": {"repeat_action_probability": 0.0},
    "CartPole-v1": {},
    "MiniGrid-DoorKey-5x5-v0": {},
}
ACTIONS = 5


def make(name, **options):
    return gymnasium.make(name, **ENVIRONMENTS[name], **options)


def agent(**settings):
    return olive.make_agent("patch-iw", **{"calls_per_action": 12} | settings)


def looks(env):
    """What can be seen of an environment: its picture and all that it consists of."""
    env = env.unwrapped
    if hasattr(env, "ale"):
        return env.ale.getScreenRGB().tobytes(), env.ale.getRAM().tobytes(), env.clone_state()
    return env.render().tobytes(), pickle.dumps(env.np_random), str(vars(env))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_loop_plays_what_the_agent_plays_and_leaves_the_environment_as_it_is(name):
    env, policy = make(name, render_mode="rgb_array"), olive.Policy(agent())
    env.reset(seed=0)
    actions = []
    for _ in range(ACTIONS):
        before = looks(env)
        actions.append(policy.act(env))
        assert looks(env) == before
        env.step(actions[-1])
    options = ENVIRONMENTS[name]
    simulator = olive.make_simulator(f"gym:{name}", **options)
    assert actions == agent().play(simulator, max_actions=ACTIONS).actions


def test_what_was_searched_is_kept_only_while_the_plan_holds():
    env, player = make("CartPole-v1"), agent()
    env.reset(seed=0)
    env.step(player.act(env))
    kept = player.planner.tree
    env.step(player.act(env))
    assert player.planner.tree is kept
    env.unwrapped.state = np.array([0.1, 0.0, 0.0, 0.0])  # nobody foresaw that
    player.act(env)
    assert player.planner.tree is not kept


@pytest.mark.parametrize("mode", [None, "rgb_array"])
def test_an_environment_need_not_render(mode):
    env = make("CartPole-v1", render_mode=mode)
    env.reset(seed=3)
    assert agent().act(env) in (0, 1)
    assert env.unwrapped.render_mode == mode


def test_each_episode_of_a_policy_is_one_of_the_agent():
    env, policy = make("CartPole-v1"), olive.Policy(agent())
    simulator = olive.make_simulator("gym:CartPole-v1")
    for number in range(2):
        env.reset(seed=0)
        found = []
        for _ in range(3):
            found.append(policy.act(env))
            env.step(found[-1])
        assert found == agent().play(simulator, max_actions=3, episode=number).actions
        policy.reset()


def test_simulators_are_left_where_they_are_too():
    simulator, player = olive.make_simulator("grid:key-door"), agent()
    step, actions = simulator.reset(), []
    for _ in range(ACTIONS):
        state = simulator.save()
        actions.append(player.act(simulator, step))
        assert simulator.save() == state
        step = simulator.step(actions[-1])
    assert actions == agent().play(simulator, max_actions=ACTIONS).actions
    with pytest.raises(InputError, match=r"act\(simulator, step\)"):
        player.act(simulator)


def test_several_search_workers_play_what_the_agent_plays_with_them():
    simulator, player = olive.make_simulator("grid:key-door"), agent(search_workers=2)
    policy, step, actions = olive.Policy(player), simulator.reset(), []
    for _ in range(ACTIONS):
        state = simulator.save()
        actions.append(policy.act(simulator, step))
        assert simulator.save() == state
        step = simulator.step(actions[-1])
    assert actions == agent(search_workers=2).play(simulator, max_actions=ACTIONS).actions


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_several_search_workers_plan_for_an_environment(name):
    env, player = make(name, render_mode="rgb_array"), agent(search_workers=2)
    env.reset(seed=0)
    before = looks(env)
    actions = [player.act(env)]
    assert looks(env) == before
    env.step(actions[0])
    actions.append(player.act(env))
    simulator = olive.make_simulator(f"gym:{name}", **ENVIRONMENTS[name])
    assert actions == agent(search_workers=2).play(simulator, max_actions=2).actions


def test_several_search_workers_go_where_the_environment_is():
    player = agent(features="none", search_workers=2, calls_per_action=60)
    env = make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=0)
    player.act(env)
    env.unwrapped.state = np.array([0.0, 0.0, 0.19, 0.4])  # falls unless it goes right
    assert [player.act(env) for _ in range(3)] == [1, 1, 1]


class Pictures(gymnasium.Env):
    """Shows pictures as observations only; its actions are 5, 6 and 7."""

    action_space, observation_space = Discrete(3, start=5), Box(0, 255, (40, 40), np.uint8)
    place = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return self.picture(), {}

    def step(self, action):
        self.place += action - 6
        return self.picture(), float(self.place > 2), False, False, {}

    def picture(self):
        return np.full((40, 40), 100 + self.place, np.uint8)


def test_observations_can_be_handed_over_and_actions_are_the_environments():
    env, player = Pictures(), agent()
    observation, _ = env.reset()
    for _ in range(3):
        action = player.act(env, observation)
        assert action == 7
        observation, *_ = env.step(action)
    with pytest.raises(InputError, match="pass what it showed last"):
        player.act(env)


def test_an_environment_is_a_simulator_to_play_and_train_in():
    env = make("CartPole-v1", render_mode="rgb_array")
    assert isinstance(olive.make_simulator(env), olive.simulators.GymnasiumSimulator)
    by_name = olive.make_simulator("gym:CartPole-v1")
    assert agent().play(env, 3).actions == agent().play(by_name, 3).actions
    with pytest.raises(InputError, match="object is no simulator"):
        agent().play(object(), 3)


def test_what_cannot_be_planned_for_is_refused():
    sticky = gymnasium.make("ALE/Breakout-v5")
    sticky.reset()
    with pytest.raises(InputError, match=r"gymnasium.make\(…, repeat_action_probability=0.0\)"):
        agent().act(sticky)
    other = gymnasium.wrappers.TransformAction(Pictures(), lambda a: 6, Discrete(1))
    other.reset()
    with pytest.raises(InputError, match=r"wrappers .* change its actions"):
        agent().act(other)


def test_an_agent_is_given_back_when_nobody_holds_it():
    gc.collect()
    gc.disable()
    try:
        one = agent()
        one.play(olive.make_simulator("grid:corridor"), max_actions=2)
        gone = weakref.ref(one)
        del one
        assert gone() is None
    finally:
        gc.enable()
