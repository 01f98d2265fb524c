"""Playing against a clock that the test drives: periods, margins, lateness, and the picture."""

import io
import re
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np
import pytest
from rich.console import Console

from olive_iw.agents import Decisions, Episode, Observer
from olive_iw.agents.real_time import (
    LEAST_SECONDS,
    WARM_UP_CALLS,
    Pace,
    Played,
    pace_of,
    play,
)
from olive_iw.cli.play import play_table
from olive_iw.cli.terminal import (
    ENTER,
    LEAVE,
    Projector,
    Shot,
    TerminalShow,
    can_show,
    fitting_size,
    scaled,
    text_lines,
)
from olive_iw.errors import InputError
from olive_iw.planners import Decision
from olive_iw.runs.replay import picture
from olive_iw.search.ledger import Ledger
from olive_iw.simulators import make_simulator
from olive_iw.simulators.base import Step

PACE = Pace(frames=15, margin=0.05)
SCREEN = np.zeros((2, 2), np.uint8)


class FakeClock:
    """Time passes only when somebody sleeps, or when the planner is said to think."""

    def __init__(self, oversleeps=0.0):
        self.time = 100.0
        self.slept = []
        self._oversleeps = oversleeps

    def now(self):
        return self.time

    def sleep(self, seconds):
        assert seconds > 0
        self.slept.append(seconds)
        self.time += seconds + self._oversleeps


@dataclass
class FakePlanner:
    """Thinks for scripted seconds, one entry a decision; the game ends after `length` actions.

    What happens before the episode that counts (the warm-up) takes no time and is in `warm_up`.
    """

    clock: FakeClock
    thinks: list = field(default_factory=list)
    length: int = 1000
    advance_takes: float = 0.0
    warms_up: bool = True

    def __post_init__(self):
        self.ledger = Ledger()
        self.budgets, self.warm_up = [], []
        self.starts = 0

    def start(self, simulator, seed):
        self.starts += 1
        self.seed = seed
        self.done = []

    @property
    def _counts(self):
        return self.starts == 1 + self.warms_up

    @property
    def over(self):
        return len(self.done) >= self.length

    def decide(self, calls, seconds=None):
        if not self._counts:
            self.warm_up.append(calls)
            return self._decision(1)
        self.budgets.append((calls, seconds))
        thought = self.thinks[len(self.budgets) - 1]
        if isinstance(thought, BaseException):
            raise thought
        self.clock.time += thought
        return self._decision(10 * len(self.budgets))

    @staticmethod
    def _decision(calls):
        stopped = "exhausted" if calls == 20 else "budget"
        return Decision(1, np.array([0.0, 1.0]), np.array([1, 2]), calls, stopped)

    def advance(self, action):
        self.done.append(action)
        if self._counts:
            self.clock.time += self.advance_takes
        return Step(SCREEN, 2.0, self.over, lives=7 - len(self.done))


class Noting(Observer):
    def __init__(self, played):
        self.began = []
        self._played = played

    def on_decision(self, planner, decision, episode):
        assert (decision.action, episode) == (1, self._played.episode)
        self.began.append(self._played.began - 100.0)


def played_with(thinks, calls=100, seconds=None, pace=PACE, clock=None, **planner):
    clock = clock or FakeClock()
    fake = FakePlanner(clock, thinks, warms_up=pace is not None, **planner)
    played = Played(pace=pace)
    watch = Noting(played)
    options = Decisions(calls_per_action=calls, seconds_per_action=seconds)
    count = len(thinks)
    play(fake, None, options, played, seed=5, max_actions=count, observer=watch, clock=clock)
    return played, fake, watch, clock


def test_every_action_lasts_a_period():
    played, fake, watch, clock = played_with([0.2, 0.1, 0.15, 0.05])
    # The first decision took 0.2 s before the clock started; actions begin 0.25 s apart.
    assert watch.began == pytest.approx([0.2, 0.45, 0.7, 0.95])
    assert clock.slept == pytest.approx([0.15, 0.1, 0.2, 0.25])
    assert played.late == []
    assert played.frames == 60
    assert played.clock_seconds == pytest.approx(1.0)
    assert played.frames_per_second == pytest.approx(60.0)
    assert fake.seed == 5
    assert fake.done == [1, 1, 1, 1]


def test_decisions_get_what_is_left_of_the_period_less_the_margin():
    _, fake, _, _ = played_with([0.2, 0.1, 0.1], calls=777, advance_takes=0.03)
    assert [calls for calls, _ in fake.budgets] == [777, 777, 777]
    # The whole period for the first; then 0.25 s less the step to the next root and the margin.
    assert [seconds for _, seconds in fake.budgets] == pytest.approx([0.25, 0.17, 0.17])


def test_the_smaller_of_two_time_limits_counts():
    _, fake, _, _ = played_with([0.01] * 3, 9, 0.1)
    assert fake.budgets == [(9, 0.1)] * 3
    _, fake, _, _ = played_with([0.01] * 3, 9, 0.24)
    assert [seconds for _, seconds in fake.budgets] == pytest.approx([0.24, 0.2, 0.2])


def test_late_decisions_delay_the_game_and_are_counted():
    played, _, watch, _ = played_with([0.9, 0.1, 0.31, 0.1, 0.27, 0.1])
    # The first decision cannot be late: the clock waits for it.
    assert played.late == pytest.approx([0.06, 0.02])
    assert watch.began == pytest.approx([0.9, 1.15, 1.46, 1.71, 1.98, 2.23])
    assert played.clock_seconds == pytest.approx(6 * 0.25 + 0.08)
    assert played.frames_per_second == pytest.approx(90 / 1.58)


def test_a_decision_that_ends_with_the_period_is_in_time():
    played, _, _, clock = played_with([0.1, 0.25])
    assert played.late == []
    assert clock.slept == [0.25]  # for the last action only


def test_a_decision_that_begins_late_still_has_a_budget():
    played, fake, _, _ = played_with([0.1, 0.1], advance_takes=0.3)
    assert fake.budgets[1][1] == LEAST_SECONDS
    assert played.late == pytest.approx([0.15])


def test_sleeping_too_long_does_not_add_up():
    played, fake, watch, _ = played_with([0.1] * 4, clock=FakeClock(oversleeps=0.02))
    assert watch.began == pytest.approx([0.1, 0.35, 0.6, 0.85])
    assert fake.budgets[2][1] == pytest.approx(0.25 - 0.02 - 0.05)
    assert played.clock_seconds == pytest.approx(1.0)


def test_the_last_action_is_held_to_its_end():
    played, fake, _, clock = played_with([0.1] * 9, length=2)
    assert len(fake.budgets) == 2
    assert clock.slept == pytest.approx([0.15, 0.25])
    assert played.ended == "game over"
    assert played.episode.lives == 5


def test_real_time_warms_up_first_and_begins_anew():
    played, fake, _, _ = played_with([0.1, 0.1])
    assert fake.warm_up == [WARM_UP_CALLS] * 2
    assert fake.starts == 2
    assert len(played.calls) == len(played.episode.actions) == 2


def test_without_pace_the_game_waits():
    played, fake, watch, clock = played_with([3.0, 0.5, 4.0], 50, 9.0, pace=None)
    assert fake.budgets == [(50, 9.0)] * 3
    assert fake.starts == 1
    assert watch.began == pytest.approx([3.0, 3.5, 7.5])
    assert clock.slept == []
    assert played.seconds == pytest.approx([3.0, 0.5, 4.0])
    assert played.calls == [10, 20, 30]
    assert played.episode.exhausted == 1
    assert played.episode.rewards == [2.0] * 3
    assert played.episode.seconds == pytest.approx(7.5)
    assert played.ended == "action limit"
    assert played.frames_per_second == 0.0


@pytest.mark.parametrize("pace", [None, PACE])
def test_an_interruption_keeps_what_was_played(pace):
    played, _, _, _ = played_with([0.1, 0.1, KeyboardInterrupt()], pace=pace)
    assert played.stopped
    assert played.ended == "stopped"
    assert played.episode.actions == [1, 1]
    assert len(played.episode.values) == 2
    assert played.calls == [10, 20]
    # Only the first of the two actions was held to its end.
    assert played.frames == (0 if pace is None else 15)


def test_an_interruption_within_a_note_leaves_lists_of_one_length():
    class Breaking(list):
        def append(self, value):
            raise KeyboardInterrupt

    clock = FakeClock()
    fake = FakePlanner(clock, [0.1], warms_up=False)

    class Watch(Observer):
        def on_decision(self, planner, decision, episode):
            episode.rewards = Breaking()

    played = Played()
    play(fake, None, Decisions(), played, seed=0, max_actions=9, observer=Watch(), clock=clock)
    assert played.stopped
    assert played.episode.actions == played.episode.rewards == played.episode.values == []


def test_a_play_without_actions_is_refused():
    with pytest.raises(InputError, match="max_actions = 0"):
        play(None, None, Decisions(), Played(), seed=0, max_actions=0)


def test_the_pace_is_that_of_the_frames():
    assert pace_of(make_simulator("breakout")).period == 0.25
    assert pace_of(make_simulator("breakout", frame_skip=6)).period == pytest.approx(0.1)
    assert pace_of(make_simulator("grid:corridor")).period == 0.25


def test_the_table_says_what_was_late():
    episode = Episode(actions=[0] * 3, rewards=[1.0, 2.0, 3.5], lives=4, exhausted=2)
    played = Played(
        episode,
        PACE,
        calls=[7, 90, 1234],
        seconds=[0.1, 0.2, 0.3],
        late=[0.004, 0.0126],
        frames=45,
        clock_seconds=0.9,
    )
    text = printed(play_table("a title", played, drawn=(1040, 6)))
    for line in (
        "score 6.5",
        "actions 3 (action limit)",
        "lives left 4",
        "calls per decision median 90, least 7, most 1,234",
        "seconds per decision median 0.200, least 0.100, most 0.300",
        "nothing left to search 2 of 3",
        "late decisions 2 of 3, by at most 0.013 s",
        "frames per second 50.0 of 60",
        "frames drawn 1,040, 6 dropped",
    ):
        assert line in text
    assert "late" not in printed(play_table("", Played(episode, None, [1], [0.1])))
    assert "calls per decision –" in printed(play_table("", Played(stopped=True)))


def printed(table):
    out = io.StringIO()
    Console(file=out, width=100).print(table)
    return re.sub(r"[│\s]+", " ", out.getvalue())


# The picture.

RED, BLUE, GREY = (255, 0, 0), (0, 0, 255), (9, 9, 9)


def pixels_of(lines):
    """Read text back as pixels, uint8 (2 × rows, columns, 3)."""
    rows = []
    for line in lines:
        upper, lower, ink, paper = [], [], None, None
        for match in re.finditer(r"\x1b\[([\d;]+)m|(.)", line):
            if match[2] is not None:
                assert match[2] == "▀"
                upper.append(ink)
                lower.append(paper)
            elif match[1] == "0":
                ink = paper = None
            else:
                numbers = [int(word) for word in match[1].split(";")]
                assert (numbers[:2], numbers[5:7]) == ([38, 2], [48, 2])
                ink, paper = numbers[2:5], numbers[7:]
        rows += [upper, lower]
    return np.array(rows, np.uint8)


def test_two_pixels_are_one_character():
    assert text_lines(np.array([[RED], [BLUE]], np.uint8)) == [
        "\x1b[38;2;255;0;0;48;2;0;0;255m▀\x1b[0m"
    ]


def test_colours_are_named_only_where_they_change():
    frame = np.array([[RED, RED, BLUE, BLUE], [GREY, GREY, GREY, RED]], np.uint8)
    assert text_lines(frame) == [
        "\x1b[38;2;255;0;0;48;2;9;9;9m▀▀"
        "\x1b[38;2;0;0;255;48;2;9;9;9m▀"
        "\x1b[38;2;0;0;255;48;2;255;0;0m▀\x1b[0m"
    ]


def test_any_picture_can_be_read_back():
    generator = np.random.default_rng(0)
    for rows, columns in ((1, 1), (1, 9), (5, 1), (7, 11)):
        few = generator.integers(0, 2, (2 * rows, columns, 3), dtype=np.uint8) * 200
        assert np.array_equal(pixels_of(text_lines(few)), few)


def test_pictures_are_scaled_by_the_mean_of_what_a_pixel_covers():
    frame = np.zeros((4, 4, 3), np.uint8)
    frame[0, 0] = 200
    frame[2:, 2:] = 80
    small = scaled(frame, columns=2, rows=1)
    assert small[:, :, 0].tolist() == [[50, 0], [0, 80]]
    large = scaled(frame, columns=8, rows=4)
    assert np.array_equal(large, frame.repeat(2, axis=0).repeat(2, axis=1))


@pytest.mark.parametrize(
    ("aspect", "columns", "rows", "size"),
    [
        (4 / 3, 200, 60, (80, 30)),
        (4 / 3, 40, 60, (40, 15)),
        (4 / 3, 200, 12, (32, 12)),
        (1.0, 200, 60, (60, 30)),
        (1.0, 1, 0, (1, 1)),
    ],
)
def test_a_picture_keeps_its_shape_in_any_terminal(aspect, columns, rows, size):
    assert fitting_size(aspect, columns, rows) == size


# What is drawn, and when.


class Screen:
    """A terminal that understands what the show writes."""

    def __init__(self):
        self.lines = {}

    def write(self, text):
        row = 0
        for match in re.finditer(r"\x1b\[(\d+);1H((?:(?!\x1b\[\d+;1H|\x1b\[2J).)*)|\x1b\[2J", text):
            if match[1] is None:
                self.lines = {}
            else:
                row = int(match[1])
                self.lines[row] = match[2].removesuffix("\x1b[K")
        return row

    def flush(self):
        pass

    @property
    def picture(self):
        return pixels_of([self.lines[row] for row in sorted(self.lines)[:-1]])

    @property
    def status(self):
        return self.lines[max(self.lines)]


def shot(action, began, calls=10, late=0):
    return Shot(action, began, calls, late)


def test_each_frame_is_drawn_in_its_time():
    simulator, twin = make_simulator("breakout"), make_simulator("breakout")
    projector, screen = Projector(simulator, lambda: (80, 31)), Screen()
    first = picture(twin, twin.reset())
    screen.write(projector.draw(0.0))
    assert np.array_equal(screen.picture, scaled(first, 80, 30))
    assert projector.due() is None
    projector.take([shot(1, 10.0)])
    _, frames = twin.step_frames(1)
    for place, frame in enumerate(frames):
        due = projector.due()
        assert due == pytest.approx(10.0 + place / 60)
        screen.write(projector.draw(due))
        assert np.array_equal(screen.picture, scaled(frame, 80, 30))
        assert projector.draw(due + 0.001) == ""
    assert projector.due() is None
    assert (projector.shown, projector.dropped) == (15, 0)
    assert screen.status == "score 0 · 5 lives · action 1: FIRE · 10 calls"


def test_frames_that_come_too_late_are_dropped_and_counted():
    simulator, twin = make_simulator("breakout"), make_simulator("breakout")
    projector, screen = Projector(simulator, lambda: (80, 31)), Screen()
    twin.reset()
    projector.take([shot(1, 0.0)])
    _, frames = twin.step_frames(1)
    screen.write(projector.draw(7.5 / 60))
    assert np.array_equal(screen.picture, scaled(frames[7], 80, 30))
    assert (projector.shown, projector.dropped) == (1, 7)
    # Two actions came meanwhile: what is left of the first and all of the second are not shown.
    projector.take([shot(2, 0.25), shot(3, 0.5, late=2)])
    twin.step(2)
    _, frames = twin.step_frames(3)
    screen.write(projector.draw(0.5))
    assert np.array_equal(screen.picture, scaled(frames[0], 80, 30))
    assert (projector.shown, projector.dropped) == (2, 7 + 7 + 15)
    assert screen.status == "score 0 · 5 lives · action 3: LEFT · 10 calls · 2 late"


def test_only_what_changed_is_written():
    projector = Projector(make_simulator("grid:corridor"), lambda: (80, 31))
    whole = projector.draw(0.0)
    projector.take([shot(3, 1.0)])
    part = projector.draw(1.0)
    assert 0 < part.count("▀") < whole.count("▀") / 2
    projector.take([shot(2, 2.0, calls=11), shot(3, 2.0, calls=11)])
    assert "▀" not in projector.draw(2.0)  # back where it was


def test_another_size_of_the_terminal_draws_all_again():
    size = [(80, 31)]
    projector, screen = Projector(make_simulator("grid:corridor"), lambda: size[0]), Screen()
    screen.write(projector.draw(0.0))
    assert screen.picture.shape == (60, 60, 3)
    size[0] = (20, 31)
    projector.take([shot(3, 1.0)])
    screen.write(projector.draw(1.0))
    assert screen.picture.shape == (20, 20, 3)
    assert len(screen.status) < 20


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_the_terminal_is_restored_whatever_happens(error):
    out = io.StringIO()
    decision = Decision(3, np.zeros(4), np.zeros(4), 4, "budget")
    show = TerminalShow(Played(), make_simulator("grid:corridor"), out, lambda: (80, 31))
    patience = sys.getswitchinterval()
    with nullcontext() if error is None else pytest.raises(error), show:
        show.on_decision(None, decision, Episode())
        if error is not None:
            raise error
    assert out.getvalue().startswith(ENTER)
    assert out.getvalue().endswith(LEAVE)
    assert sys.getswitchinterval() == patience


def test_what_fails_while_drawing_is_told_at_the_end():
    show = TerminalShow(Played(), make_simulator("grid:corridor"), io.StringIO(), lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError), show:
        show._thread.join()  # it ends by itself


def test_pictures_need_a_terminal():
    assert not can_show(Console(file=io.StringIO(), force_terminal=True))
