"""Makes the helpers beside this file (`synthetic`, `oracle`, …) importable from every test."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# Ray's workers run at a low priority, and would starve beside the other tests on a small machine.
os.environ.setdefault("RAY_worker_niceness", "0")

# A shell starts what runs in its background with Ctrl-C ignored, which processes started here would
# inherit; some tests send them one.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, however slow the machine is: a change that is tested fails for
# what it changed. To look for new examples: pytest --hypothesis-profile=explore tests/properties
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("explore", **PATIENT)
settings.register_profile("repeat", derandomize=True, **PATIENT)
settings.load_profile("repeat")


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """A command that was asked to stop ignores signals from then on, since its program ends."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
