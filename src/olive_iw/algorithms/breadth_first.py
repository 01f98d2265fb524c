"""Breadth-first search, IW(1) and IW(2).

How each differs from its source: docs/algorithms.md, "Breadth first, and UCT".
"""

from olive_iw.agents.parts import NONE
from olive_iw.algorithms.given import LIPOVETZKY, given

ALGORITHMS = {
    "breadth-first": given(
        "Breadth-first search", "Bellemare et al. 2013", planner="breadth-first", features=NONE
    ),
    "iw-1": given("IW(1) on B-PROST", LIPOVETZKY, planner="breadth-first"),
    "iw-2": given(
        "IW(2) on RAM bytes", LIPOVETZKY, planner="breadth-first", features="ram", width=2
    ),
}
