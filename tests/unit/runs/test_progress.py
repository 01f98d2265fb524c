"""The bars of a run: what they say, and what stays of it in a narrow terminal."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console
from rich.progress import Task

from olive_iw.agents import Episode
from olive_iw.algorithms import make_spec
from olive_iw.features.vae import TrainingStep
from olive_iw.runs.config import RunConfig
from olive_iw.runs.progress import RunProgress


def planner(calls, lives):
    watches = SimpleNamespace(seconds=lambda: {"simulator": 1.0})
    ledger = SimpleNamespace(calls=calls, stopwatches=watches)
    return SimpleNamespace(ledger=ledger, root=SimpleNamespace(lives=lives))


def drawn(width, *tell):
    """Draw what a run's progress shows after it was told some things, as lines."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    config = RunConfig("breakout", make_spec("olive"), training_calls=1000, max_actions=300)
    with RunProgress(config, console, "a run") as progress:
        for told in tell:
            told(progress)
    return console.file.getvalue()


@pytest.fixture(autouse=True)
def a_minute_has_passed(monkeypatch):
    monkeypatch.setattr(Task, "elapsed", 60.0)


def decide(calls, lives=0, actions=0):
    def tell(progress):
        episode = Episode(actions=[0] * actions, rewards=[1.0] * actions)
        progress.on_decision(planner(calls, lives), None, episode)

    return tell


def test_what_is_left_is_told_from_what_it_took():
    shown = drawn(120, decide(100), decide(400, lives=3, actions=7))
    assert "about 2 min left" in shown
    assert "score 7 · 7 actions · 3 lives · 600 calls left" in shown


def test_a_game_may_be_shorter_than_it_may_be():
    tell = [decide(9, actions=actions) for actions in (0, 100)]
    shown = drawn(120, lambda progress: progress.on_episode_start("evaluation", 0), *tell)
    assert "evaluation 1/10" in shown
    assert "at most 2 min left" in shown


def test_games_without_lives_show_none():
    assert "lives" not in drawn(120, decide(1))


def test_the_network_has_a_bar_of_its_own():
    steps = [TrainingStep(step, 100, 3712.5, 0.5) for step in (1, 51)]
    tell = [lambda progress, step=step: progress.on_network_step(step) for step in steps]
    shown = drawn(120, decide(10), *tell)
    assert "training the network" in shown
    assert "about 59 s left" in shown
    assert "loss 3,712.5" in shown


def test_the_important_part_stays_in_a_narrow_terminal():
    shown = drawn(60, decide(0), decide(400, lives=3, actions=7))
    lines = shown.replace("\x1b[2K", "").replace("\r", "\n").splitlines()
    kept = [part for part in lines if "about 2 min left" in part and "score 7 · 7 actions" in part]
    assert kept
    assert all(len(part) <= 60 for part in kept)
