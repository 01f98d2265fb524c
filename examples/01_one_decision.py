"""One decision: what Rollout-IW tries in Breakout before it moves, and why it moves as it does."""

import numpy as np

import olive_iw as olive

simulator = olive.make_simulator("breakout")
planner = olive.RolloutIW("bprost", bandit="uniform")

planner.start(simulator, seed=0)
for _ in range(12):  # some moves, so that the ball is in play
    decision = planner.decide(calls=100)
    planner.advance(decision.action)

before = planner.ledger.calls
decision = planner.decide(calls=100)
ledger, tree = planner.ledger, planner.tree
depth = tree.depth[: tree.size] - tree.depth[0]

print(f"The root shows {len(tree.seen[0].atoms):,} of {planner.features.size:,} atoms.")
print(f"Planning made {ledger.calls - before} calls and stopped: {decision.stopped}.")
print(f"The tree has {tree.size} nodes, the deepest {depth.max()} actions ahead.")
print()
print("action   rollouts   best return found (a lost life counts -500,000)")
for action, name in enumerate(simulator.action_names):
    value = decision.values[action]
    chosen = "  <- chosen" if action == decision.action else ""
    shown = "never tried" if np.isnan(value) else f"{value:,.3f}"
    print(f"{name:<8} {decision.visits[action]:>8}   {shown}{chosen}")
step = planner.advance(decision.action)
print(f"\nIts reward is {step.reward:g}, and {step.lives} lives are left.")
