"""Train and play, and print all of it as one line of JSON: what must be the same everywhere.

python tests/end_to_end/exact_play.py [GAME [TRAINING_CALLS [ACTIONS]]]
"""

import json
import sys
from hashlib import sha256

import olive_iw as olive


def play(game: str, training_calls: int, actions: int) -> dict[str, object]:
    """Weights' hash of an agent that learned, and what it and one that does not have played."""
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
    return found


if __name__ == "__main__":
    game, calls, actions = [*sys.argv[1:], *("breakout", "500", "30")[len(sys.argv) - 1 :]]
    print(json.dumps(play(game, int(calls), int(actions))))
