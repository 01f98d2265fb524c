import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from olive_iw.agents.selection import _highest as highest

# Few different values, so that ties are common.
score_lists = st.lists(st.integers(-3, 3).map(float), max_size=30)


@given(scores=score_lists, k=st.integers(0, 40), seed=st.integers(0, 99))
@settings(max_examples=200, deadline=None)
def test_highest_are_the_highest_in_order(scores, k, seed):
    values = np.array(scores, dtype=np.float64)
    picked = highest(values, k, np.random.default_rng(seed))
    assert len(set(picked.tolist())) == len(picked) == min(k, len(scores))
    assert values[picked].tolist() == sorted(scores, reverse=True)[:k]


@given(scores=score_lists, seed=st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_fewer_are_the_beginning_of_more(scores, seed):
    values = np.array(scores, dtype=np.float64)
    more = highest(values, len(scores), np.random.default_rng(seed))
    fewer = highest(values, len(scores) // 2, np.random.default_rng(seed))
    assert fewer.tolist() == more[: len(scores) // 2].tolist()
