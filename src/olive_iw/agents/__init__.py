"""Agents: the whole loop of playing and learning (the eighth stage of the flow)."""

from olive_iw.agents.base import Agent, Observer, TrainingEpisode
from olive_iw.agents.episode import Episode, play_episode
from olive_iw.agents.fixed import FixedAgent
from olive_iw.agents.offline import OfflineAgent
from olive_iw.agents.online import OnlineAgent
from olive_iw.agents.options import Options
from olive_iw.agents.spec import Algorithm, Spec

__all__ = [
    "Agent",
    "Algorithm",
    "Episode",
    "FixedAgent",
    "Observer",
    "OfflineAgent",
    "OnlineAgent",
    "Options",
    "Spec",
    "TrainingEpisode",
    "play_episode",
]
