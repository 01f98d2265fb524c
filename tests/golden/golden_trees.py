"""Trees that planners grow in grid worlds, drawn as text and kept in `trees/`.

When a change is meant to change them, renew them, and read the difference before committing it:

    python tests/golden/golden_trees.py
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from olive_iw.bandits import BANDITS
from olive_iw.planners import PIW, UCT, BreadthFirst, Planner, RacingPIW, RolloutIW, Tree, TwoQueues
from olive_iw.planners.dasa import Dominated
from olive_iw.search.tree import NONE, ROOT
from olive_iw.simulators import GridWorld

FOLDER = Path(__file__).parent / "trees"


class Case(NamedTuple):
    world: str
    make: Callable[[], Planner]
    calls: int
    """Calls of each decision."""
    decisions: int = 3
    seed: int = 1


def _rollout_iw(bandit: str) -> Callable[[], Planner]:
    return lambda: RolloutIW("patches", bandit=bandit)


DASA = Dominated("dasa", prune_after=1)

CASES = {
    **{f"rollout-iw-{bandit}": Case("collect", _rollout_iw(bandit), 30) for bandit in BANDITS},
    "breadth-first": Case("lava", BreadthFirst, 10),
    "iw-1": Case("lava", lambda: BreadthFirst("patches", 1), 12),
    "uct": Case("collect", lambda: UCT(depth_limit=6), 30),
    "2bfs": Case("collect", lambda: TwoQueues("patches"), 30),
    "p-iw": Case("collect", lambda: PIW("patches"), 30),
    "racing-p-iw": Case("collect", lambda: RacingPIW("patches"), 30),
    "dasa": Case("lava", lambda: BreadthFirst(rules=[DASA]), 20),
}


def grown(name: str) -> str:
    """The tree of a case after its last decision, and how it came to it."""
    case = CASES[name]
    planner = case.make()
    world = GridWorld(case.world)
    planner.start(world, case.seed)
    lines = [f"{name} in grid:{case.world}, seed {case.seed}"]
    for number in range(1, case.decisions + 1):
        decision = planner.decide(case.calls)
        values = ", ".join(f"{value:.4f}" for value in decision.values)
        lines.append(
            f"decision {number}: {world.action_names[decision.action]}, values {values}, "
            f"{decision.calls} calls, {decision.stopped}"
        )
        if number < case.decisions:
            planner.advance(decision.action)
    return "\n".join([*lines, *_branch(planner, ROOT, world.action_names, 0)]) + "\n"


def _branch(planner: Planner, node: int, names: tuple[str, ...], level: int) -> Iterator[str]:
    at_limit = level == planner.depth_limit
    yield "  " * level + " ".join(_words(planner.tree, node, names, at_limit))
    for child in planner.tree.children[node]:
        if child != NONE:
            yield from _branch(planner, int(child), names, level + 1)


def _words(tree: Tree, node: int, names: tuple[str, ...], at_limit: bool) -> Iterator[str]:
    """Action, reward, lives, visits and mean of the edge into a node, and the node's marks."""
    if node == ROOT:
        yield "root"
    else:
        yield names[tree.action[node]]
        if tree.reward[node]:
            yield f"reward {tree.reward[node]:g}"
        parent, action = tree.parent[node], tree.action[node]
        if tree.visits(parent)[action]:
            yield f"{tree.visits(parent)[action]} x {tree.mean[parent, action]:.4f}"
        if tree.lives[node] < tree.lives[parent]:
            yield "life lost"
    if not tree.was_entered(node):
        yield "(not entered)"
    elif tree.terminal[node]:
        yield "terminal"
    elif at_limit:
        yield "depth limit"
    elif tree.solved[node]:
        yield "pruned" if tree.unsolved[node].any() else "solved"


def renew() -> None:
    """Write every tree anew, and drop those that have no case."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for name in CASES:
        (FOLDER / f"{name}.txt").write_text(grown(name), encoding="utf-8")


if __name__ == "__main__":
    renew()
