"""Train and compare: Olive learns its features while it plays, Rollout-IW is given its own."""

from statistics import fmean

import olive_iw as olive
from olive_iw.stats import mann_whitney_p

GAME, EPISODES, ACTIONS = "boxing", 3, 12
# The paper: 100 calls and 200 actions; the laptop profile trains for 600 steps.
SMALL = {"calls_per_action": 20}
TRAINING = {"training_actions": 20, "steps": 100}


def scores(algorithm):
    """Train an agent with 1,000 calls (the paper: 100,000), then let it play."""
    simulator = olive.make_simulator(GAME)
    learns = olive.ALGORITHMS[algorithm].learning != "none"
    agent = olive.make_agent(algorithm, **SMALL | (TRAINING if learns else {}))
    agent.train(simulator, calls=1_000)  # nothing to do for algorithms that do not learn
    return [agent.play(simulator, max_actions=ACTIONS).score for _ in range(EPISODES)]


results = {name: scores(name) for name in ("rollout-iw", "olive")}
print(f"{GAME}: {EPISODES} episodes of {ACTIONS} actions each, after a very short training")
for name, found in results.items():
    print(f"  {name:<12} {found}  mean {fmean(found):.2f}")
p = mann_whitney_p(*results.values())
print(f"Two-sided Mann-Whitney U test: p = {p:.2f}. The paper counts a win where p < 0.05;")
print("with three short episodes each, no difference is to be expected.")
