"""Which of the runs that were read a report is of: some games, some systems, one budget."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

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


def choose(results: Results, only: Sequence[str]) -> Results:
    """Keep the runs that are named; all of them, if nothing is named.

    A name is a game, a system as tables label it, an algorithm, or a part of the budget such as
    `calls_per_action=100`. Names of one kind add up; kinds narrow each other. Runs of an algorithm
    that learns nothing fit any number of training calls.
    """
    groups = systems(results)
    labels = {group.label for group in groups}
    names = {id(run): _names(run, one.label, labels) for one in groups for run in one.runs}
    kinds = [set[str]().union(*kind) for kind in zip(*names.values(), strict=True)]
    known = set[str]().union(*kinds)
    for name in only:
        if name not in known:
            raise unknown_name("game, system or budget of these runs", name, known)
    asked = [kind & {*only} for kind in kinds]
    runs = [
        run
        for run in results.runs
        if all(
            not some or own & some or not own
            for own, some in zip(names[id(run)], asked, strict=True)
        )
    ]
    if not any(run.episodes for run in runs):
        raise InputError(f"no episode is of all that --only names: {', '.join(only)}")
    return replace(results, runs=runs)


def _names(run: Run, label: str, labels: set[str]) -> list[set[str]]:
    """Say what a run can be chosen by: its game, its system, and each part of its budget.

    Where a system is labelled as the algorithm alone, the name means that system only.
    """
    budget = {name: getattr(run.budget, name) for name in MEASURES}
    parts = [{f"{name}={value}"} if value else set[str]() for name, value in budget.items()]
    return [{run.game}, {label} | ({run.algorithm} - labels), *parts]


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
