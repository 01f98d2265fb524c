"""Agents: the whole loop of playing and learning (the eighth stage of the flow)."""

from olive_iw.agents.agent import Agent
from olive_iw.agents.episode import Episode, Observer, TrainingEpisode, play_episode
from olive_iw.agents.learning import OfflineLearner, OnlineLearner, Planning
from olive_iw.agents.options import Options
from olive_iw.agents.policy import Policy
from olive_iw.agents.spec import Algorithm, Spec

__all__ = [
    "Agent",
    "Algorithm",
    "Episode",
    "Observer",
    "OfflineLearner",
    "OnlineLearner",
    "Options",
    "Planning",
    "Policy",
    "Spec",
    "TrainingEpisode",
    "play_episode",
]
