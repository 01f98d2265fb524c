"""The Brute: sequences of actions, learned across episodes."""

import math
from itertools import product

import numpy as np
import pytest
from synthetic import ScriptedSimulator, SyntheticSimulator

from olive_iw.agents import BrutePlayer, Observer
from olive_iw.agents.brute import EXPLORATION, SEQUENCES, SequenceTree
from olive_iw.algorithms import load_agent, make_agent
from olive_iw.errors import DamagedFileError, InputError, SimulatorError


class Unsavable(SyntheticSimulator):
    """A game that must not be saved."""

    def save(self):
        raise AssertionError("saved")

    restore = save


def game(**options):
    return Unsavable(lives=0, terminal_chance=0.0, last_depth=3, **options)


def test_the_chance_of_a_random_action_falls_with_visits():
    chances = [EXPLORATION / math.log(visits + 2) for visits in (0, 1)]
    assert chances == pytest.approx([0.00721, 0.00455], abs=1e-5)


def test_after_one_episode_the_next_is_the_same_but_for_exploration():
    """Two actions, three steps without reward: (1 - ε/2)³ at nodes visited once."""
    least = 1 - EXPLORATION / math.log(3) / 2
    assert least**3 == pytest.approx(0.99319, abs=1e-5)
    same = 0
    for seed in range(1000):
        player = BrutePlayer()
        player.memory = SequenceTree(2)
        player.memory.learn([0, 1, 0], [0.0, 0.0, 0.0])
        player.explores = True
        player.start(ScriptedSimulator({}), seed)
        actions = []
        for _ in range(3):
            actions.append(player.decide().action)
            player.advance(actions[-1])
        same += actions == [0, 1, 0]
    assert same / 1000 == pytest.approx(0.99319, abs=0.008)
    assert same < 1000


def test_a_better_episode_takes_the_place_of_the_best():
    memory = SequenceTree(2)
    memory.learn([0, 0, 0], [0.0, 0.0, 1.0])
    memory.learn([0, 1, 0], [0.0, 2.0, 0.0])
    memory.learn([1, 1, 1], [-3.0, 0.0, 0.0])
    assert memory.values(0).tolist() == [2, -3]
    assert memory.values(1).tolist() == [1, 2]
    assert memory.visits[0] == 3
    player = BrutePlayer()
    player.memory = memory
    steps = {(0, 1): (0, 2.0, False, 0), (0, 0, 0): (0, 1.0, False, 0)}
    player.start(ScriptedSimulator(steps), seed=0)
    actions = []
    for _ in range(3):
        decision = player.decide()
        actions.append(decision.action)
        player.advance(decision.action)
    assert actions == [0, 1, 0]
    assert player.ledger.calls == 3


def test_it_trains_by_whole_episodes_and_plays_the_best_again():
    agent = make_agent("brute", seed=3)
    scores = []

    class Notes(Observer):
        def on_training_episode(self, done):
            scores.append(done.games[0].score)
            assert done.calls == len(done.games[0].actions)

    agent.train(game(), calls=100, observer=Notes())
    assert agent.learner.progress.calls == 100
    assert len(scores) == 34  # 33 of three steps, and one step
    for number in range(3):
        episode = agent.play(game(), episode=number)
        assert episode.score == max(scores[:-1])
        assert episode.calls == 3


def test_an_episode_that_the_end_of_training_cuts_short_is_not_learned():
    # Every step costs 1: two steps of three would look better than any whole episode.
    paths = [path for length in (1, 2, 3) for path in product((0, 1), repeat=length)]
    costs = {path: (0, -1.0, len(path) == 3, 0) for path in paths}
    for calls in (6, 7, 8):
        agent = make_agent("brute")
        agent.train(ScriptedSimulator(costs), calls=calls)
        assert agent.learner.progress.calls == calls
        assert agent.planner.memory.best[0] == -3
        assert agent.planner.memory.visits[0] == 2


def test_a_training_in_two_parts_is_the_whole(tmp_path):
    whole = make_agent("brute", seed=1)
    whole.train(game(seed=2), calls=300)
    part = make_agent("brute", seed=1)
    part.train(game(seed=2), calls=150)
    part.save(tmp_path / "part")
    again = load_agent(tmp_path / "part")
    again.train(game(seed=2), calls=300)
    for agent, name in ((whole, "whole"), (again, "again")):
        agent.save(tmp_path / name)
    contents = [(tmp_path / name / SEQUENCES).read_bytes() for name in ("whole", "again")]
    assert contents[0] == contents[1]
    assert whole.play(game(seed=2)).actions == again.play(game(seed=2)).actions


def test_a_game_that_is_not_deterministic_is_refused():
    agent = make_agent("brute")
    agent.train(game(reward_chance=1.0), calls=30)
    with pytest.raises(SimulatorError, match="deterministic"):
        agent.play(game(seed=1, reward_chance=1.0))


def test_another_number_of_actions_is_refused():
    agent = make_agent("brute")
    agent.train(game(), calls=30)
    with pytest.raises(InputError, match="sequences of 3 actions, but the simulator has 5"):
        agent.play(game(action_count=5))


def test_it_knows_whole_episodes_only():
    with pytest.raises(InputError, match="whole episodes"):
        make_agent("brute").act(game(), None)


@pytest.mark.parametrize("change", ["loop", "stranger", "nan", "short", "text"])
def test_a_damaged_memory_is_refused(tmp_path, change):
    memory, path = SequenceTree(2), tmp_path / SEQUENCES
    memory.learn([0, 1], [1.0, 2.0])
    memory.learn([1, 1], [0.0, 1.0])
    memory.save(path)
    kept = SequenceTree.load(path)
    assert kept.size == memory.size == 5
    assert np.array_equal(kept.children, memory.children[:5])
    if change == "loop":
        memory.children[2, 0] = 1
    elif change == "stranger":
        memory.children[1, 0] = 77
    elif change == "nan":
        memory.reward[1] = np.nan
    elif change == "short":
        memory.visits = memory.visits[:3]
    memory.save(path)
    if change == "text":
        path.write_text("no sequences")
    with pytest.raises(DamagedFileError):
        SequenceTree.load(path)


@pytest.mark.parametrize(
    ("algorithm", "planner", "words"),
    [
        ("brute", "uct", "unknown option of brute 'planner'"),
        ("rollout-iw", "none", "unknown planner 'none'"),
    ],
)
def test_what_plans_nothing_has_no_planner(algorithm, planner, words):
    with pytest.raises(InputError, match=words):
        make_agent(algorithm, planner=planner)
