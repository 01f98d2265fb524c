"""Statistics over the scores of finished runs: pure functions on arrays, no files."""

from olive_iw.stats.aggregates import (
    METRICS,
    interquartile_mean,
    mean,
    median,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
    probability_of_superiority,
)
from olive_iw.stats.curves import CurvePoint, TrainingTrace, anytime_curve, learning_curve
from olive_iw.stats.strata import Interval, Metric, Strata, bootstrap_interval, human_normalised
from olive_iw.stats.summary import Scores, Summary, means, summarise
from olive_iw.stats.wins import (
    Tally,
    Verdict,
    best_in_group,
    mann_whitney_p,
    portfolio,
    tally_by_mean,
    tally_by_test,
    verdict_by_test,
    win_matrix,
)

__all__ = [
    "METRICS",
    "CurvePoint",
    "Interval",
    "Metric",
    "Scores",
    "Strata",
    "Summary",
    "Tally",
    "TrainingTrace",
    "Verdict",
    "anytime_curve",
    "best_in_group",
    "bootstrap_interval",
    "human_normalised",
    "interquartile_mean",
    "learning_curve",
    "mann_whitney_p",
    "mean",
    "means",
    "median",
    "optimality_gap",
    "performance_profile",
    "portfolio",
    "probability_of_improvement",
    "probability_of_superiority",
    "summarise",
    "tally_by_mean",
    "tally_by_test",
    "verdict_by_test",
    "win_matrix",
]
