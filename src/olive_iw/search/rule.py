"""What a rule is: one idea beyond the paper, as an object that a search asks at its moments."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self


class Rule:
    """One idea beyond the paper, whole: its numbers, its state, and the moments it acts at.

    A rule is a dataclass. Its fields are its numbers, and thereby the options that people have.
    """

    neutral: ClassVar[Mapping[str, Any]] = {}
    """The numbers with which it does nothing: what its options are where nobody asks for it."""

    @property
    def acts(self) -> bool:
        """Whether its numbers make it do anything."""
        return any(getattr(self, name) != value for name, value in self.neutral.items())

    @classmethod
    def idle(cls) -> Self:
        """Return the rule with the numbers with which it does nothing."""
        return cls(**cls.neutral)
