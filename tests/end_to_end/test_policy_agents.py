"""Agents with a policy network: what they learn, when, and that they go on exactly."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from olive_iw.agents import Observer, TrainingEpisode
from olive_iw.algorithms import load_agent, make_agent, make_spec
from olive_iw.errors import AdviceWarning, InputError
from olive_iw.policy import N_CPL
from olive_iw.policy.experience import Experience, Moment
from olive_iw.policy.schedule import ScheduledTrainer, fell, value_targets
from olive_iw.policy.trainer import DecisionTrainer, target_shares
from olive_iw.runs import pretrained
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.run import run
from olive_iw.runs.verification import verify_folder
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Step, read_only
from olive_iw.viewer.page_messages import Match
from olive_iw.viewer.run_library import recorded_source
from olive_iw.viewer.shown_episode import shown_of

NAMES = ("pi-iw", "pi-iw-plus", "hiw", "n-cpl")
QUICK = {
    **{"calls_per_action": 6, "training_actions": 8, "channels": 2, "hidden": 16},
    **{"warm_up": 10, "batch": 4},
}
SCHEDULE = {"update_every": 12, "target_every": 10, "every": 4}
CALLS = 260
PADDLE = 72
"""Byte of Breakout's RAM: where the paddle is."""


class Notes(Observer):
    def __init__(self) -> None:
        self.episodes: list[TrainingEpisode] = []

    def on_training_episode(self, done: TrainingEpisode) -> None:
        self.episodes.append(done)


def quick(name: str, **settings):
    own = QUICK | (SCHEDULE if name == "n-cpl" else {}) | settings
    return make_agent(name, seed=3, device="cpu", **own)


def trained(name: str, calls: int = CALLS, **settings):
    agent, notes = quick(name, **settings), Notes()
    agent.train(make_simulator("grid:collect"), calls, notes)
    return agent, notes


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", NAMES)
def test_they_learn_within_their_calls(name: str) -> None:
    agent, notes = trained(name)
    assert notes.episodes[-1].calls_spent == agent.learner.progress.calls == CALLS
    assert sum(done.calls for done in notes.episodes) == CALLS
    assert notes.episodes[0].training is None
    assert any(done.training is not None for done in notes.episodes)
    assert agent.learner.trainer.guide.guides
    before = quick(name)
    with pytest.warns(AdviceWarning, match="never trained"):
        before.play(make_simulator("grid:collect"), 1)
    pairs = zip(
        before.learner.trainer.guide.network.parameters(),
        agent.learner.trainer.guide.network.parameters(),
        strict=True,
    )
    assert any(not bool((one == other).all()) for one, other in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_a_training_is_resumed_exactly(name: str, tmp_path: Path) -> None:
    whole, _ = trained(name)
    part = quick(name)
    for _ in range(4):
        part.learner.training_episode(make_simulator("grid:collect"), CALLS, Observer())
    part.save(tmp_path / "part")
    again = load_agent(tmp_path / "part", "cpu")
    again.train(make_simulator("grid:collect"), CALLS)
    for agent, folder in ((whole, "whole"), (again, "again")):
        agent.save(tmp_path / folder)
    assert files(tmp_path / "whole") == files(tmp_path / "again")
    plays = [agent.play(make_simulator("grid:collect"), 5) for agent in (whole, again)]
    assert plays[0].actions == plays[1].actions
    assert np.array_equal(np.array(plays[0].values), np.array(plays[1].values), equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_playing_learns_nothing(name: str, tmp_path: Path) -> None:
    agent, _ = trained(name, calls=150)
    agent.save(tmp_path / "before")
    agent.play(make_simulator("grid:collect"), 6)
    agent.save(tmp_path / "after")
    assert files(tmp_path / "before") == files(tmp_path / "after")


@pytest.mark.parametrize("name", NAMES)
def test_the_first_episode_can_be_planned_again_and_later_ones_cannot(name: str) -> None:
    agent, notes = trained(name)
    world = make_simulator("grid:collect")
    planning = agent.planning_of("training", 0, world, 0, CALLS)
    planner, game = planning.planner, notes.episodes[0].games[0]
    planner.start(world, planning.seed)
    for action in game.actions:
        assert planner.decide(6).action == action
        planner.advance(action)
    assert "has learned since" in agent.planning_of("training", 1, world, 0, CALLS).why_not


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_that_has_not_played_is_saved_too(name: str, tmp_path: Path) -> None:
    quick(name).save(tmp_path)
    again = load_agent(tmp_path, "cpu")
    again.train(make_simulator("grid:collect"), 60)
    assert again.learner.progress.calls == 60


# What they must learn


class Signs:
    """A quarter of the screen lights up, and the action of that quarter gives 1: 24 times."""

    action_count, action_names = 4, ("a", "b", "c", "d")
    signs = np.random.default_rng(0).integers(0, 4, 25)

    def reset(self):
        self._time = 0
        return self._look(0.0)

    def step(self, action):
        reward = float(action == self.signs[self._time])
        self._time += 1
        return self._look(reward)

    def save(self):
        return self._time

    def restore(self, state):
        self._time = state

    def _look(self, reward):
        screen = np.zeros((128, 128), np.uint8)
        row, column = divmod(int(self.signs[self._time]), 2)
        screen[64 * row : 64 * row + 64, 64 * column : 64 * column + 64] = 255
        return Step(read_only(screen), reward, self._time == 24, 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_learns_to_read_signs(name: str) -> None:
    """Of four actions two can be tried before each decision: half of them are right by chance."""
    plus = {"learning_rate": 0.01, "discount": 0.5, "learning_discount": 0.5}
    own = {
        "pi-iw": {"learning_rate": 0.003, "scaled": True},
        "pi-iw-plus": plus,
        "hiw": plus | {"tile_rows": 1, "tile_columns": 1},  # all signs are one area
        "n-cpl": {"update_every": 96, "learning_rate": 0.002, "batch": 16},
    }
    agent = make_agent(
        name,
        seed=0,
        device="cpu",
        calls_per_action=2,
        depth_limit=1,
        channels=4,
        hidden=32,
        **own[name],
    )
    with pytest.warns(AdviceWarning, match="never trained"):
        before = np.mean([agent.play(Signs(), episode=number).score for number in range(6)])
    agent.train(Signs(), 48 * 24)
    after = np.mean([agent.play(Signs(), episode=number).score for number in range(6)])
    assert before < 15
    assert after > 20


def test_a_small_network_learns_what_a_game_shows_by_its_profiles_own_numbers() -> None:
    """On which side the paddle of Breakout is, in the 300 steps of a few minutes of training."""
    agent = make_agent("pi-iw", seed=0, device="cpu")
    simulator, random = make_simulator("breakout"), np.random.default_rng(0)
    learner = agent.learner.trainer
    assert isinstance(learner, DecisionTrainer)
    step = simulator.reset()
    learner.guide.prepare(simulator, step)
    learner.begin_episode()
    images, paddle = [], []
    for _ in range(300):
        assert step.ram is not None
        images.append(learner.guide.image(step))
        paddle.append(int(step.ram[PADDLE]))
        step = simulator.step(int(random.integers(4)))
        if step.terminal:
            step = simulator.reset()
    sides = (np.array(paddle) > np.median(paddle)).astype(int)
    for place, (image, side) in enumerate(zip(images, sides, strict=True)):
        known = np.zeros(learner.numbers, np.float32)
        known[[side, -1]] = 1.0
        learner.experience.add(Moment(image, place, known))
    rows, network = learner.experience.rows, learner._network
    for _ in range(300):
        batch = random.choice(rows, learner.training.batch, replace=False)
        loss = partial(learner._loss, batch)
        learner.step(network, learner.optimiser, loss, learner.training.gradient_clip)
    with torch.inference_mode():
        said = network(learner.experience.inputs(rows)).logits.argmax(1).numpy()
    assert 0.25 < np.mean(sides) < 0.75, "saying always the same is right no more often"
    assert np.mean(said == sides) > 0.9


# π-IW and what follows it


def test_an_episode_enters_the_replay_when_it_ends() -> None:
    agent, notes = trained("pi-iw", warm_up=20, replay=24)
    lengths = np.cumsum([len(done.games[0].actions) for done in notes.episodes])
    for before, done in zip([0, *lengths], notes.episodes, strict=False):
        steps = 0 if done.training is None else done.training.steps
        assert steps == (len(done.games[0].actions) if before >= 20 else 0)
        assert done.screens == min(24, before + len(done.games[0].actions))
    learner = agent.learner.trainer
    assert isinstance(learner, DecisionTrainer)
    assert len(learner.experience.moments) <= 24 + 3


def test_the_plus_does_without_its_network_until_it_has_learned() -> None:
    agent = quick("pi-iw-plus", warm_up=20)
    planner, guide, guided = agent.planner, agent.learner.trainer.guide, []

    class Watch(Observer):
        def on_decision(self, planner, decision, episode):
            guided.append(guide.guides)

    agent.train(make_simulator("grid:collect"), CALLS, Watch())
    first = guided.index(True)
    assert first >= 20
    assert not any(guided[:first])
    assert all(guided[first:])
    assert planner.value_everywhere


def test_targets_of_what_was_not_tried() -> None:
    agent, plus = quick("pi-iw"), quick("pi-iw-plus")
    for untrained in (agent, plus):
        with pytest.warns(AdviceWarning, match="never trained"):
            untrained.play(make_simulator("grid:collect"), 1)
    values = np.array([2.0, 2.0, np.nan, np.nan])
    assert target_shares(agent.planner, values, 0.0).tolist() == [0.5, 0.5, 0.0, 0.0]
    plus.planner.tree.floor[0] = 2.0
    assert target_shares(plus.planner, values, 0.01).tolist() == [0.25] * 4


def test_returns_are_discounted_from_the_end() -> None:
    agent, _ = trained("pi-iw-plus", calls=60, learning_discount=0.5)
    learner = agent.learner.trainer
    learner._draw = np.random.default_rng(0)
    learner.begin_episode()
    learner._episode = [Moment(np.zeros((64, 64), np.uint8), place, np.zeros(5, np.float32))
                        for place in range(3)]  # fmt: skip
    learner.after_episode([1.0, 0.0, 4.0], True, Observer().on_network_step)
    assert [it.known[-1] for it in learner.experience.moments[-3:]] == [2.0, 2.0, 4.0]


def test_experience_holds_each_screen_once() -> None:
    experience = Experience(5)
    frames = [np.full((2, 2), level, np.uint8) for level in range(12)]
    for place in range(8):
        experience.add(Moment(frames[place], place, np.zeros(1, np.float32)))
    assert len(experience.moments) == 5 + 3
    assert experience.inputs(experience.rows[:1])[0, :, 0, 0].tolist() == [0, 1, 2, 3]
    experience.add(Moment(frames[8], 0, np.zeros(1, np.float32)))
    experience.add(Moment(frames[9], 1, np.zeros(1, np.float32)))
    rows = experience.rows
    assert len(rows) == 5
    assert experience.inputs(rows)[:, :, 0, 0].tolist() == [
        *([2, 3, 4, 5], [3, 4, 5, 6], [4, 5, 6, 7]),
        *([8, 8, 8, 8], [8, 8, 8, 9]),
    ]
    again = Experience.read(5, experience.tensors(), 2, 1, Path("x"))
    assert np.array_equal(again.inputs(again.rows), experience.inputs(rows))
    with pytest.raises(InputError, match="x"):
        Experience.read(5, experience.tensors(), 3, 1, Path("x"))


# N-CPL


def test_with_the_published_numbers_nothing_is_updated_in_a_hundred_thousand_calls() -> None:
    spec = make_spec("n-cpl", "paper")
    assert 100_000 // spec.options.calls_per_action < spec.training.update_every
    agent = make_agent("n-cpl", "paper", device="cpu", training_actions=4)
    agent.train(make_simulator("grid:collect"), 1_600)
    learner = agent.learner.trainer
    assert isinstance(learner, ScheduledTrainer)
    assert (learner.schedule.updates, learner.schedule.since_update) == (0, 16)
    assert not learner.guide.guides


def test_scores_fall_by_a_test_of_enough_of_them() -> None:
    how = N_CPL["laptop"].training
    assert fell([1, 1, 2], [5, 6, 7], how)
    assert not fell([1, 1], [5, 6, 7], how)
    assert fell([1, 1], [5, 6, 7], N_CPL["paper"].training)
    assert not fell([5, 6, 7], [1, 1, 2], how)
    assert not fell([4, 6, 9], [5, 6, 7], how)
    assert fell([0, 0, 0], [5, 5, 5], how)
    assert not fell([5, 5, 5], [5, 5, 5], how)


def test_an_update_is_taken_back_when_scores_fell_and_the_next_is_not_tested() -> None:
    agent, _ = trained("n-cpl", calls=120, update_every=10_000)
    learner = agent.learner.trainer
    learner._draw = np.random.default_rng(0)
    moments = list(learner.experience.moments)

    def weights():
        return torch.cat([it.flatten() for it in learner.guide.network.parameters()])

    def update(*scores):
        learner.experience.moments[:] = moments
        learner.schedule.scores = list(scores)
        before = weights()
        learner.update(Observer().on_network_step)
        assert learner.schedule.since_update == len(learner.experience.moments) == 0
        return before, weights()

    first, second = update(5.0, 6.0, 7.0)
    assert not first.equal(second)
    assert learner.guide.guides
    _, third = update(1.0, 1.0, 2.0)
    assert third.equal(first)
    assert not learner.guide.guides  # nothing had been learned then
    assert learner.network.policy.weight.equal(learner.guide.network.policy.weight)
    _, fourth = update(0.0, 0.0, 0.0)
    assert not fourth.equal(first)
    assert (learner.schedule.updates, learner.schedule.taken_back) == (2, 1)
    _, fifth = update(-9.0, -9.0, -8.0)
    assert fifth.equal(first)


def test_the_last_reward_of_a_game_counts() -> None:
    how = N_CPL["laptop"].training
    known = torch.tensor([[0.0, 5.0, 1.0], [0.0, 5.0, 0.0]])
    then = torch.tensor([100.0, 100.0])
    assert value_targets(known, then, how).tolist() == [5.0, 104.0]
    authors = replace(how, terminal_reward=False)
    assert value_targets(known, then, authors).tolist() == [0.0, 104.0]


def test_the_critical_path_is_learned_from() -> None:
    agent, notes = trained("n-cpl", update_every=10_000, every=10_000)
    experience = agent.learner.trainer.experience
    played = [done.games[0] for done in notes.episodes]
    known = experience.known(experience.rows)
    assert known[:, 0].tolist() == [action for game in played for action in game.actions]
    assert known[:, 1].tolist() == [reward for game in played for reward in game.rewards]
    assert len(experience.moments) == sum(len(game.actions) + 1 for game in played)


# Runs


def lengths(name: str) -> RunConfig:
    settings = QUICK | (SCHEDULE if name == "n-cpl" else {})
    spec = make_spec(name, seed=1, **settings)
    return RunConfig("grid:collect", spec, training_calls=CALLS, episodes=2, max_actions=4)


class InterruptedHereError(RuntimeError):
    pass


class Interrupts(Observer):
    def __init__(self, decisions: int) -> None:
        self._left = decisions

    def on_decision(self, planner, decision, episode) -> None:
        self._left -= 1
        if self._left < 0:
            raise InterruptedHereError


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_stopped_resumed_and_verified(name: str, tmp_path: Path) -> None:
    config = lengths(name)
    run(config, tmp_path / "whole", device="cpu")
    for decisions in (20, 13):
        with pytest.raises(InterruptedHereError):
            run(config, tmp_path / "stopped", Interrupts(decisions), device="cpu")
    run(config, tmp_path / "stopped", device="cpu")
    one, other = (RunFolder(config.folder(tmp_path / it)) for it in ("whole", "stopped"))
    assert files(one.checkpoint()) == files(other.checkpoint())
    assert one.read_result().scores == other.read_result().scores
    for episode in one.episode_files():
        assert one.read_episode(episode).actions == other.read_episode(episode).actions
    found = verify_folder(tmp_path / "stopped")
    assert found
    assert all(it.confirmed for it in found)
    added = pretrained.add(other.path, tmp_path / "shelf")
    assert added.load("cpu").learner.trainer.guide.guides


def test_a_saved_policy_of_a_stranger_is_refused(tmp_path: Path) -> None:
    agent, _ = trained("n-cpl", calls=150)
    agent.save(tmp_path / "agent")
    for name in ("learning.safetensors", "network.safetensors", "progress.json"):
        for content in (b"", b"[]", b'{"a": 1', b"\x00\xff", b"\x08\0\0\0\0\0\0\0{}      "):
            folder = shutil.copytree(tmp_path / "agent", tmp_path / "odd", dirs_exist_ok=True)
            (folder / name).write_bytes(content)
            with pytest.raises(InputError, match=name):
                load_agent(folder, "cpu")
    plus, _ = trained("pi-iw-plus", calls=150)
    plus.save(tmp_path / "plus")
    shutil.copy(tmp_path / "plus" / "learning.safetensors", tmp_path / "agent")
    with pytest.raises(InputError, match=r"learning\.safetensors"):
        load_agent(tmp_path / "agent", "cpu")


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("pi-iw", {"features": "vae"}, "unknown features 'vae'"),
        ("olive", {"features": "policy"}, "unknown option of olive 'features'"),
        ("patch-iw", {"features": "policy"}, "unknown features 'policy'"),
        ("pi-iw", {"steps": 3}, "steps"),
        ("hiw", {"search_workers": 2}, "unknown option of hiw 'search_workers'"),
        ("n-cpl", {"search_workers": 2}, "unknown option of n-cpl 'search_workers'"),
        ("pi-iw-plus", {"batch": 1}, "batch"),
    ],
)
def test_settings_that_cannot_be(name: str, settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_spec(name, **settings)


def test_bits_that_are_not_there_are_not_grouped() -> None:
    with pytest.raises(InputError, match="grain is for features of bits"):
        make_agent("pi-iw", grain=2)


@pytest.mark.parametrize("name", NAMES)
def test_the_viewer_grows_the_same_trees_again(name: str, tmp_path: Path) -> None:
    config = lengths(name)
    run(config, tmp_path, device="cpu")
    folder = RunFolder(config.folder(tmp_path))
    for episode in ("evaluation-0001", "training-0000"):
        shown = shown_of(recorded_source(folder, episode), lambda: None)
        while not shown.over:
            shown.decide()
            words = shown.node(shown.decision, 1)["new_words"]
            assert all(word.startswith(("unit", "pixel")) for word in words)
            shown.advance()
        states = [it.state for it in shown.frame() if isinstance(it, Match)]
        assert states == ["matches"]
        shown.close()
    later = recorded_source(folder, "training-0001")
    assert later.planning.planner is None
