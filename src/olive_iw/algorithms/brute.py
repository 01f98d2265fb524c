"""The Brute, which learns sequences of actions and plans nothing.

How it differs from its source is numbered in docs/algorithms.md, "brute".
"""

from olive_iw.agents import Agent, Algorithm, BrutePlayer, Family, SequenceLearner, Spec
from olive_iw.agents.parts import TrainingEpisodes


def build(spec: Spec, device: str) -> Agent:
    """Put an agent together."""
    player = BrutePlayer()
    return Agent(spec, player, SequenceLearner(spec, player))


ALGORITHMS = {
    "brute": Algorithm(
        "The Brute",
        "Bellemare et al. 2015",
        Family(build, "sequences", plans=False, learner=TrainingEpisodes),
        {"frame_skip": 5, "training_actions": 3_600},
    ),
}
