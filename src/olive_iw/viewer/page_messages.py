"""What the server tells the page: typed messages, each a JSON object with its class as `type`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Message:
    """Something that the page is told; a newer one of the same class takes its place."""


@dataclass(frozen=True)
class Lasting(Message):
    """Something that still holds when another episode is opened."""


@dataclass(frozen=True)
class Setup(Message):
    """An episode was opened; what was told before is void, unless it is `Lasting`."""

    game: str
    label: str
    """Algorithm and profile, and in what the settings differ from theirs."""
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
    step: str = "rollout"
    """What a search does one after the other; of planners without rollouts "node"."""
    prunes: bool = True
    """Whether what shows nothing new is left; otherwise it is put back."""


@dataclass(frozen=True)
class Library(Lasting):
    """Runs and episodes that can be opened."""

    runs: Sequence[dict[str, Any]]
    """Each with id and title."""
    run: str
    """Id of the run that is followed."""
    episodes: Sequence[dict[str, Any]]
    """Its episodes, each with id and title."""
    left_out: Sequence[str] = ()
    """Why other folders cannot be opened, a line each."""


@dataclass(frozen=True)
class Control(Lasting):
    """How the play is driven."""

    playing: bool
    speed: int


@dataclass(frozen=True)
class Moment(Message):
    """Where the episode is."""

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
    ties: int = 0
    """Actions that share the greatest value; 0 before it is decided."""
    twins: int = 0
    """Calls of this decision that led to the state of a sibling."""
    skipped: int = 0
    """Actions that this decision left out because they were likely to lead to such a state."""
    pruned_new: int = 0
    """Calls of this decision that showed nothing new."""
    unused_calls: int = 0
    """Calls that this decision had and did not make."""


@dataclass(frozen=True)
class RootScreen(Message):
    """What the root shows."""

    image: str | None
    """A data address of a PNG; None where there are no pictures."""
    numbers: Sequence[Sequence[str | bool]] = ()
    """Where numbers are observed, each [name, value, its interval, whether that is new]."""


@dataclass(frozen=True)
class Explored(Message):
    """What the rule Explore knows; lists have an entry for every tile of the screen, row by row."""

    rows: int
    columns: int
    steps: int
    """Screens of the episode."""
    cells: int
    """Different ones among them, seen coarsely."""
    colours: Sequence[int]
    """Colours that each tile has shown in the episode."""
    rare: Sequence[float]
    """How new each tile of the root is, from 0 (always shown before) to 1 (never shown before):
    1 / (1 + times)², less the same for something that was always shown."""
    path: Sequence[int] = ()
    """Nodes from the root to what the decision goes for; none: it goes for nothing."""
    target: str | None = None
    """The target's screen, a data address of a PNG."""
    target_rare: Sequence[float] = ()


@dataclass(frozen=True)
class TreeChange(Message):
    """What is new in the tree since the message before; with `reset`, the tree from nothing."""

    decision: int
    reset: bool
    nodes: Sequence[Sequence[float]]
    """Each [node, parent, action, depth, reward, life lost (0 or 1)]; parents come first."""
    marks: Sequence[Sequence[int]]
    """Each [node, number of its status]."""
    branch: Sequence[int]
    """The principal branch, from the root."""


@dataclass(frozen=True)
class RootActions(Message):
    """What is known of each action of the root; lists have one entry per action."""

    visits: Sequence[int]
    means: Sequence[float | None]
    deviations: Sequence[float | None]
    """Scale of the mean's posterior: √(variance / visits)."""
    values: Sequence[float | None]
    """Risk-averse values."""
    chosen: int | None
    recorded: int | None


@dataclass(frozen=True)
class NetworkView(Message):
    """What a VAE makes of the root's screen."""

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


@dataclass(frozen=True)
class Match(Message):
    """Whether what was recomputed is what was recorded."""

    state: str
    """"matches", "differs", or "none" where nothing was recorded or nothing recomputed."""
    text: str


@dataclass(frozen=True)
class Note(Message):
    """A line for the reader; an empty one clears it."""

    text: str
    error: bool = False


@dataclass(frozen=True)
class Training(Lasting):
    """How a run's training goes."""

    state: str
    """"done", "running" or "stopped"."""
    learns: bool
    episodes: Sequence[dict[str, Any]]
    """Fields of the training episodes' events."""
    evaluations: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class NewestScreens(Lasting):
    """Screens of the training set that were selected last."""

    count: int
    images: Sequence[str] = ()
    elbos: Sequence[float] = ()
    ordered: bool = True
    """False for a uniform sample, in which no screen is the newest."""


@dataclass(frozen=True)
class Dropped(Message):
    """Frames that this page was too slow for, so far."""

    frames: int


def encode(messages: Sequence[Message]) -> str:
    """Write a frame, a list of messages with their types, as one line of JSON."""
    content = [{"type": type(message).__name__, **vars(message)} for message in messages]
    return json.dumps(content, separators=(",", ":"), allow_nan=False)
