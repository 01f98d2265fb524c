import numpy as np

from olive_iw.rules.outlook import _counts


def test_what_is_far_beyond_all_that_was_met_counts_with_the_outermost():
    met = np.array([[0.0], [0.25], [1.0], [1.0]])
    shown = np.array([[0.0], [-1e60], [1.0], [1e60]])
    assert _counts(met, shown).tolist() == [1.0, 1.0, 2.0, 2.0]
