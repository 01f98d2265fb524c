"""The ledger counts calls and refuses the one too many."""

import pytest
from synthetic import SyntheticSimulator

from olive_iw.planners import BreadthFirst, BudgetSpentError, RolloutIW
from olive_iw.search import ledger as module
from olive_iw.search.ledger import PARTS, CallBudget, Stopwatch


@pytest.fixture
def simulator():
    return SyntheticSimulator(terminal_chance=0.0, lives=0)


def call(budget, simulator, action):
    budget.spend()
    return simulator.step(action)


def test_counts_calls_and_refuses_the_one_too_many(simulator):
    budget = CallBudget()
    budget.open(2)
    assert budget.left == 2
    assert call(budget, simulator, 0).reward == SyntheticSimulator().step(0).reward
    call(budget, simulator, 1)
    assert (budget.calls, budget.left) == (2, 0)
    with pytest.raises(BudgetSpentError, match="2 calls"):
        call(budget, simulator, 0)
    assert simulator.log == [(0,), (0, 1)]
    assert budget.calls == 2


def test_no_call_before_a_budget_is_opened(simulator):
    with pytest.raises(BudgetSpentError):
        call(CallBudget(), simulator, 0)
    assert simulator.log == []


def test_a_new_budget_does_not_add_what_was_left(simulator):
    budget = CallBudget()
    budget.open(5)
    call(budget, simulator, 0)
    budget.open(3)
    assert (budget.calls, budget.left) == (1, 3)


def test_reserved_calls_cannot_be_spent_until_released(simulator):
    budget = CallBudget()
    budget.open(5)
    budget.reserve(4)
    assert budget.left == 1
    call(budget, simulator, 0)
    assert budget.left == 0
    with pytest.raises(BudgetSpentError):
        call(budget, simulator, 0)
    budget.reserve(0)
    assert budget.left == 4
    budget.reserve(10)
    assert budget.left == 0
    budget.open(2)
    assert budget.left == 2  # a new budget has no reserve


def test_saving_and_restoring_cost_no_call(simulator):
    planner = RolloutIW(None)
    planner.start(simulator, seed=0)
    search = planner._search
    search.ledger.budget.open(2)
    first = search.expand(0, 2)
    second = search.expand(0, 1)  # from the root again
    assert (first, second) == (1, 2)
    assert simulator.log == [(2,), (1,)]
    assert planner.ledger.calls == 2


def test_seconds_name_every_part_and_add_up(simulator):
    planner = BreadthFirst()
    stopwatches = planner.ledger.stopwatches
    assert stopwatches.seconds() == dict.fromkeys(PARTS, 0.0)
    planner.start(simulator, seed=0)
    planner._search.ledger.budget.open(1)
    planner._search.simulate(0, 0)
    seconds = planner.ledger.stopwatches.seconds()
    assert tuple(seconds) == PARTS
    spent = {part for part, value in seconds.items() if value > 0}
    assert spent == {"emulator", "save and restore"}


def test_a_stopwatch_counts_also_when_an_error_leaves_it():
    stopwatch = Stopwatch()
    with pytest.raises(KeyError), stopwatch:
        raise KeyError
    assert stopwatch.seconds > 0


def test_when_the_time_is_up_only_a_decisions_first_call_is_left(simulator, monkeypatch):
    now = 100.0
    monkeypatch.setattr(module, "perf_counter", lambda: now)
    budget = CallBudget()
    budget.open(10, seconds=0.25)
    assert budget.left == 10
    now = 200.0
    assert budget.left == 10  # none was made yet
    call(budget, simulator, 0)
    assert budget.left == 0
    budget.open(10, seconds=0.25)
    call(budget, simulator, 0)
    now = 200.2
    assert budget.left == 9
    now = 200.25
    assert budget.left == 0
    budget.open(10)  # without a limit of time
    assert budget.left == 10


def test_a_call_granted_in_time_may_be_made(simulator, monkeypatch):
    now = 0.0
    monkeypatch.setattr(module, "perf_counter", lambda: now)
    budget = CallBudget()
    budget.open(3, seconds=1.0)
    call(budget, simulator, 0)
    assert budget.left
    now = 2.0
    call(budget, simulator, 0)
    assert (budget.calls, budget.left) == (2, 0)
