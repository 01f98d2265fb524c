"""Does every game restore exactly on this machine, with this emulator? Asked one process per game.

An emulator can end its whole process; here that is one row of a table.
"""

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
from rich.table import Table

from olive_iw.errors import InputError, unknown_name
from olive_iw.randomness import generator
from olive_iw.simulators import GAMES, AtariSimulator, Step
from olive_iw.simulators.check import differences

_REMEMBERED = 200
_START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class GameReport:
    """What was found about one game; the counts are 0 where its process did not end well."""

    game: str
    problem: str = ""
    """Why there is no result: a signal, a time limit or an error; empty if there is one."""
    calls: int = 0
    comparisons: int = 0
    """Times a restored state was played on and compared with what it had shown before."""
    restores: int = 0
    outcome_differences: int = 0
    """Comparisons in which a reward, the end, the lives or the RAM differed."""
    first_screen_differences: int = 0
    """Comparisons in which the first screen after the restore differed."""
    later_screen_differences: int = 0
    """Comparisons in which the second screen after the restore differed."""
    calls_per_second: float = 0.0
    """Saving, restoring and comparing included."""
    actions: int = 0
    lives: int = 0
    height: int = 0
    width: int = 0

    @property
    def exact(self) -> bool:
        """Whether everything was compared and nothing differed."""
        counts = self.outcome_differences, self.first_screen_differences
        return not self.problem and not any(counts) and not self.later_screen_differences

    @property
    def verdict(self) -> str:
        """The findings in words."""
        if self.problem:
            return self.problem
        if self.exact:
            return "exact"
        of = f"of {self.comparisons}"
        if self.outcome_differences:
            return f"NOT EXACT: other outcome after {self.outcome_differences} {of} restores"
        if self.later_screen_differences:
            return (
                f"outcomes exact; later screens differ after {self.later_screen_differences} {of}"
            )
        count = self.first_screen_differences
        return f"outcomes exact; first screen differs after {count} {of} restores"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, `exact` and `verdict`, for JSON."""
        return {**asdict(self), "exact": self.exact, "verdict": self.verdict}


def examine(
    games: Sequence[str],
    *,
    calls: int = 2000,
    seed: int = 0,
    jobs: int = 1,
    timeout: float = 600.0,
    examiner: Callable[[str, int, int], GameReport] | None = None,
) -> Iterator[GameReport]:
    """Examine games, `jobs` at a time, each in a process of its own; yield reports as they end.

    A game whose process dies, or takes more than `timeout` seconds, is reported as such.
    `examiner(game, calls, seed)` does the work in that process; it must be importable there.
    """
    for game in games:
        if game not in GAMES:
            raise unknown_name("game", game, GAMES)
    if calls < 1 or jobs < 1:
        raise InputError(f"calls and jobs must be at least 1, not {calls} and {jobs}")
    return _examine(list(games), examiner or examine_game, (calls, seed), jobs, timeout)


def _examine(
    waiting: list[str],
    examiner: Callable[[str, int, int], GameReport],
    arguments: tuple[int, int],
    jobs: int,
    timeout: float,
) -> Iterator[GameReport]:
    waiting = waiting[::-1]
    running: list[GameProcess] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(GameProcess(waiting.pop(), examiner, arguments, timeout))
            patience = max(0.0, min(patient.deadline for patient in running) - time.monotonic())
            wait([patient.results for patient in running], timeout=patience)
            for patient in list(running):
                report = patient.report()
                if report is not None:
                    running.remove(patient)
                    yield report
    finally:
        for patient in running:
            patient.stop()


class GameProcess:
    """A process that examines one game."""

    def __init__(
        self,
        game: str,
        examiner: Callable[[str, int, int], GameReport],
        arguments: tuple[int, int],
        timeout: float,
    ) -> None:
        # A fresh interpreter: nothing of ours, nor of another game's emulator, can disturb it.
        context = multiprocessing.get_context("spawn")
        self._game = game
        self._timeout = timeout
        self._started = False
        self.results, sender = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_examine_and_send, args=(sender, examiner, game, *arguments), daemon=True
        )
        self._process.start()
        # With our copy closed, the pipe ends when the process does, however it does.
        sender.close()
        self.deadline = time.monotonic() + _START_SECONDS

    def report(self) -> GameReport | None:
        """Return the report if there is one yet."""
        if self.results.poll():
            return self._receive()
        if time.monotonic() < self.deadline:
            return None
        self.stop()
        limit = self._timeout if self._started else _START_SECONDS
        return GameReport(self._game, problem=f"no result within {limit:g} seconds")

    def _receive(self) -> GameReport | None:
        try:
            message: GameReport | None = self.results.recv()
        except EOFError:
            self._process.join()
            message = GameReport(self._game, problem=self._how_it_ended())
        if message is None:
            self._started = True
            self.deadline = time.monotonic() + self._timeout
            return None
        self.results.close()
        self._process.join()
        return message

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self.results.close()

    def _how_it_ended(self) -> str:
        who = "emulator" if self._started else "process, before it reached the emulator,"
        code = self._process.exitcode
        if code is not None and code < 0:
            return f"{who} crashed with signal {-code} ({_signal_name(-code)})"
        return f"{who} ended with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _examine_and_send(
    sender: Connection, examiner: Callable[[str, int, int], GameReport], game: str, *rest: int
) -> None:
    sender.send(None)  # From here on, what goes wrong is the game's.
    try:
        report = examiner(game, *rest)
    except Exception as error:
        report = GameReport(game, problem=f"{type(error).__name__}: {error}")
    sender.send(report)


def examine_game(game: str, calls: int, seed: int) -> GameReport:
    """Compare what a game shows before and after restores, on random walks of `calls` calls.

    Each round plays two calls, goes back, plays another, goes back and plays the two again; then
    does one of the rounds before once more.
    """
    simulator = AtariSimulator(game)
    random = generator(seed)
    first = simulator.reset()
    counts = np.zeros(3, np.int64)
    rounds: list[_Round] = []
    done = comparisons = 0
    start = time.perf_counter()
    while done < calls:
        here = simulator.save()
        actions = [int(action) for action in random.integers(simulator.action_count, size=3)]
        steps = _play(simulator, actions[:2])
        simulator.restore(here)
        simulator.step(actions[2])
        rounds.append(_Round(here, actions[:2], steps))
        old = rounds[int(random.integers(len(rounds)))]
        for again in (old, rounds[-1]):
            simulator.restore(again.state)
            found = _play(simulator, again.actions)
            counts += _count_differences(again.steps, found)
            comparisons += 1
            done += len(found)
        done += len(steps) + 1
        if len(rounds) > _REMEMBERED:
            rounds.pop(int(random.integers(len(rounds))))
        if steps[-1].terminal:
            simulator.reset()
    seconds = time.perf_counter() - start
    return GameReport(
        game,
        calls=done,
        comparisons=comparisons,
        restores=3 * comparisons // 2,
        outcome_differences=int(counts[0]),
        first_screen_differences=int(counts[1]),
        later_screen_differences=int(counts[2]),
        calls_per_second=done / seconds,
        actions=simulator.action_count,
        lives=first.lives,
        height=first.screen.shape[0],
        width=first.screen.shape[1],
    )


@dataclass(frozen=True, slots=True)
class _Round:
    state: Any
    actions: list[int]
    steps: list[Step]


def _play(simulator: AtariSimulator, actions: list[int]) -> list[Step]:
    steps: list[Step] = []
    for action in actions:
        steps.append(simulator.step(action))
        if steps[-1].terminal:
            break
    return steps


def _count_differences(expected: list[Step], found: list[Step]) -> list[int]:
    """Whether outcomes, the first screen and a later one differ: 0 or 1 each."""
    fields = [differences(*pair).keys() for pair in zip(expected, found, strict=False)]
    outcome = len(expected) != len(found) or any(names - {"screen"} for names in fields)
    later = any("screen" in names for names in fields[1:])
    return [int(outcome), int("screen" in fields[0]), int(later)]


def doctor_table(reports: Iterable[GameReport]) -> Table:
    """Table of reports, a row for each game."""
    table = Table("game", "verdict")
    for heading in ("restores", "calls/s", "actions", "lives", "screen"):
        table.add_column(heading, justify="right")
    for report in reports:
        numbers = [
            f"{report.restores}",
            f"{report.calls_per_second:.0f}",
            f"{report.actions}",
            f"{report.lives}",
            f"{report.height}×{report.width}",
        ]
        style = None if report.exact else "bold red"
        table.add_row(report.game, report.verdict, *(numbers if report.calls else []), style=style)
    return table
