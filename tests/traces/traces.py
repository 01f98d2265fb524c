"""Traces of what the algorithms decide, kept as text in `kept/`, a file for each group of cases.

A case is an algorithm with its settings in a world. Its trace says of every decision what was done,
what it cost and what each action was worth, and has a hash of the whole tree: of every node the
action, reward, statistics, marks and atoms. When a change is meant to change them, renew them, and
read the difference before committing it:

    python tests/traces/traces.py renew [GROUP …]
    python tests/traces/traces.py compare [GROUP …]

Cases whose numbers depend on the kind of processor are in groups that begin with `local`. Their
files are written by `renew local-…` alone, are not kept in git, and are compared where they exist.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from xxhash import xxh3_64

import olive_iw
from olive_iw.agents.episode import Episode, Observer, TrainingEpisode
from olive_iw.planners import Decision, Planner

FOLDER = Path(__file__).parent / "kept"
LOCAL = "local"
"""How the names of groups begin that are compared on the machine that wrote them."""


class Case(NamedTuple):
    """An algorithm in a world, and how long it plays."""

    world: str
    algorithm: str
    settings: Mapping[str, Any] = {}
    """Beyond the algorithm's own, by their flat names, as `make_agent` takes them."""
    decisions: int = 3
    calls: int = 40
    """Calls of each decision."""
    seed: int = 1
    training: int = 0
    """Training calls before it plays."""
    weights: str = ""
    """Game whose shipped network it plans with; "own": the agent shipped for this world, whose
    algorithm is then the case's."""
    exact: bool = True
    """Whether values and statistics are the same to the last bit on every machine."""

    @property
    def title(self) -> str:
        """All that makes the case, in a line."""
        settings = [f"{name}={value}" for name, value in self.settings.items()]
        trained = [f"{self.training} training calls"] if self.training else []
        weights = [f"weights of {self.weights}"] if self.weights else []
        return ", ".join(
            [
                f"{self.algorithm} in {self.world}",
                *settings,
                *trained,
                *weights,
                f"seed {self.seed}",
                f"{self.decisions} x {self.calls} calls",
            ]
        )


# Traces


def trace(case: Case) -> list[str]:
    """Lines of a case: its training, if it has one, its decisions, and what was counted."""
    agent, simulator = assembled(case)
    planner, lines = agent.planner, []
    try:
        if case.training:
            learned = _Training(case)
            agent.train(simulator, case.training, learned)
            lines = learned.lines
        planner.start(simulator, case.seed)
        for number in range(1, case.decisions + 1):
            decision = planner.decide(case.calls)
            lines.append(f"{number} {_told(case, planner, decision, simulator.action_names)}")
            planner.advance(decision.action)
            if planner.over:
                break
        counts = ", ".join(f"{name} {count}" for name, count in counted(planner).items())
        return [*lines, f"counted: {counts}"]
    finally:
        planner.close()


def _told(case: Case, planner: Planner, decision: Decision, names: tuple[str, ...]) -> str:
    """Tell of a decision; what comes after the semicolon are its values."""
    return (
        f"{names[decision.action]}: {decision.calls} calls, {decision.stopped}, "
        f"ties {decision.ties}, {len(planner.tree)} nodes, tree {hashed(planner, case.exact)}; "
        + " ".join(repr(float(value)) for value in decision.values)
    )


class _Training(Observer):
    """Writes down a training: a line of actions for each episode, and a hash of all decisions."""

    def __init__(self, case: Case) -> None:
        self.case, self.lines, self._all = case, list[str](), xxh3_64()

    def on_episode_start(self, phase: str, number: int) -> None:
        self.lines.append(f"{phase} {number}:")

    def on_decision(self, planner: Planner, decision: Decision, episode: Episode) -> None:
        self._all.update(f"{decision.calls} {hashed(planner, self.case.exact)}".encode())
        self.lines[-1] += f" {decision.action}"

    def on_training_episode(self, done: TrainingEpisode) -> None:
        self.lines[-1] += (
            f", {len(done.games)} games, {done.calls_spent} calls, {done.candidates} candidates, "
            f"{done.screens} screens, decisions {self._all.hexdigest()}"
        )


def hashed(planner: Planner, exact: bool) -> str:
    """Hash of the tree; without what is computed, only simulated, if it is not `exact`."""
    digest = xxh3_64()
    for simulated, computed in nodes(planner):
        for numbers in (*simulated, *(computed if exact else ())):
            digest.update(np.ascontiguousarray(numbers).tobytes())
    return digest.hexdigest()


# All that depends on how planners and agents are built inside, in three functions


def assembled(case: Case) -> tuple[olive_iw.Agent, olive_iw.Simulator]:
    """Agent and simulator of a case."""
    if case.weights == "own":
        agent = olive_iw.load_pretrained(case.world, "cpu", **case.settings)
        assert agent.spec.algorithm == case.algorithm
    else:
        agent = olive_iw.make_agent(
            case.algorithm, seed=case.seed, device="cpu", **{"profile": "laptop", **case.settings}
        )
        if case.weights:
            shipped = Path(olive_iw.__file__).parent / "runs" / "pretrained"
            agent.learner.load_weights(shipped / f"{case.weights}.safetensors")
    return agent, agent.spec.make_simulator(case.world)


def nodes(planner: Planner) -> Iterator[tuple[list[Any], list[Any]]]:
    """What is known of every node: what was simulated and drawn, and what was computed.

    Statistics count where this decision has updated them, marks where its last search has been.
    """
    tree = planner.tree
    for node in range(len(tree)):
        visits, entered = tree.visits(node), tree.was_entered(node)
        place = [tree.parent[node], tree.action[node], tree.depth[node] - tree.depth[0]]
        marks = [entered, entered and tree.solved[node], entered and tree.pruned[node]]
        marks += [tree.terminal[node], tree.lives[node], *visits]
        simulated = [np.array(place + marks, np.int64), np.float64(tree.reward[node]) + 0.0]
        simulated += [np.array(tree.seen[node].atoms, np.int64)]
        counted = visits > 0
        computed = [
            tree.mean[node][counted],
            tree.variance[node][counted],
            tree.value[node : node + 1],
        ]
        yield simulated, [numbers + 0.0 for numbers in computed]  # no negative zeros


def counted(planner: Planner) -> dict[str, int]:
    """What a ledger has counted."""
    counters, names = planner.ledger.counters, {"skipped_twins": "skipped"}
    shown = ("nodes", "rollouts", "rollout_depth", "tied_decisions", "unused_calls", "twins")
    shown += ("skipped_twins", "pruned_new", "overflows", "cache_hits", "cache_misses")
    found = {name: getattr(counters, names.get(name, name)) for name in shown}
    return {"calls": planner.ledger.calls, **found}


# Files, and what differs from them


def kept(group: str) -> dict[str, list[str]]:
    """Traces of a group's file, by the titles of their cases."""
    path = FOLDER / f"{group}.txt"
    if not path.exists():
        return {}
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            found[line[2:]] = lines = []
        elif line:
            lines.append(line)
    return found


def renew(group: str, cases: list[Case]) -> None:
    """Write a group's file anew."""
    FOLDER.mkdir(exist_ok=True)
    texts = ["\n".join([f"# {case.title}", *trace(case)]) + "\n" for case in cases]
    (FOLDER / f"{group}.txt").write_text("\n".join(texts), encoding="utf-8")


def difference(case: Case, before: list[str], now: list[str]) -> str:
    """The first line in which two traces of a case differ; empty if there is none."""
    for was, is_now in zip_longest(before, now, fillvalue="(nothing)"):
        if not alike(was, is_now, case.exact):
            return f"{case.title}\n  before: {was}\n  now:    {is_now}"
    return ""


def alike(one: str, other: str, exact: bool) -> bool:
    """Whether two lines say the same; if not `exact`, values may differ a little."""
    if exact or ";" not in one or ";" not in other:
        return one == other
    (told, values), (others, other_values) = one.split(";"), other.split(";")
    numbers = [np.array(each.split(), float) for each in (values, other_values)]
    return told == others and np.allclose(*numbers, rtol=1e-4, atol=1e-7, equal_nan=True)


def main() -> int:
    """Renew groups of traces or compare them; 1 if some differ."""
    from trace_cases import GROUPS

    parser = argparse.ArgumentParser(description="Traces of what the algorithms decide.")
    parser.add_argument("what", choices=["renew", "compare"])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    given = parser.parse_args()
    known = [group for group in GROUPS if not group.startswith(LOCAL)]
    if given.what == "compare":
        known += [group for group in GROUPS if group.startswith(LOCAL) and kept(group)]
    differences = 0
    for group in given.groups or known:
        if given.what == "renew":
            renew(group, GROUPS[group])
            continue
        before = kept(group)
        for case in GROUPS[group]:
            found = difference(case, before.get(case.title, []), trace(case))
            if found:
                print(f"{group}: {found}")
                differences += 1
        print(f"{group}: {len(GROUPS[group])} cases compared")
    return differences > 0


if __name__ == "__main__":
    sys.exit(main())
