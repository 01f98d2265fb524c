"""Rollout-IW on features that are given: as its authors had it, and with our own rules.

How each differs from its source is numbered in docs/algorithms.md, "Rollout-IW".
"""

from olive_iw.algorithms.given import BANDRES, given
from olive_iw.algorithms.mechanisms import (
    KeptNodes,
    LifeReplaces,
    OverInTable,
    RewardStrata,
    RootInTable,
    UntriedValue,
)
from olive_iw.planners.mechanisms import HighestZero, Repeats

ALGORITHMS = {
    "rollout-iw": given("Rollout-IW on B-PROST", f"Rollout-IW (RIW); {BANDRES}"),
    "rollout-iw-ram": given("Rollout-IW on RAM bytes", BANDRES, features="ram"),
    "rollout-iw-2018": given(
        "Rollout-IW on B-PROST as its authors ran it (RAS)",
        BANDRES,
        (
            *(RewardStrata, KeptNodes, RootInTable, OverInTable, UntriedValue, LifeReplaces),
            *(HighestZero, Repeats),
        ),
        reward_strata=True,
        ties="highest-zero",
        kept_nodes="known",
        root_in_table=False,
        over_in_table=False,
        untried_value="zero",
        max_repeats=2,
        life_replaces=True,
        discount=1.0,
        depth_limit=1_500,
        action_set="full",
    ),
    "patch-iw": given(
        "Rollout-IW on patches, top-two", "ours; no learning", features="patches", bandit="ttts"
    ),
    "value-iw": given(
        "Rollout-IW on numbers, top-two, our own rules",
        "ours; no learning",
        features="values",
        bandit="ttts",
        risk_averse=False,
        ties="longest",
        avoid_twins=True,
        safe_steps=8,
        persistence=0.5,
        look_further=0.5,
        beyond_usual=True,
        outlook=True,
        recall=True,
    ),
}
