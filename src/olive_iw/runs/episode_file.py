"""What an episode file holds: enough to replay the episode, and what its planning came to."""

import math
from typing import Any

from olive_iw.agents import Episode, Spec
from olive_iw.runs.config import FORMAT, versions
from olive_iw.simulators import Simulator


def episode_fields(
    game: str, spec: Spec, phase: str, number: int, episode: Episode, simulator: Simulator
) -> dict[str, Any]:
    """Fields of an episode's file; docs/formats.md says what each is."""
    return {
        "format": FORMAT,
        "game": game,
        "algorithm": spec.algorithm,
        "profile": spec.profile,
        "seed": spec.seed,
        "phase": phase,
        "episode": number,
        "frame_skip": getattr(simulator, "frame_skip", None),
        "simulator_options": {},
        "actions": episode.actions,
        "rewards": episode.rewards,
        "score": episode.score,
        "calls": episode.calls,
        "seconds": episode.seconds,
        "lives": episode.lives,
        "ended": episode.ended,
        "rollouts": episode.rollouts,
        "rollout_depth": episode.rollout_depth,
        "exhausted": episode.exhausted,
        "cache_hits": episode.cache_hits,
        "cache_misses": episode.cache_misses,
        "seconds_by_part": episode.seconds_by_part,
        "values": [
            [None if math.isnan(value) else round(float(value), 6) for value in values]
            for values in episode.values
        ],
        "versions": versions(),
    }
