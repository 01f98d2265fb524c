"""Our aggregates are those of rliable 1.2.0, the package of Agarwal et al. 2021."""

import numpy as np
import pytest

from olive_iw.stats import (
    Strata,
    interquartile_mean,
    mean,
    median,
    optimality_gap,
    probability_of_improvement,
)

rliable = pytest.importorskip("rliable.metrics", reason="pip install rliable==1.2.0")

PAIRS = {
    "mean": (mean, rliable.aggregate_mean),
    "median": (median, rliable.aggregate_median),
    "interquartile mean": (interquartile_mean, rliable.aggregate_iqm),
    "optimality gap": (optimality_gap, rliable.aggregate_optimality_gap),
}


def made_up(seed, runs, games, ties=False):
    """Scores as rliable wants them, shape (runs, games), and as we do."""
    scores = np.random.default_rng(seed).gamma(1.5, 0.8, size=(runs, games)) - 0.1
    scores = np.round(scores, 1) if ties else scores
    return scores, {str(game): scores[:, game] for game in range(games)}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(("runs", "games"), [(4, 3), (2, 10), (8, 1), (5, 20), (1, 4)])
def test_aggregates(name, runs, games):
    ours, theirs = PAIRS[name]
    for seed in range(5):
        matrix, scores = made_up(seed, runs, games)
        # Theirs cuts whole runs off the ends: the same where a quarter of them is a whole number.
        assert name != "interquartile mean" or runs * games % 4 == 0
        assert ours(Strata.of(scores))[0] == pytest.approx(theirs(matrix), rel=1e-12)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("runs", "others", "games"), [(5, 5, 6), (3, 7, 2), (1, 4, 1)])
def test_probability_of_improvement(runs, others, games, ties):
    for seed in range(5):
        first, ours = made_up(seed, runs, games, ties)
        second, theirs = made_up(100 + seed, others, games, ties)
        found = probability_of_improvement(ours, theirs, np.random.default_rng(0), samples=10)
        expected = rliable.probability_of_improvement(first, second)
        assert found.point == pytest.approx(expected, rel=1e-12)
