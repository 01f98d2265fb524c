"""The ledger counts calls and refuses the one too many."""

import pytest
from synthetic import SyntheticSimulator

from olive_iw.planners import BudgetSpentError, Ledger
from olive_iw.planners import ledger as module
from olive_iw.planners.ledger import PARTS, Stopwatch


@pytest.fixture
def simulator():
    return SyntheticSimulator(terminal_chance=0.0, lives=0)


def call(ledger, simulator, action):
    ledger.spend()
    return ledger.step(simulator, action)


def test_counts_calls_and_refuses_the_one_too_many(simulator):
    ledger = Ledger()
    ledger.open(2)
    assert ledger.left == 2
    assert call(ledger, simulator, 0).reward == SyntheticSimulator().step(0).reward
    call(ledger, simulator, 1)
    assert (ledger.calls, ledger.left) == (2, 0)
    with pytest.raises(BudgetSpentError, match="2 calls"):
        call(ledger, simulator, 0)
    assert simulator.log == [(0,), (0, 1)]
    assert ledger.calls == 2


def test_no_call_before_a_budget_is_opened(simulator):
    with pytest.raises(BudgetSpentError):
        call(Ledger(), simulator, 0)
    assert simulator.log == []


def test_a_new_budget_does_not_add_what_was_left(simulator):
    ledger = Ledger()
    ledger.open(5)
    call(ledger, simulator, 0)
    ledger.open(3)
    assert (ledger.calls, ledger.left, ledger.decisions) == (1, 3, 2)


def test_reserved_calls_cannot_be_spent_until_released(simulator):
    ledger = Ledger()
    ledger.open(5)
    ledger.reserve(4)
    assert ledger.left == 1
    call(ledger, simulator, 0)
    assert ledger.left == 0
    with pytest.raises(BudgetSpentError):
        call(ledger, simulator, 0)
    ledger.reserve(0)
    assert ledger.left == 4
    ledger.reserve(10)
    assert ledger.left == 0
    ledger.open(2)
    assert ledger.left == 2  # a new budget has no reserve


def test_saving_and_restoring_cost_no_call(simulator):
    ledger = Ledger()
    ledger.open(2)
    state = ledger.save(simulator)
    first = call(ledger, simulator, 2)
    ledger.restore(simulator, state)
    assert call(ledger, simulator, 2).screen.tolist() == first.screen.tolist()
    assert ledger.calls == 2


def test_seconds_name_every_part_and_add_up(simulator):
    ledger = Ledger()
    ledger.open(1)
    assert ledger.seconds() == dict.fromkeys(PARTS, 0.0)
    call(ledger, simulator, 0)
    ledger.save(simulator)
    seconds = ledger.seconds()
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
    ledger = Ledger()
    ledger.open(10, seconds=0.25)
    assert ledger.left == 10
    now = 200.0
    assert ledger.left == 10  # none was made yet
    call(ledger, simulator, 0)
    assert ledger.left == 0
    ledger.open(10, seconds=0.25)
    call(ledger, simulator, 0)
    now = 200.2
    assert ledger.left == 9
    now = 200.25
    assert ledger.left == 0
    ledger.open(10)  # without a limit of time
    assert ledger.left == 10


def test_a_call_granted_in_time_may_be_made(simulator, monkeypatch):
    now = 0.0
    monkeypatch.setattr(module, "perf_counter", lambda: now)
    ledger = Ledger()
    ledger.open(3, seconds=1.0)
    call(ledger, simulator, 0)
    assert ledger.left
    now = 2.0
    call(ledger, simulator, 0)
    assert (ledger.calls, ledger.left) == (2, 0)
