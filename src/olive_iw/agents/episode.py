"""One episode: decide, act, until the game is over or a limit is reached."""

from time import perf_counter

from olive_iw.agents.base import Episode, Observer
from olive_iw.agents.options import Options
from olive_iw.errors import InputError
from olive_iw.planners import Planner
from olive_iw.simulators.base import Simulator


def play_episode(
    planner: Planner,
    simulator: Simulator,
    options: Options,
    *,
    seed: int,
    max_actions: int,
    max_calls: int | None = None,
    observer: Observer | None = None,
) -> Episode:
    """Play from reset to game over, `max_actions` actions, or `max_calls` calls."""
    if max_actions < 1:
        raise InputError(f"max_actions = {max_actions} is not possible; it must be at least 1")
    episode, watch = Episode(), observer or Observer()
    began = perf_counter()
    planner.start(simulator, seed)
    while not planner.over and len(episode.actions) < max_actions:
        calls = options.calls_per_action
        if max_calls is not None:
            calls = min(calls, max_calls - planner.ledger.calls)
        if calls < 1:
            break
        decision = planner.decide(calls, options.seconds_per_action)
        episode.exhausted += decision.stopped == "exhausted"
        episode.values.append(decision.values)
        watch.on_decision(planner, decision, episode)
        step = planner.advance(decision.action)
        episode.actions.append(decision.action)
        episode.rewards.append(step.reward)
    episode.take_counts(planner.ledger, perf_counter() - began)
    episode.lives = planner.root.lives
    if planner.over:
        episode.ended = "game over"
    elif len(episode.actions) < max_actions:
        episode.ended = "calls spent"
    return episode
