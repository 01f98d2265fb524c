"""The older systems on memory bytes: IW(1), 2BFS, p-IW, Racing p-IW and DASA.

What they share: all actions, of 5 frames each, and no risk aversion. How each differs from its
source is numbered in docs/algorithms.md, "Older systems on memory bytes".
"""

from dataclasses import replace
from functools import partial

from olive_iw.algorithms.given import LIPOVETZKY, given
from olive_iw.algorithms.mechanisms import KeptNodes
from olive_iw.planners.dasa import Dominated

_SHLEYFMAN = "Shleyfman et al. 2016"
_older = partial(
    given,
    features="ram",
    discount=0.995,
    depth_limit=300,
    risk_averse=False,
    frame_skip=5,
    action_set="full",
)
_retesting = partial(_older, mechanisms=(KeptNodes,), kept_nodes="retested")

ALGORITHMS = {
    "iw-1-ram": _retesting("IW(1) on RAM bytes", LIPOVETZKY, planner="breadth-first"),
    "2bfs": _older("2BFS on RAM bytes", LIPOVETZKY, planner="2bfs"),
    "p-iw": _retesting("p-IW(1) on RAM bytes", _SHLEYFMAN, planner="p-iw"),
    "racing-p-iw": replace(
        _retesting(
            "Racing p-IW, a reconstruction", f"ours, after {_SHLEYFMAN}", planner="racing-p-iw"
        ),
        caveat="reconstruction",
    ),
    "dasa": _retesting(
        "DASA: IW(1) on RAM bytes",
        "Jinnai and Fukunaga 2017",
        mechanisms=(KeptNodes, Dominated),
        planner="breadth-first",
        prune_actions="dasa",
    ),
}
