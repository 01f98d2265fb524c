"""What the algorithms decide today is what is kept in `kept/`, decision by decision.

`python tests/traces/traces.py renew` writes the traces anew.
"""

import pytest
from trace_cases import GROUPS
from traces import FOLDER, LOCAL, difference, kept, trace

CASES = [
    pytest.param(group, case, id=f"{group}: {case.title}")
    for group, cases in GROUPS.items()
    if not group.startswith(LOCAL) or kept(group)
    for case in cases
]


@pytest.mark.parametrize(("group", "case"), CASES)
def test_decisions_are_as_they_were(group, case):
    found = difference(case, kept(group).get(case.title, []), trace(case))
    assert not found, found


def test_every_kept_trace_has_a_case():
    for path in FOLDER.glob("*.txt"):
        titles = [case.title for case in GROUPS.get(path.stem, [])]
        assert list(kept(path.stem)) == titles, path.name
