"""Being asked to stop: by either signal, also where Python drops the exception."""

import ctypes
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from olive_iw.runs.stopping import stop_if_asked, stopping_on_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_interrupt_and_handlers_come_back(number):
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt, match=number.name), stopping_on_signals():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_that_was_dropped_is_raised_again(number):
    stop_if_asked()
    with stopping_on_signals():
        with suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt, match=number.name):
            stop_if_asked()
    stop_if_asked()  # it was another's


def test_the_first_signal_asks_the_second_hurries_and_cleaning_up_is_left_in_peace():
    before = signal.getsignal(signal.SIGINT)
    raised = 0
    with stopping_on_signals():
        for _ in range(5):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raised += 1
    assert raised == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_a_program_that_was_asked_to_stop_ignores_signals_on_its_way_out():
    before = signal.getsignal(signal.SIGINT)
    with stopping_on_signals(to_exit=True):
        pass
    assert signal.getsignal(signal.SIGINT) is before
    try:
        with suppress(KeyboardInterrupt), stopping_on_signals(to_exit=True), stopping_on_signals():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_python_drops_is_told_unless_it_is_the_interrupt(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropped: told.append(dropped.exc_type))
    interrupt = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))
    fail = ctypes.CFUNCTYPE(None)(lambda: print(1 / 0))
    with stopping_on_signals():
        interrupt()
        fail()
        with pytest.raises(KeyboardInterrupt):
            stop_if_asked()
    assert told == [ZeroDivisionError]


def test_the_exit_code_is_130_wherever_the_interrupt_came(tmp_path):
    (tmp_path / "interrupted.py").write_text(
        "import sys\n"
        "from olive_iw.cli.main import _guarded\n"
        "sys.exit(_guarded(lambda: exec('raise KeyboardInterrupt')))\n"
    )
    # As `python -m olive_iw` is run: there Python would end itself by the signal instead.
    command = [sys.executable, "-m", "interrupted"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert ran.returncode == 130
