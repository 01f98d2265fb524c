"""Networks with a policy, whose hidden units are features."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olive_iw.policy.config import (
    N_CPL,
    PI_IW,
    PI_IW_PLUS,
    DecisionTraining,
    PolicyConfig,
    PolicyTraining,
    ScheduledTraining,
)

if TYPE_CHECKING:
    from olive_iw.policy.guide import PolicyGuide

__all__ = [
    "N_CPL",
    "PI_IW",
    "PI_IW_PLUS",
    "DecisionTraining",
    "PolicyConfig",
    "PolicyGuide",
    "PolicyTraining",
    "ScheduledTraining",
]


def __getattr__(name: str) -> Any:
    if name == "PolicyGuide":  # it needs torch, which takes seconds to load
        return import_module(f"{__name__}.guide").PolicyGuide
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
