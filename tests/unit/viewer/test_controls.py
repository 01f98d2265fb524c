"""The controls, and an episode played by them."""

import threading
import time

import pytest

from olive_iw.algorithms import make_agent
from olive_iw.errors import InputError
from olive_iw.planners import PLANNERS
from olive_iw.runs.players import pairing_of
from olive_iw.viewer import shown_episode
from olive_iw.viewer.controls import Controls, Request, RequestedError
from olive_iw.viewer.page_messages import Moment, Note, RootActions
from olive_iw.viewer.playback import Playback
from olive_iw.viewer.run_library import live_source
from olive_iw.viewer.search_view import STATUSES, TreeSnapshot

PATIENCE = 120


@pytest.mark.parametrize(
    "command",
    [
        {},
        {"type": "format disk"},
        {"type": "speed", "level": 99},
        {"type": "speed", "level": "1"},
        {"type": "goto", "decision": -1},
        {"type": "open", "run": "a"},
        {"type": "goto", "decision": True},
        {"type": "open", "run": 3, "episode": ""},
        {"type": "open", "run": "a", "episode": "b", "decision": 1.5},
    ],
)
def test_bad_commands_are_refused(command):
    with pytest.raises(InputError):
        Controls(lambda: True).command(command)


def test_requests_interrupt_and_closing_ends():
    controls = Controls(lambda: True)
    controls.command({"type": "open", "run": "a", "episode": "b", "decision": 3})
    with pytest.raises(RequestedError):
        controls.wait_to_go_on()
    assert controls.take_request() == Request(3, "a", "b")
    controls.command({"type": "goto", "decision": 4})
    assert not controls.playing
    assert controls.take_request() == Request(4)
    assert controls.take_request() is None
    controls.close()
    assert controls.closed
    with pytest.raises(RequestedError):
        controls.wait_to_go_on()


def test_nothing_is_played_while_nobody_looks():
    looking = threading.Event()
    controls, gone_on = Controls(looking.is_set), threading.Event()

    def wait():
        controls.wait_to_go_on()
        gone_on.set()

    threading.Thread(target=wait, daemon=True).start()
    assert not gone_on.wait(0.1)
    looking.set()
    assert gone_on.wait(PATIENCE)


class Watcher:
    """Stands for a hub with an eager page: keeps every message."""

    watched = True

    def __init__(self):
        self.messages = []

    def publish(self, *messages):
        self.messages += messages

    def last(self, kind):
        return next((found for found in reversed(self.messages) if type(found) is kind), None)


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


@pytest.fixture
def playing():
    hub = Watcher()
    playback = Playback(hub, playing=False)
    playback.start([live_source("grid:collect", make_agent("patch-iw"))])
    yield hub, playback
    playback.close()


def command(playback, kind, **fields):
    playback.controls.command({"type": kind, **fields})


def test_one_rollout_then_one_decision(playing):
    hub, playback = playing
    for expected in (1, 2, 3):
        command(playback, "rollout")
        until(lambda expected=expected: hub.last(Moment).rollouts == expected)
    time.sleep(0.05)
    assert hub.last(Moment).rollouts == 3  # it waits
    assert hub.last(Moment).stage == "searching"
    command(playback, "decision")
    until(lambda: hub.last(Moment).stage == "decided")
    assert hub.last(Moment).decision == 0
    assert hub.last(RootActions).chosen is not None
    command(playback, "decision")
    until(lambda: (hub.last(Moment).decision, hub.last(Moment).stage) == (1, "decided"))
    assert not playback.controls.playing


AGENTS = {
    "rollout-iw": ("patch-iw", {}),
    "breadth-first": ("iw-1", {"features": "patches"}),
    "uct": ("uct", {}),
    "2bfs": ("2bfs", {"features": "patches"}),
    "p-iw": ("p-iw", {"features": "patches"}),
    "racing-p-iw": ("racing-p-iw", {"features": "patches"}),
    "hiw": ("hiw", {"channels": 2, "hidden": 16}),
}
"""By planner: an algorithm that has it, with the settings that it needs on a grid world."""


def test_there_is_an_agent_of_every_planner():
    assert AGENTS.keys() == set(PLANNERS)


@pytest.mark.parametrize("name", [*AGENTS, "dasa"])
def test_a_play_steps_and_waits_inside_every_kind_of_search(name):
    """Where nodes are expanded, a step is one node that is reached."""
    algorithm, settings = AGENTS.get(name, (name, {"features": "patches"}))
    agent = make_agent(algorithm, calls_per_action=100, device="cpu", **settings)
    assert agent.spec.options.planner == ("breadth-first" if name == "dasa" else name)
    source = live_source("grid:collect", agent)
    hub = Watcher()
    playback = Playback(hub, playing=False)
    playback.start([source])
    try:
        for steps in (1, 2, 3):
            command(playback, "rollout")
            until(lambda steps=steps: hub.last(Moment).rollouts == steps)
            assert hub.last(Moment).stage == "searching"
        shown = hub.last(TreeSnapshot)
        assert len(shown.rows) > 1
        assert hub.last(Moment).nodes == len(shown.rows)
        command(playback, "decision")
        until(lambda: hub.last(Moment).stage == "decided")
        assert len(hub.last(TreeSnapshot).rows) > len(shown.rows)
        assert hub.last(Moment).decision == 0
        assert "kept" not in {STATUSES[mark] for mark in hub.last(TreeSnapshot).marks}
    finally:
        playback.close()


@pytest.mark.parametrize("most", [shown_episode.MOST, 4], ids=["all remembered", "few remembered"])
def test_going_back_shows_the_same_decision_again(playing, monkeypatch, most):
    monkeypatch.setattr(shown_episode, "MOST", most)
    monkeypatch.setattr(shown_episode, "RECENT", 1)
    hub, playback = playing
    shown = {}
    for decision in (3, 1, 2, 3, 0, 9, 5, 3, 9):
        command(playback, "goto", decision=decision)
        until(
            lambda decision=decision: (
                (hub.last(Moment).decision, hub.last(Moment).stage) == (decision, "decided")
            )
        )
        moment, actions = hub.last(Moment), hub.last(RootActions)
        facts = (actions, moment.score, moment.calls, moment.nodes)
        assert shown.setdefault(decision, facts) == facts
    assert len(shown) == 6


def test_details_of_a_node_come_from_the_players_thread(playing):
    hub, playback = playing
    command(playback, "decision")
    until(lambda: hub.last(Moment).stage == "decided")
    details = playback.node(0, 1).result(timeout=PATIENCE)
    assert details["depth"] == 1
    assert details["screen"].startswith("data:image/png;base64,")
    assert details["why"]
    assert len(details["new_words"]) == min(6, details["new"])
    assert playback.node(7, 1).result(timeout=PATIENCE) is None
    assert playback.node(0, 10**6).result(timeout=PATIENCE) is None


def test_an_error_is_told_and_the_play_can_go_on(playing):
    hub, playback = playing
    command(playback, "decision")
    until(lambda: hub.last(Moment).stage == "decided")
    step = playback.shown.source.simulator.step
    playback.shown.source.simulator.step = lambda action: 1 / 0
    command(playback, "goto", decision=3)
    until(lambda: hub.last(Note) is not None and hub.last(Note).error)
    assert "ZeroDivisionError" in hub.last(Note).text
    playback.shown.source.simulator.step = step
    command(playback, "goto", decision=2)
    until(lambda: (hub.last(Moment).decision, hub.last(Moment).stage) == (2, "decided"))
    assert hub.last(Note).text == ""


def test_a_question_that_fails_does_not_stop_the_play(playing):
    _, playback = playing
    with pytest.raises(ZeroDivisionError):
        playback.controls.ask(lambda: 1 / 0).result(timeout=PATIENCE)
    assert playback.node(0, 0).result(timeout=PATIENCE)["node"] == 0


def test_an_untrained_learner_is_refused():
    with pytest.raises(InputError, match="learns before it plays"):
        pairing_of("grid:collect", "olive", None, 0)
