"""Does every game restore exactly on this machine, with this emulator? Asked one process per game.

An emulator can end its whole process; here that is one row of a table.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from typing import Any

from olive_iw.errors import InputError, unknown_name
from olive_iw.processes import Channel, ChildProcess
from olive_iw.randomness import generator
from olive_iw.simulators import GAMES, AtariSimulator, Step
from olive_iw.simulators.check import step_differences

_REMEMBERED = 200
_START_SECONDS = 120.0


@dataclass(slots=True)
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
        return self.verdict == "exact"

    @property
    def verdict(self) -> str:
        """The findings in words."""
        if self.problem:
            return self.problem
        for what, count in (
            ("NOT EXACT: other outcome", self.outcome_differences),
            ("outcomes exact; later screens differ", self.later_screen_differences),
            ("outcomes exact; first screen differs", self.first_screen_differences),
        ):
            if count:
                return f"{what} after {count} of {self.comparisons} restores"
        return "exact"

    def compare(self, expected: list[Step], found: list[Step]) -> None:
        """Count what differs between two ways on from one state."""
        fields = [step_differences(*pair).keys() for pair in zip(expected, found, strict=False)]
        other = len(expected) != len(found) or any(names - {"screen"} for names in fields)
        self.comparisons += 1
        self.outcome_differences += other
        self.first_screen_differences += "screen" in fields[0]
        self.later_screen_differences += any("screen" in names for names in fields[1:])

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
    work = examiner or examine_game
    return _examine([(game, work, calls, seed) for game in games], jobs, timeout)


def _examine(games: list[tuple[Any, ...]], jobs: int, timeout: float) -> Iterator[GameReport]:
    running: set[ChildProcess] = set()
    with ThreadPoolExecutor(jobs) as threads:
        reports = [threads.submit(_in_process, running, timeout, *game) for game in games]
        try:
            for report in as_completed(reports):
                yield report.result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for process in running.copy():
                process.kill()  # so that nobody waits for it


def _in_process(running: set[ChildProcess], timeout: float, game: str, *rest: Any) -> GameReport:
    """Examine a game in a fresh interpreter: nothing of ours, nor of another game, disturbs it."""
    process = ChildProcess(_examine_and_send, game, *rest, limit=_START_SECONDS)
    running.add(process)
    who = "the process, before it reached the emulator,"
    try:
        process.channel.receive_object()
        who = "the emulator"
        process.channel.set_limit(timeout)
        report: GameReport = process.channel.receive_object()
    except TimeoutError:
        report = GameReport(game, f"no result within {process.channel.limit:g} seconds")
    except (EOFError, OSError):
        report = GameReport(game, f"{who} {process.how_it_ended()}")
    process.close()
    running.discard(process)
    return report


def _examine_and_send(
    channel: Channel, game: str, examiner: Callable[[str, int, int], GameReport], *rest: int
) -> None:
    channel.send_object(None)  # From here on, what goes wrong is the game's.
    try:
        report = examiner(game, *rest)
    except Exception as error:
        report = GameReport(game, f"{type(error).__name__}: {error}")
    channel.send_object(report)


def examine_game(game: str, calls: int, seed: int) -> GameReport:
    """Compare what a game shows before and after restores, on random walks of `calls` calls.

    Each round plays two calls, goes back, plays another, goes back and plays the two again; then
    does one of the rounds before once more.
    """
    simulator, random = AtariSimulator(game), generator(seed)
    first = simulator.reset()
    height, width = first.screen.shape
    report = GameReport(game, lives=first.lives, height=height, width=width)
    report.actions = simulator.action_count
    rounds: list[tuple[Any, list[int], list[Step]]] = []
    start = time.perf_counter()
    while report.calls < calls:
        here = simulator.save()
        actions = [int(action) for action in random.integers(simulator.action_count, size=3)]
        steps = _play(simulator, actions[:2])
        simulator.restore(here)
        simulator.step(actions[2])
        report.calls += len(steps) + 1
        report.restores += 1
        rounds.append((here, actions[:2], steps))
        # An old round too: some emulators restore wrongly only after much has happened since.
        for state, played, expected in (rounds[int(random.integers(len(rounds)))], rounds[-1]):
            simulator.restore(state)
            again = _play(simulator, played)
            report.calls += len(again)
            report.restores += 1
            report.compare(expected, again)
        if len(rounds) > _REMEMBERED:
            rounds.pop(int(random.integers(len(rounds))))
        if steps[-1].terminal:
            simulator.reset()
    report.calls_per_second = report.calls / (time.perf_counter() - start)
    return report


def _play(simulator: AtariSimulator, actions: list[int]) -> list[Step]:
    steps: list[Step] = []
    for action in actions:
        steps.append(simulator.step(action))
        if steps[-1].terminal:
            break
    return steps
