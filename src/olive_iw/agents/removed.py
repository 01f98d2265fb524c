"""Options of earlier versions that are no more: this module alone knows them, for all readers.

Runs and agents of earlier versions name them in their files. A value with which an option did
nothing is passed over. With any other value decisions were made that this version cannot make: such
files are still listed, reported and replayed, but not planned with.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from olive_iw.errors import InputError
from olive_iw.settings import Range, settings_of, short, typed

LAST_VERSION = "0.2.0"
"""The last one that has them."""


@dataclass(frozen=True, slots=True)
class RemovedOptions:
    """Options that are no more; the defaults are those that did nothing."""

    backup: Literal["mean", "max", "unpruned"] = "mean"
    when_exhausted: Literal["stop", "widen", "extend", "again", "refine", "rarest"] = "stop"
    extend_share: Annotated[float, Range(0, 1)] = 0.0
    pardon: Annotated[float, Range(0, 1)] = 0.0


REMOVED_VALUES: Mapping[str, Collection[str]] = {"fit": ("band", "pardon")}
"""Values that are no more, of options that there are."""


class RemovedOptionError(InputError):
    """Somebody wants to plan with an option that is no more."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        """Say in one line which options these are, and which version has them."""
        super().__init__(
            f"{in_words(asked)}: this version has no such option; olive-iw {LAST_VERSION} can "
            "play it"
        )


def in_words(asked: Mapping[str, Any]) -> str:
    """Options and their values as variants have them: `backup=max,pardon=0.5`."""
    return ",".join(f"{name}={short(value)}" for name, value in asked.items())


def split(options: Any, replaced: Collection[str] = ()) -> tuple[Any, dict[str, Any]]:
    """Split a file's options into those that there are, and what it asks for that is no more.

    Options that are `replaced` are asked for by nobody. What is not even a table is left as it is.
    """
    if not isinstance(options, Mapping):
        return options, {}
    asked = {name: value for name, value in _asked(options) if name not in replaced}
    gone = settings_of(RemovedOptions).keys() | asked.keys()
    return {name: value for name, value in options.items() if name not in gone}, asked


def _asked(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Options that are no more, and did something in the file."""
    neutral = RemovedOptions()
    for name, kind in settings_of(RemovedOptions).items():
        if name in options:
            value = typed(name, options[name], kind, in_file=True)
            if value != getattr(neutral, name):
                yield name, value
    for name, values in REMOVED_VALUES.items():
        if isinstance(options.get(name), str) and options[name] in values:
            yield name, options[name]
