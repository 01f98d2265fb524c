"""How often the 95% intervals of aggregates hold the truth, by simulation.

    python tests/interval_coverage.py [TRIALS]

prints the table of docs/reports.md. The games have different levels; the runs of a game vary
around it, either evenly (normal) or with a tail of good runs (log-normal, σ = 0.6).
"""

import sys

import numpy as np

from olive_iw.stats import METRICS, Strata, probability_of_improvement
from olive_iw.stats.intervals import interval_around, small_sample_factor

IMPROVEMENT = "probability of improvement"
BETTER = 1.3
"""What a run of the better of two algorithms scores, beside one of the other."""
MANY = 100_000


def draw(generator, kind, games, runs):
    """Human-normalised scores: game -> float64, shape (runs,)."""
    levels = 0.2 + 1.6 * ((7 * np.arange(games)) % 11) / 10
    noise = generator.normal(size=(games, runs))
    spread = 1.0 + 0.3 * noise if kind == "even" else np.exp(0.6 * noise - 0.18)
    return {str(game): levels[game] * spread[game] for game in range(games)}


def truth(kind, games):
    """The value of every metric for very many runs."""
    strata = Strata.of(draw(np.random.default_rng(1), kind, games, MANY))
    found = {name: float(metric(strata)[0]) for name, metric in METRICS.items()}
    one, other = (np.random.default_rng(seed).normal(size=MANY) for seed in (2, 3))
    if kind == "even":
        better = BETTER * (1.0 + 0.3 * one) > 1.0 + 0.3 * other
    else:
        better = BETTER * np.exp(0.6 * one) > np.exp(0.6 * other)
    return {**found, IMPROVEMENT: float(better.mean())}


def coverage(kind, games, runs, trials=300, samples=500, seed=0):
    """Metric -> parts of trials whose interval holds the truth: (percentiles alone, ours)."""
    generator = np.random.default_rng(seed)
    true = truth(kind, games)
    held = {name: np.zeros(2) for name in true}
    for _ in range(trials):
        scores = draw(generator, kind, games, runs)
        strata = Strata.of(scores)
        drawn = strata.resample(generator, samples)
        factor = small_sample_factor([game[0] for game in strata.games])
        for name, metric in METRICS.items():
            point, draws = float(metric(strata)[0]), metric(drawn)
            for column, wider in enumerate((1.0, factor)):
                found = interval_around(point, draws, wider)
                held[name][column] += found.low <= true[name] <= found.high
        better = {game: BETTER * own for game, own in draw(generator, kind, games, runs).items()}
        found = probability_of_improvement(better, scores, generator, samples)
        held[IMPROVEMENT] += [np.nan, found.low <= true[IMPROVEMENT] <= found.high]
    return {name: tuple(counts / trials) for name, counts in held.items()}


def main(trials):
    print("| runs vary | games | runs a game |", " | ".join((*METRICS, IMPROVEMENT)), "|")
    print("|:---|---:|---:|" + "---:|" * (len(METRICS) + 1))
    for kind in ("even", "skewed"):
        for games in (1, 5, 20):
            for runs in (2, 3, 5, 10):
                found = coverage(kind, games, runs, trials)
                cells = [
                    f"{ours:.2f}" if np.isnan(plain) else f"{plain:.2f} → {ours:.2f}"
                    for plain, ours in found.values()
                ]
                print(f"| {kind} | {games} | {runs} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
