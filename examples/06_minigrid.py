"""Plan on a MiniGrid: fetch the key, open the door, go to the goal (needs the package minigrid)."""

import numpy as np

import olive_iw as olive

simulator = olive.make_simulator("gym:MiniGrid-DoorKey-5x5-v0", seed=0, tile_size=8)


def plan_with(title, planner):
    """Search once from the start; return the actions to the first reward found, if any."""
    planner.start(simulator, seed=0)
    decision = planner.decide(calls=1_000)
    tree = planner.tree
    rewarded = np.flatnonzero(tree.reward[: tree.size] > 0)
    deepest = tree.depth[: tree.size].max()
    print(f"{title}: {decision.calls} calls, {deepest} actions deep, ", end="")
    print("found the goal" if len(rewarded) else "no way to the goal found")
    return tree.action[tree.path(int(rewarded[0]))[1:]] if len(rewarded) else []


plan_with("Breadth-first search", olive.BreadthFirst())
plan = plan_with(
    "The same, dropping what shows nothing new (IW(1) on patches)",
    olive.BreadthFirst("patches", width=1),
)
print("\nThe plan:", ", ".join(simulator.action_names[action] for action in plan))
step = simulator.reset()
for action in plan:
    step = simulator.step(int(action))
print(f"Replayed: reward {step.reward:.3f}, {'at the goal' if step.terminal else 'not there'}.")
