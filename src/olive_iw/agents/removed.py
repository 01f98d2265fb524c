"""Options of earlier versions that are no more: this module alone knows them, for all readers.

Runs and agents of earlier versions name them in their files. A value with which an option did
nothing is passed over. With any other value decisions were made that this version cannot make: such
files are still listed, reported and replayed, but not planned with.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from olive_iw.agents.selection import SELECTIONS
from olive_iw.bandits import BANDITS
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
    training_start: Literal["reset", "last", "least"] = "reset"
    noise_of: Literal["auto", "node", "state", "turns"] = "auto"


BANDITS_OF_A_PAPER = ("ucb1-normal2", "ucb1-uniform")
"""Of Asai and Wissow; examples/08_bandits_of_a_paper.py adds them again."""
REMOVED_VALUES: Mapping[str, Collection[str]] = {
    "fit": ("band", "pardon"),
    "selection": ("diverse",),
    "bandit": BANDITS_OF_A_PAPER,
    "collection_bandit": BANDITS_OF_A_PAPER,
}
"""Values that are no more, of options that there are; a part may have been added by its name."""


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
    asked = {name: value for name, value in _asked(options, replaced) if name not in replaced}
    gone = settings_of(RemovedOptions).keys() | asked.keys()
    return {name: value for name, value in options.items() if name not in gone}, asked


def _asked(options: Mapping[str, Any], replaced: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Options that are no more, and did something in the file."""
    kinds, neutral = settings_of(RemovedOptions), RemovedOptions()
    given = _before_noise_of(options) | {name: options[name] for name in kinds if name in options}
    for name, given_value in given.items():
        value = typed(name, given_value, kinds[name], in_file=True)
        same = _as_noise_is(options, replaced) if name == "noise_of" else {getattr(neutral, name)}
        if value not in same:
            yield name, value
    added = {*SELECTIONS, *BANDITS}
    for name, values in REMOVED_VALUES.items():
        value = options.get(name)
        if isinstance(value, str) and value in values and value not in added:
            yield name, value


def _before_noise_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Say whose noise it was in files that are older than `noise_of`; they have `pardon`."""
    older = "pardon" in options and options.get("fit") == "noise"
    return {"noise_of": "node"} if older else {}


def _as_noise_is(options: Mapping[str, Any], replaced: Collection[str]) -> set[str]:
    """Values of `noise_of` that mean what this version does: by turns where noise is fitted."""
    if "fit" in replaced:  # whatever takes its place
        return {"auto", "node", "turns"}
    return {"auto", "turns" if options.get("fit") == "noise" else "node"}
