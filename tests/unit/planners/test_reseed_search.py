"""Chance: a search foresees what is in the saved state, unless it is given other dice."""

import numpy as np
import pytest

import olive_iw as olive
from olive_iw.errors import InputError
from olive_iw.planners import RolloutIW
from olive_iw.simulators import LimitedSimulator, Step, check_simulator, foresees_chance

SIDES = 6


class Dice:
    """Guess the next of ten throws of a die: 1 for a right guess. The state holds the die."""

    action_count, action_names = SIDES, tuple(map(str, range(SIDES)))

    def reset(self):
        self.random, self.thrown = np.random.default_rng(7).bit_generator.state, []
        return self._look(0.0)

    def step(self, action):
        throw = np.random.default_rng(0)
        throw.bit_generator.state = self.random
        self.thrown = [*self.thrown, int(throw.integers(SIDES))]
        self.random = throw.bit_generator.state
        return self._look(float(self.thrown[-1] == action))

    def save(self):
        return self.random, self.thrown

    def restore(self, state):
        self.random, self.thrown = state

    def reseed(self, seed):
        self.random = np.random.default_rng(seed).bit_generator.state

    def _look(self, reward):
        screen = np.zeros((16, 16), np.uint8)
        screen.flat[: len(self.thrown)] = np.array(self.thrown) + 1
        screen.flags.writeable = False
        return Step(screen, reward, len(self.thrown) == 10, 0)


def play(seed=0, **settings):
    agent = olive.make_agent("breadth-first", seed=seed, calls_per_action=SIDES, **settings)
    return agent.play(Dice())


def test_a_search_foresees_the_dice_of_a_saved_state_but_not_fresh_ones():
    assert play().score == 10
    scores = [play(seed, reseed_search=True).score for seed in range(10)]
    assert 0.3 < np.mean(scores) < 4  # ten guesses at one in six
    assert play(reseed_search=True).actions == play(reseed_search=True).actions


def test_what_is_done_for_good_is_what_the_game_does():
    episode = play(reseed_search=True)
    simulator = Dice()
    simulator.reset()
    assert [simulator.step(action).reward for action in episode.actions] == episode.rewards
    assert episode.calls == (SIDES + 1) * len(episode.actions) - episode.unused_calls


def test_the_check_says_it():
    assert "chance       saved states foresee dice" in str(check_simulator(Dice(), steps=20))
    assert not check_simulator(olive.make_simulator("grid:corridor"), steps=20).foresees_chance


@pytest.mark.parametrize(
    ("name", "foresees"),
    [("FrozenLake-v1", True), ("MiniGrid-Dynamic-Obstacles-5x5-v0", True), ("CartPole-v1", False)],
)
def test_chance_of_environments(name, foresees):
    assert foresees_chance(olive.make_simulator(f"gym:{name}")) is foresees


def test_simulators_without_dice_and_several_workers_are_refused():
    planner, several = RolloutIW("patches"), RolloutIW("patches", workers=2)
    planner.reseed_search = several.reseed_search = True
    for simulator in (olive.make_simulator("grid:corridor"), LimitedSimulator(Dice())):
        with pytest.raises(InputError, match=r"has no method reseed.*leave that out"):  # noqa: PT012
            planner.start(simulator, seed=0)
            planner.decide(3)
    several.start(Dice(), seed=0)
    with pytest.raises(InputError, match="reseed_search is for one search worker"):
        several.decide(3)
    several.close()


@pytest.mark.filterwarnings("default")
def test_run_and_play_warn_unless_the_search_is_reseeded(tmp_path, capsys):
    from olive_iw.cli.main import main

    common = ("gym:FrozenLake-v1", "--algorithm", "patch-iw", "--calls-per-action", "3")
    run = ("run", *common, "--max-actions", "2", "--episodes", "1", "--quiet")
    for words in (run, ("play", *common, "--max-actions", "2", "--no-show")):
        for more, warns in (((), True), (("--reseed-search",), False)):
            out = ("--out", str(tmp_path)) if words is run else ()
            with pytest.raises(SystemExit, match="0"):
                main([*words, *more, *out])
            said = capsys.readouterr().err
            assert ("warning: the search foresees the dice of gym:FrozenLake-v1" in said) is warns
