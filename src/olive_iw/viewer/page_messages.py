"""What the server tells the page: typed messages, each a JSON object with its `type`."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol


class Message(Protocol):
    """A dataclass with a name for the page."""

    type: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Setup:
    """A game was opened; everything told before is void."""

    type: ClassVar[str] = "setup"
    live: bool
    game: str
    algorithm: str
    profile: str
    seed: int
    calls_per_action: int
    actions: Sequence[str]
    aspect: float
    """Width of the screen as it should look, divided by its height."""
    statuses: Sequence[str]
    """What the marks of nodes mean, by number."""
    speeds: Sequence[str]
    trees: bool
    """Whether search trees can be shown."""
    why_no_trees: str
    run: str
    """Id of the run; empty when live."""
    episode: str
    """Id of the episode, such as evaluation-0003; empty when live."""
    total: int | None
    """Decisions that were recorded; None when live."""


@dataclass(frozen=True, slots=True)
class Library:
    """Runs and episodes that can be opened."""

    type: ClassVar[str] = "library"
    runs: Sequence[dict[str, Any]]
    """Each with id and title."""
    episodes: Sequence[dict[str, Any]]
    """Episodes of the open run, each with id and title."""
    left_out: Sequence[str] = ()
    """Why other folders cannot be opened, a line each."""


@dataclass(frozen=True, slots=True)
class Control:
    """How the play is driven."""

    type: ClassVar[str] = "control"
    playing: bool
    speed: int


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the episode is."""

    type: ClassVar[str] = "moment"
    decision: int
    stage: str
    """"searching", "decided", "over", "shown" where there is no tree, or "recomputing": what was
    told of the tree, the actions and the network is of an earlier decision."""
    score: float | None
    """None, as lives, where it is not known before it is recomputed."""
    lives: int | None
    calls: int = 0
    calls_of_decision: int = 0
    seconds: float = 0.0
    seconds_of_decision: float = 0.0
    rollouts: int = 0
    """Rollouts of this decision."""
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """The root's screen."""

    type: ClassVar[str] = "picture"
    decision: int
    image: str
    """A data address of a PNG."""


@dataclass(frozen=True, slots=True)
class TreeChange:
    """What is new in the tree since the message before; with `reset`, the tree from nothing."""

    type: ClassVar[str] = "tree"
    decision: int
    reset: bool
    nodes: Sequence[Sequence[float]]
    """Each [node, parent, action, depth, reward, life lost (0 or 1)]; parents come first."""
    marks: Sequence[Sequence[int]]
    """Each [node, number of its status]."""
    branch: Sequence[int]
    """The principal branch, from the root."""


@dataclass(frozen=True, slots=True)
class RootActions:
    """What is known of each action of the root; lists have one entry per action."""

    type: ClassVar[str] = "actions"
    decision: int
    visits: Sequence[int]
    means: Sequence[float | None]
    deviations: Sequence[float | None]
    """Scale of the mean's posterior: √(variance / visits)."""
    values: Sequence[float | None]
    """Risk-averse values."""
    chosen: int | None
    recorded: int | None


@dataclass(frozen=True, slots=True)
class NetworkView:
    """What a VAE makes of the root's screen."""

    type: ClassVar[str] = "network"
    decision: int
    input: str
    reconstruction: str
    error_map: str
    """Absolute difference of the two, four times as bright."""
    error: float
    """Reconstruction loss in nats."""
    elbo: float
    side: int
    bits: int
    """Bits per place."""
    active: Sequence[int]
    """Active bits of each of side · side places."""


@dataclass(frozen=True, slots=True)
class Match:
    """Whether what was recomputed is what was recorded."""

    type: ClassVar[str] = "match"
    state: str
    """"matches", "differs", or "none" where nothing was recorded or nothing recomputed."""
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A line for the reader; an empty one clears it."""

    type: ClassVar[str] = "note"
    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class Training:
    """How a run's training goes."""

    type: ClassVar[str] = "training"
    state: str
    """"done", "running" or "stopped"."""
    learns: bool
    episodes: Sequence[dict[str, Any]]
    """Fields of the training episodes' events."""
    evaluations: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class NewestScreens:
    """Screens of the training set that were selected last."""

    type: ClassVar[str] = "screens"
    count: int
    images: Sequence[str] = field(default_factory=list)
    elbos: Sequence[float] = field(default_factory=list)
    ordered: bool = True
    """False for a uniform sample, in which no screen is the newest."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Frames that this page was too slow for, so far."""

    type: ClassVar[str] = "dropped"
    frames: int


def to_dict(message: Message) -> dict[str, Any]:
    """Fields of a message, with its type; numbers that JSON has no word for become None."""
    found = {part.name: getattr(message, part.name) for part in fields(message)}
    return {"type": message.type, **found}


def encode(messages: Sequence[Message]) -> str:
    """Write a frame, a list of messages, as one line of JSON."""
    content = [to_dict(message) for message in messages]
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def finite(value: float, digits: int = 6) -> float | None:
    """Round a number for JSON; None unless it is finite."""
    return round(float(value), digits) if math.isfinite(value) else None
