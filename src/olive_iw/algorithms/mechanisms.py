"""Mechanisms of surveyed systems: options of the algorithms that need them, and of no others.

An algorithm lists those that it has. Each says how it changes the arguments that a planner is made
with; those that are rules are in `planners/mechanisms.py` and `planners/dasa.py`.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from olive_iw.novelty import Judging
from olive_iw.novelty.judge import By, Kept


class _Judged:
    """An option of how novelty is judged."""

    argument: ClassVar[str]
    """What it is called there."""

    def adapt(self, arguments: dict[str, Any]) -> None:
        """Say it to who judges."""
        (value,) = vars(self).values()
        judging = arguments.get("judging", Judging())
        arguments["judging"] = replace(judging, **{self.argument: value})


@dataclass(frozen=True)
class KeptNodes(_Judged):
    """How nodes that an earlier decision simulated are judged."""

    argument: ClassVar = "kept"
    kept_nodes: Kept = "judged"
    """Nodes that an earlier decision simulated: judged as if they were new (the paper), or free:
    never pruned, and what they show is still new when another node shows it; or known: the same,
    but pruned where new nodes have shown all of it less deep; or first: judged as new before the
    search begins, in the order in which they were made; or retested: those that were pruned are
    judged as new, the others are free."""


@dataclass(frozen=True)
class Novelty(_Judged):
    """What is new."""

    argument: ClassVar = "by"
    novelty: By = "depth"
    """What is new: an atom that was not met as little deep in this decision (depth, the paper), or
    not met at all (classic), or not with as much reward on the way from the root (reward)."""


@dataclass(frozen=True)
class RootInTable(_Judged):
    """Whether the root is judged."""

    argument: ClassVar = "root_in_table"
    root_in_table: bool = True
    """Whether what the root shows is new no more below it."""


@dataclass(frozen=True)
class OverInTable(_Judged):
    """Whether the ends of games are judged."""

    argument: ClassVar = "over_in_table"
    over_in_table: bool = True
    """Whether what the end of a game shows is new no more elsewhere."""


@dataclass(frozen=True)
class RewardStrata(_Judged):
    """Whether there is a table for each class of reward."""

    argument: ClassVar = "strata"
    reward_strata: bool = True
    """Judge novelty apart for every power of two of the (risk-averse) reward on the way from the
    root, as the subtables of Bandres et al. 2018 do."""


@dataclass(frozen=True)
class UntriedValue:
    """What is thought of actions that were not tried."""

    untried_value: Literal["none", "zero"] = "zero"
    """What an action that was not tried is worth where values are compared: none, it is left out
    (the paper), or zero, it can be chosen (Bandres et al. 2018)."""

    def adapt(self, arguments: dict[str, Any]) -> None:
        """Say it to the tree."""
        if self.untried_value == "zero":
            arguments["untried"] = 0.0


@dataclass(frozen=True)
class LifeReplaces:
    """How a lost life counts."""

    life_replaces: bool = True
    """Whether a lost life counts so in place of the step's reward, instead of in addition (Bandres
    et al. 2018)."""

    def adapt(self, arguments: dict[str, Any]) -> None:
        """Say it to the tree."""
        arguments["risk"] = replace(arguments["risk"], life_replaces=self.life_replaces)


@dataclass(frozen=True)
class ValueEverywhere:
    """Where a learned value counts."""

    value_everywhere: bool = True
    """Whether a learned value counts where more is known, too: a node is worth at least what the
    network says. Otherwise it is the value of leaves alone."""

    def adapt(self, arguments: dict[str, Any]) -> None:
        """Say it to the search."""
        arguments["value_everywhere"] = self.value_everywhere
