"""Which of the runs that were read a report is of: some games, some systems, one budget."""

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from olive_iw.errors import InputError, unknown_name
from olive_iw.reports.results import Budget, Results, Run, System, systems

MEASURES = {
    "training_calls": "training calls",
    "calls_per_action": "calls per action",
    "max_actions": "actions an episode",
}
"""Parts of a budget by which runs can be chosen, and what they are called."""
MANY = 4
"""Values of a measure that a message lists; of more it gives the least and the greatest."""
Test: TypeAlias = Callable[[Run], bool]


def choose(results: Results, only: Sequence[str]) -> Results:
    """Leave of some results the runs of what is named; all, where nothing is.

    A name is that of a game, of a system as tables label it or of an algorithm, or a part of the
    budget such as `calls_per_action=100`. Names of one kind add up, kinds narrow each other. What
    learns nothing fits any number of training calls.
    """
    label_of = {id(run): group.label for group in systems(results) for run in group.runs}
    games = {run.game for run in results.runs}
    algorithms = {run.algorithm for run in results.runs}
    budgets = {f"{name}={it}" for name in MEASURES for it in _values(results.runs, name)}
    known = games | algorithms | budgets | {*label_of.values()}
    for name in only:
        if name not in known:
            raise unknown_name("game, system or budget of these runs", name, known)
    labels = {*only} & {*label_of.values()}
    kinds: list[tuple[set[str], Test]] = [
        ({*only} & games, lambda run: run.game in only),
        (
            {*only} & (algorithms | labels),
            lambda run: label_of[id(run)] in labels or run.algorithm in {*only} - labels,
        ),
        *((_asked(only, name), _budget_test(only, name)) for name in MEASURES),
    ]
    tests = [test for named, test in kinds if named]
    runs = [run for run in results.runs if all(test(run) for test in tests)]
    if not any(run.episodes for run in runs):
        raise InputError(f"no episode is of all that --only names: {', '.join(only)}")
    return replace(results, runs=runs)


def _values(runs: Sequence[Run], name: str) -> set[int]:
    return {value for run in runs if (value := getattr(run.budget, name))}


def _asked(only: Sequence[str], name: str) -> set[str]:
    return {one for one in only if one.startswith(f"{name}=")}


def _budget_test(only: Sequence[str], name: str) -> Test:
    values = {one.partition("=")[2] for one in _asked(only, name)}
    return lambda run: str(value := getattr(run.budget, name)) in values or value == 0


def check_budgets(
    groups: Sequence[System], command: Sequence[str] = ("olive-iw", "report", "DIR")
) -> None:
    """Refuse to set systems of different budgets side by side, saying what differs.

    Systems without training (0 training calls) may stand beside trained ones, as in the paper. The
    message has the command that chooses the budget most runs have.
    """
    budgets = [run.budget for system in groups for run in system.runs]
    differing = [name for name in MEASURES if len({*_counted(budgets, name)}) > 1]
    if not differing:
        return
    told = [f"{MEASURES[name]} ({_listed([*_counted(budgets, name)])})" for name in differing]
    usual = [f"{name}={_counted(budgets, name).most_common(1)[0][0]}" for name in differing]
    raise InputError(
        f"these runs have different {' and '.join(told)}. Choose one: "
        f"{shlex.join(command)} --only {' '.join(usual)}; or see them apart with --mix-budgets"
    )


def _counted(budgets: Sequence[Budget], name: str) -> Counter[int]:
    """How many runs have each value; no training is no value."""
    return Counter(value for budget in budgets if (value := getattr(budget, name)))


def _listed(values: Sequence[int]) -> str:
    numbers = [f"{value:,}" for value in sorted(values)]
    return ", ".join(numbers) if len(numbers) <= MANY else f"{numbers[0]} to {numbers[-1]}"
