"""Olive: the features are learned while it plays, episode by episode.

How it differs from the paper is in docs/fidelity.md; what `olive-plus` adds, in docs/algorithms.md.
"""

from dataclasses import dataclass
from typing import Annotated

from olive_iw.agents import Agent, Algorithm, Family, OnlineLearner, Spec
from olive_iw.agents.parts import Count
from olive_iw.agents.selection import SELECTIONS, Selection
from olive_iw.algorithms.vae_iw import Collecting, build_learning, check
from olive_iw.settings import PartOf, Range


@dataclass(frozen=True)
class LearningOnline(Collecting):
    """How Olive learns."""

    selection: Annotated[str | Selection, PartOf(SELECTIONS)] = "random"
    """Which screens of an episode Olive learns from (see `olive-iw list selections`)."""
    max_training_episodes: Count = 30
    """Most training episodes of Olive. The paper: 30."""
    first_share: Annotated[float, Range(0, 1, above=True)] = 1 / 30
    """Share of the training calls that the first training episode of Olive may spend."""
    screens_per_episode: Count = 500
    """Screens that Olive adds to its training set after each training episode. The paper: 500."""


def build(spec: Spec, device: str) -> Agent:
    """Put an agent together that learns while it plays."""
    return build_learning(OnlineLearner, spec, device)


OLIVE = Family(build, "online", features=None, learner=LearningOnline, check=check)
_SOURCE = "Updating the Screen Dataset; Algorithm 1"
_ACTIVE = {"bandit": "ttts", "selection": "elbo"}

ALGORITHMS = {
    "olive-passive": Algorithm("Passive Olive", _SOURCE, OLIVE, {"bandit": "ttts"}),
    "olive": Algorithm("Olive (active)", _SOURCE, OLIVE, _ACTIVE),
    "olive-plus": Algorithm(
        "Olive with our own rules",
        "ours; docs/better-planning.md",
        OLIVE,
        {
            **_ACTIVE,
            "fit": "grain",
            "ties": "longest",
            "avoid_twins": True,
            "safe_steps": 8,
            "persistence": 0.5,
            "look_further": 0.5,
        },
    ),
}
