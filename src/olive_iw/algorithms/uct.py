"""UCT, which prunes nothing.

How it differs from its source: docs/algorithms.md, "Breadth first, and UCT".
"""

from olive_iw.algorithms.given import given
from olive_iw.planners.uct import PLAYOUT_DEPTH

ALGORITHMS = {
    "uct": given(
        "UCT",
        "Kocsis and Szepesvári 2006",
        planner="uct",
        bandit="ucb1",
        depth_limit=PLAYOUT_DEPTH,
    ),
}
