"""The trees that planners grow today are those kept in `trees/`, node for node.

`python tests/golden/golden_trees.py` renews them.
"""

import pytest
from golden_trees import CASES, FOLDER, grown


@pytest.mark.parametrize("name", CASES)
def test_the_tree_is_as_it_was(name):
    assert grown(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_every_kept_tree_has_a_case():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(CASES)
