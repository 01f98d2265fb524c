"""The learning agents on a grid world: what they collect, spend and learn."""

from pathlib import Path

import numpy as np
import pytest

from olive_iw.agents import (
    Decisions,
    Episode,
    Observer,
    OfflineLearner,
    OnlineLearner,
    TrainingEpisode,
    play_episode,
)
from olive_iw.agents.screens import ScreenSet, digest
from olive_iw.algorithms import ALGORITHMS, load_agent, make_agent, make_spec
from olive_iw.bandits import BANDITS, Uniform
from olive_iw.errors import InputError
from olive_iw.features import Ram
from olive_iw.planners import Decision, Planner
from olive_iw.search.parallel import ParallelDriver
from olive_iw.simulators import make_simulator

QUICK = {
    "calls_per_action": 20,
    "training_actions": 12,
    "screens_per_episode": 6,
    "screen_limit": 40,
    "steps": 20,
}
CALLS = 600


class Notes(Observer):
    def __init__(self) -> None:
        self.episodes: list[TrainingEpisode] = []
        self.checkpoints = 0

    def on_training_episode(self, done: TrainingEpisode) -> None:
        self.episodes.append(done)

    def on_checkpoint(self) -> None:
        self.checkpoints += 1


def quick(algorithm: str, **settings):
    known = ALGORITHMS[algorithm].options("laptop").kinds
    own = {name: value for name, value in QUICK.items() if name in known}
    return make_agent(algorithm, seed=3, **own | settings)


def trained(algorithm: str, calls: int = CALLS, **settings):
    agent, notes = quick(algorithm, **settings), Notes()
    agent.train(make_simulator("grid:collect"), calls, notes)
    return agent, notes


@pytest.mark.parametrize("algorithm", ["olive", "olive-passive"])
def test_olive_keeps_to_its_numbers(algorithm: str) -> None:
    agent, notes = trained(algorithm)
    assert isinstance(agent.learner, OnlineLearner)
    assert notes.episodes[-1].calls_spent == CALLS
    assert sum(done.calls for done in notes.episodes) == CALLS
    assert notes.episodes[0].calls == CALLS // 30
    assert all(len(game.actions) <= 12 for done in notes.episodes for game in done.games)
    before = 0
    for done in notes.episodes[:-1]:
        assert done.screens - before == min(6, done.candidates)
        before = done.screens
    last = notes.episodes[-1]
    assert last.screens == min(40, before + last.candidates)
    assert len({digest(image) for image in agent.learner.screens.images}) == last.screens
    assert notes.checkpoints == len(notes.episodes)


def test_olive_stops_after_its_most_episodes() -> None:
    _, notes = trained("olive", max_training_episodes=3)
    assert len(notes.episodes) == 3
    assert notes.episodes[-1].calls_spent < CALLS


def test_training_episodes_begin_at_the_reset() -> None:
    _, notes = trained("olive")
    assert not any(game.start_actions for done in notes.episodes for game in done.games)


def test_active_adds_the_screens_of_lowest_elbo(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = quick("olive")
    assert isinstance(agent.learner, OnlineLearner)
    checked = []
    original = OnlineLearner._add_screens

    def spy(self: OnlineLearner, candidates: np.ndarray, number: int) -> None:
        elbo = self.vae.elbo(candidates) if number and len(candidates) > 6 else None
        original(self, candidates, number)
        if elbo is not None and not self.progress.finished:
            added = {digest(image) for image in self.screens.images[-6:]}
            chosen = np.array([digest(image) in added for image in candidates])
            checked.append(elbo[chosen].max() <= elbo[~chosen].min())

    monkeypatch.setattr(OnlineLearner, "_add_screens", spy)
    agent.train(make_simulator("grid:collect"), CALLS)
    assert checked
    assert all(checked)


def test_vae_iw_samples_all_screens_it_met_and_trains_once() -> None:
    agent, notes = trained("vae-iw")
    assert isinstance(agent.learner, OfflineLearner)
    assert notes.episodes[-1].calls_spent == CALLS
    assert [done.training is not None for done in notes.episodes] == [False] * (
        len(notes.episodes) - 1
    ) + [True]
    assert notes.episodes[-1].screens == min(40, agent.learner.screens.seen)


@pytest.mark.parametrize("algorithm", ["olive", "vae-iw-ttts"])
def test_same_seed_same_agent(algorithm: str) -> None:
    plays = []
    for _ in range(2):
        agent, _ = trained(algorithm, calls=200)
        episode = agent.play(make_simulator("grid:collect"), max_actions=10)
        plays.append(
            (episode.actions, episode.rewards, episode.calls, agent.learner.screens.images)
        )
    assert plays[0][:3] == plays[1][:3]
    assert np.array_equal(plays[0][3], plays[1][3])


@pytest.mark.parametrize("algorithm", ["olive", "vae-iw", "patch-iw"])
def test_a_saved_agent_plays_on_exactly(algorithm: str, tmp_path: Path) -> None:
    agent, _ = trained(algorithm, calls=200)
    agent.save(tmp_path / "agent")
    again = load_agent(tmp_path / "agent")
    assert again.spec == agent.spec
    world = make_simulator("grid:collect")
    for number in (0, 4):
        first = agent.play(world, max_actions=8, episode=number)
        second = again.play(world, max_actions=8, episode=number)
        assert (first.actions, first.calls) == (second.actions, second.calls)


def test_evaluation_learns_nothing() -> None:
    agent, _ = trained("olive", calls=200)
    weights = agent.learner.vae.network.weights()
    screens = agent.learner.screens.images.copy()
    agent.play(make_simulator("grid:collect"), max_actions=5)
    after = agent.learner.vae.network.weights()
    assert all(np.array_equal(value, weights[name]) for name, value in after.items())
    assert np.array_equal(screens, agent.learner.screens.images)


def test_evaluation_episodes_differ_but_each_number_is_repeatable() -> None:
    agent, world = quick("patch-iw"), make_simulator("grid:collect")
    plays = [agent.play(world, max_actions=12, episode=number).actions for number in (0, 1, 0)]
    assert plays[0] == plays[2]
    assert plays[0] != plays[1]


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_every_algorithm_plays(name: str) -> None:
    features = make_spec(name).options.get("features")  # some need a console, or numbers
    world = "breakout" if features in ("bprost", "ram", "values") else "grid:collect"
    agent = quick(name, calls_per_action=8)
    simulator = make_simulator(world)
    agent.train(simulator, 60)
    episode = agent.play(simulator, max_actions=3)
    assert len(episode.actions) == len(episode.rewards) == 3
    assert 0 < episode.calls <= 24


def test_bprost_on_a_grid_world_is_a_clear_error() -> None:
    with pytest.raises(InputError, match="B-PROST"):
        make_agent("rollout-iw").play(make_simulator("grid:corridor"), max_actions=1)


class OneScreen:
    """A world that always shows the same."""

    action_count = 2
    action_names = ("left", "right")

    def __init__(self) -> None:
        self._world = make_simulator("grid:corridor")
        self._step = self._world.reset()

    def reset(self):
        return self._step

    def step(self, action: int):
        return self._step

    def save(self):
        return ()

    def restore(self, state) -> None:
        pass


def test_too_few_distinct_screens_is_a_clear_error() -> None:
    with pytest.raises(InputError, match="too few distinct screens"):
        quick("olive").train(OneScreen(), 50)


def test_a_corrupt_saved_agent_is_a_clear_error(tmp_path: Path) -> None:
    agent, _ = trained("olive", calls=100)
    agent.save(tmp_path)
    weights = tmp_path / "network.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(InputError, match="safetensors"):
        load_agent(tmp_path)
    (tmp_path / "agent.json").write_text("{}")
    with pytest.raises(InputError, match=r"agent\.json"):
        load_agent(tmp_path)


def test_candidates_are_each_once() -> None:
    screens = ScreenSet()
    image = np.zeros((128, 128), np.uint8)
    assert screens.add(image)
    assert not screens.add(image.copy())


@pytest.mark.parametrize("algorithm", ["olive", "vae-iw-ttts"])
def test_search_workers_keep_to_the_budget_and_repeat(algorithm: str) -> None:
    one, notes = trained(algorithm, search_workers=2)
    other, _ = trained(algorithm, search_workers=2)
    assert sum(done.calls for done in notes.episodes) == CALLS
    assert np.array_equal(one.learner.screens.images, other.learner.screens.images)
    images = one.learner.screens.images
    assert np.array_equal(one.learner.vae.encode(images), other.learner.vae.encode(images))
    simulator = make_simulator("grid:collect")
    assert one.play(simulator, 5).actions == other.play(simulator, 5).actions
    for agent in (one, other):
        agent.planner.close()


def test_seconds_limit_a_decision_but_its_first_call_is_free() -> None:
    agent = make_agent("patch-iw", seconds_per_action=1e-9)
    episode = agent.play(make_simulator("grid:collect"), 4)
    assert episode.calls == 4
    assert len(episode.actions) == 4
    with pytest.raises(InputError, match="more than 0"):
        Decisions(seconds_per_action=0.0)


def test_olives_first_episode_tells_of_every_game_it_played() -> None:
    agent, notes = trained("olive", first_share=0.5, training_actions=4)
    first = notes.episodes[0]
    assert first.calls == CALLS // 2
    assert len(first.games) > 1
    assert all(len(game.actions) == 4 for game in first.games[:-1])
    assert all(game.seconds > 0 and game.rollouts > 0 for game in first.games)
    assert {len(done.games) for done in notes.episodes[1:]} == {1}
    world, before = make_simulator("grid:collect"), 0
    for number, game in enumerate(first.games):
        planning = agent.planning_of("training", 0, world, before, CALLS, number)
        again = play_episode(
            planning.planner,
            world,
            agent.spec.options,
            seed=planning.seed,
            max_actions=4,
            max_calls=planning.max_calls,
        )
        assert (again.actions, again.calls) == (game.actions, game.calls)
        before += game.calls


@pytest.mark.parametrize("algorithm", ["olive", "vae-iw"])
def test_a_training_is_given_more_calls_and_goes_on(algorithm: str) -> None:
    agent, notes = trained(algorithm, calls=100)
    assert agent.learner.progress.calls == 100
    agent.train(make_simulator("grid:collect"), 300, notes)
    assert agent.learner.progress.calls == 300
    assert notes.episodes[-1].calls_spent == 300
    assert notes.episodes[-1].training is not None
    episodes = len(notes.episodes)
    agent.train(make_simulator("grid:collect"), 300, notes)
    assert len(notes.episodes) == episodes


class Planners(Observer):
    def __init__(self) -> None:
        self.seen: dict[int, Planner] = {}

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        self.seen[id(planner)] = planner


@pytest.mark.parametrize("algorithm", ["olive", "vae-iw-ttts"])
def test_all_planning_of_a_training_has_the_runs_options(algorithm: str) -> None:
    observer = Planners()
    agent = quick(algorithm, discount=0.5, depth_limit=7, risk_averse=False, width=2)
    agent.train(make_simulator("grid:collect"), 100, observer)
    collector = next(p for p in observer.seen.values() if p is not agent.planner)
    assert (collector.discount, collector.depth_limit) == (0.5, 7)
    assert not collector.tree.risk.averse
    assert (collector.width, type(collector.bandit)) == (1, Uniform)
    asked = quick(algorithm, collection_width=2, collection_bandit="max", collection_features="ram")
    planner = asked.planning_of("training", 0, make_simulator("grid:collect"), 0, 100).planner
    assert (planner.width, type(planner.bandit)) == (2, BANDITS["max"])
    assert isinstance(planner.features, Ram)


def test_an_agent_says_how_its_episodes_were_planned() -> None:
    agent, _ = trained("olive", calls=100)
    world = make_simulator("grid:collect")
    assert agent.planning_of("evaluation", 0, world).planner is agent.planner
    assert "trained further" in agent.planning_of("training", 1, world).why_not
    assert quick("olive").planning_of("evaluation", 0, world).planner is None
    assert "no training" in quick("patch-iw").planning_of("training", 0, world).why_not
    two = quick("vae-iw", search_workers=2).planning_of("training", 0, world, 0, 100)
    assert isinstance(two.planner.driver, ParallelDriver)
