"""Every number of an agent that may be changed, with the paper's values."""

from dataclasses import dataclass
from typing import Any

from olive_iw.errors import InputError
from olive_iw.features.binary_vae import TrainingConfig, VaeConfig
from olive_iw.planners.rollout_iw import WhenExhausted

AS_MANY_AS_FIT = 100_000
"""Calls per action of those who only limit the seconds."""


def budget(calls: int | None, seconds: float | None) -> dict[str, Any]:
    """Options of a decision's budget, of which either or both may be given.

    Seconds alone mean as many calls as fit into them.
    """
    given = {"calls_per_action": calls, "seconds_per_action": seconds}
    if calls is None and seconds is not None:
        given["calls_per_action"] = AS_MANY_AS_FIT
    return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Options:
    """What an agent may spend, and how it plans and learns. The defaults are the paper's."""

    calls_per_action: int = 100
    """Most simulator calls of a decision. The paper uses 100 throughout."""
    seconds_per_action: float | None = None
    """Seconds after which a decision makes no more calls, or None. How many fit depends on the
    machine, so a run with this limit cannot be repeated exactly; its episodes can be verified."""
    search_workers: int = 1
    """Processes that make the calls of a decision. More than 1 is Rollout-IW only; another number
    gives another search."""
    width: int = 1
    """Width of the novelty that prunes: 1 or 2 (for Rollout-IW and what is built on it)."""
    when_exhausted: WhenExhausted = "stop"
    """What to do when nothing novel is left before the calls are spent: stop (the paper), widen
    (go on with width 2) or extend (go on from the end of the best known path)."""
    extend_share: float = 0.0
    """Share of every decision's calls that extends the best known path first."""
    discount: float = 0.99
    """Discount γ per call."""
    depth_limit: int = 100
    """No rollout goes deeper below the root (UCT: 20)."""
    risk_averse: bool = True
    """Count a lost life as -500,000 and negative rewards 50,000-fold when choosing the action."""
    training_actions: int = 200
    """Most actions of a training episode."""
    max_training_episodes: int = 30
    """Most training episodes."""
    first_share: float = 1 / 30
    """Share of the training calls that the first training episode of Olive may spend."""
    screens_per_episode: int = 500
    """Screens that Olive adds to its training set after each training episode (k)."""
    screen_limit: int = 15_000
    """Most screens in the training set."""

    def __post_init__(self) -> None:
        for name in (
            "calls_per_action",
            "search_workers",
            "depth_limit",
            "training_actions",
            "max_training_episodes",
            "screens_per_episode",
            "screen_limit",
        ):
            if getattr(self, name) < 1:
                raise InputError(
                    f"{name} = {getattr(self, name)} is not possible; it must be at least 1"
                )
        if self.seconds_per_action is not None and not self.seconds_per_action > 0:
            raise InputError(
                f"seconds_per_action = {self.seconds_per_action} is not possible; more than 0 is"
            )
        if not 0 < self.first_share <= 1:
            raise InputError(f"first_share = {self.first_share} is not possible; (0, 1] is")


@dataclass(frozen=True, slots=True)
class Spec:
    """All that makes an agent what it is: the same specification gives the same agent."""

    algorithm: str
    profile: str
    seed: int
    options: Options
    network: VaeConfig
    """Unused by algorithms that do not learn, like `training`."""
    training: TrainingConfig
