"""Train and play, and print all of it as one line of JSON: what must be the same everywhere.

python tests/end_to_end/exact_play.py [GAME [TRAINING_CALLS [ACTIONS]]]
"""

import json
import sys
from dataclasses import replace
from hashlib import sha256
from typing import Any

import olive_iw as olive

RULES = {"explore": True, "look_further": 0.5, "persistence": 0.5}
OTHERS: list[tuple[str, dict[str, Any]]] = [("patch-iw", RULES), ("value-iw", {}), ("uct", {})]
"""Algorithms that need no training, and rules and bandits that olive-plus has not."""


class Measured:
    """A game whose memory is shown as fractions, as an environment of numbers would."""

    def __init__(self, game: str) -> None:
        self._game = olive.make_simulator(game)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def reset(self) -> olive.Step:
        """Start a new episode."""
        return self._measured(self._game.reset())

    def step(self, action: int) -> olive.Step:
        """Do one call."""
        return self._measured(self._game.step(action))

    def _measured(self, step: olive.Step) -> olive.Step:
        assert step.ram is not None
        values = step.ram[60:] / 7.0
        values.flags.writeable = False
        return replace(step, values=values)


def play(game: str, training_calls: int, actions: int) -> dict[str, object]:
    """Weights' hash of an agent that learned, and what it and those that do not have played."""
    simulator = olive.make_simulator(game)
    few = {"calls_per_action": 15, "training_actions": 12, "screens_per_episode": 60}
    agent = olive.make_agent("olive-plus", seed=5, steps=40, **few)
    agent.train(simulator, training_calls)
    weights = sha256()
    for name, tensor in sorted(agent.learner.vae.network.weights().items()):
        weights.update(name.encode() + tensor.tobytes())
    found: dict[str, object] = {"weights": weights.hexdigest()}
    given = olive.make_agent("rollout-iw", seed=5, calls_per_action=15)
    for name, player in (("olive-plus", agent), ("rollout-iw", given)):
        episode = player.play(simulator, max_actions=actions)
        found[name] = [episode.actions, episode.rewards, episode.calls]
    for name, rules in OTHERS:
        other = olive.make_agent(name, seed=5, calls_per_action=15, **rules)
        episode = other.play(Measured(game), max_actions=actions)
        found[name] = [episode.actions, episode.rewards, episode.calls]
    return found


if __name__ == "__main__":
    game, calls, actions = [*sys.argv[1:], *("breakout", "500", "30")[len(sys.argv) - 1 :]]
    print(json.dumps(play(game, int(calls), int(actions))))
