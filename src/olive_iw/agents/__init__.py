"""Agents: the whole loop of playing and learning (the eighth stage of the flow)."""

from olive_iw.agents.acting import Policy
from olive_iw.agents.agent import Agent
from olive_iw.agents.brute import BrutePlayer, SequenceLearner
from olive_iw.agents.episode import Episode, Observer, TrainingEpisode, play_episode
from olive_iw.agents.learner import Planning
from olive_iw.agents.learning import OfflineLearner, OnlineLearner
from olive_iw.agents.parts import Decisions, Options
from olive_iw.agents.spec import Algorithm, Family, Spec

__all__ = [
    "Agent",
    "Algorithm",
    "BrutePlayer",
    "Decisions",
    "Episode",
    "Family",
    "Observer",
    "OfflineLearner",
    "OnlineLearner",
    "Options",
    "Planning",
    "Policy",
    "SequenceLearner",
    "Spec",
    "TrainingEpisode",
    "play_episode",
]
