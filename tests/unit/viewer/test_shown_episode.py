"""An episode as it is shown: its figures add up, also when it is interrupted and gone back in."""

import gymnasium
import pytest

from olive_iw.algorithms import make_agent
from olive_iw.errors import AdviceWarning
from olive_iw.simulators import make_simulator
from olive_iw.viewer.page_messages import RootScreen
from olive_iw.viewer.run_library import live_source
from olive_iw.viewer.shown_episode import COUNTED, shown_of


def opened(between=lambda: None, **settings):
    agent = make_agent("patch-iw", calls_per_action=30, **settings)
    return shown_of(live_source("grid:collect", agent), between)


def decided(shown, decision):
    """Go to a decision; return all that is told of it but the seconds."""
    shown.return_before(decision)
    while shown.decision < decision:
        shown.decide()
        shown.advance()
    shown.decide()
    moment, *_, tree, actions, _ = shown.frame()
    figures = tuple(getattr(moment, name) for name in ("calls_of_decision", "ties", *COUNTED))
    return figures, tree.rows.tolist(), tree.marks.tolist(), actions


def test_what_decisions_came_to_adds_up():
    shown = opened()
    moments = []
    for _ in range(6):
        shown.decide()
        moments.append(shown.frame()[0])
        assert moments[-1].ties == shown.made.ties >= 1
        assert moments[-1].calls_of_decision == shown.made.calls
        shown.advance()
    assert shown.frame()[0].ties == 0  # not decided yet
    counters = shown._planner.ledger.counters
    for name in COUNTED:
        assert sum(getattr(moment, name) for moment in moments) == getattr(counters, name)
    assert counters.twins > 0
    assert sum(moment.calls_of_decision for moment in moments) == moments[-1].calls
    seconds = sum(moment.seconds_of_decision for moment in moments)
    assert seconds == pytest.approx(moments[-1].seconds, abs=0.01)
    shown.close()


def play_on_from(shown, decision):
    shown.return_before(decision)
    while True:
        shown.decide()
        shown.advance()


class Interrupted(Exception):  # noqa: N818
    """Something else is asked for."""


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_search_is_found_again_as_it_would_have_been(workers):
    """Also with search workers, of which some have calls in hand."""
    steps, interrupt = [], [None]

    def between():
        steps.append(1)
        if len(steps) == interrupt[0]:
            raise Interrupted

    expected, shown = opened(search_workers=workers), opened(between, search_workers=workers)
    wanted = {decision: decided(expected, decision) for decision in (0, 1, 2, 3)}
    for after, decision in ((3, 1), (9, 3), (1, 2), (30, 0), (12, 3)):
        steps.clear()
        interrupt[0] = after
        with pytest.raises(Interrupted):
            play_on_from(shown, decision)
        interrupt[0] = None
        assert decided(shown, decision) == wanted[decision]
    expected.close()
    shown.close()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: gymnasium.make("CartPole-v1", render_mode="rgb_array"), "CartPole-v1"),
        (lambda: make_simulator("breakout"), "breakout"),
        (lambda: make_simulator("grid:lava"), "GridWorld"),
        (lambda: "grid:lava", "grid:lava"),
    ],
)
def test_whatever_can_be_planned_in_can_be_watched(make, name):
    shown = shown_of(live_source(make(), make_agent("patch-iw", calls_per_action=10)), lambda: None)
    assert shown.source.game == name
    shown.decide()
    screen = next(message for message in shown.frame() if isinstance(message, RootScreen))
    assert screen.image.startswith("data:image/png")
    shown.advance()
    shown.close()


def test_foreseen_chance_is_warned_of():
    env, settings = gymnasium.make("FrozenLake-v1"), {"calls_per_action": 10}
    with pytest.warns(AdviceWarning, match="reseed_search"):
        live_source(env, make_agent("value-iw", **settings))
    live_source(env, make_agent("value-iw", reseed_search=True, **settings))
