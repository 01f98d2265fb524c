"""What the page says of a node that is pointed at: its screen, its fate, and its new atoms."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from olive_iw.features import BProst, Features, Patches, Ram
from olive_iw.features.base import Atoms
from olive_iw.features.binary_vae import BinaryVae
from olive_iw.features.bprost import BASIC_SIZE, COLOURS, COLUMNS, ROWS, SPACE_SIZE
from olive_iw.features.patches import PER_SIDE, POSITIONS
from olive_iw.planners import Planner
from olive_iw.planners.search import NO_ATOMS
from olive_iw.planners.tree import ROOT
from olive_iw.simulators.base import Simulator
from olive_iw.viewer.pictures import screen_address
from olive_iw.viewer.search_recorder import STATUSES, Entry, statuses, why
from olive_iw.viewer.tree_view import lives_lost

SHOWN = 6
"""Atoms that are put in words."""

ScreenCell = tuple[float, float, float, float]
"""Left, top, width and height, as parts of the screen."""


def node_details(
    planner: Planner, entries: dict[int, Entry], simulator: Simulator, node: int
) -> dict[str, Any]:
    """Screen, place, reward, new atoms and fate of a node, for JSON."""
    tree = planner.tree
    seen, entry = tree.seen[node], entries.get(node)
    depth = int(tree.depth[node] - tree.depth[ROOT])
    status = int(statuses(planner, entries)[node])
    new = NO_ATOMS if entry is None else entry.new_atoms
    return {
        "node": node,
        "screen": screen_address(simulator, seen.step),
        "depth": depth,
        "action": "" if node == ROOT else simulator.action_names[int(tree.action[node])],
        "reward": seen.step.reward,
        "lives": seen.step.lives,
        "life_lost": bool(lives_lost(tree)[node]),
        "status": STATUSES[status],
        "why": why(status, entry, len(seen.atoms), depth),
        "atoms": len(seen.atoms),
        "new": len(new),
        "new_words": describe(planner.features, new, planner.grain),
        "new_kinds": kinds(planner.features, new),
        "new_cells": cells(planner.features, new, planner.grain),
    }


def describe(features: Features | None, atoms: Atoms, grain: int = 1) -> list[str]:
    """Put the first few atoms in words, as they were read at a grain."""
    words = _words(features, grain)
    return [words(int(atom)) for atom in atoms[:SHOWN]]


def cells(features: Features | None, atoms: Atoms, grain: int = 1) -> list[ScreenCell]:
    """Places on the screen where some atoms are, each once; empty where atoms have no place."""
    if isinstance(features, Patches):
        limit = features.size // POSITIONS
        return _grid({int(atom) // limit for atom in atoms}, PER_SIDE, PER_SIDE)
    if isinstance(features, BinaryVae):
        limit, side = _per_place(features, grain), features.config.side
        return _grid({int(atom) // limit for atom in atoms}, side, side)
    if isinstance(features, BProst):
        basic = {int(atom) // COLOURS for atom in atoms if atom < BASIC_SIZE}
        return _grid(basic, ROWS, COLUMNS)
    return []


def kinds(features: Features | None, atoms: Atoms) -> str:
    """Count the kinds of atoms where there are several; empty otherwise."""
    if not isinstance(features, BProst):
        return ""
    found = Counter(_kind(int(atom)) for atom in atoms)
    return ", ".join(f"{count} {kind}" for kind, count in found.items())


def _grid(places: set[int], rows: int, columns: int) -> list[ScreenCell]:
    return [
        (place % columns / columns, place // columns / rows, 1 / columns, 1 / rows)
        for place in sorted(places)
    ]


def _words(features: Features | None, grain: int) -> Callable[[int], str]:
    if isinstance(features, Patches):
        limit = features.size // POSITIONS
        return lambda atom: f"{_place(atom // limit, PER_SIDE)}: content {atom % limit}"
    if isinstance(features, BinaryVae):
        return partial(_learned, features, grain)
    if isinstance(features, Ram):
        return lambda atom: f"byte {atom // 256} = {atom % 256}"
    if isinstance(features, BProst):
        return _bprost
    return lambda atom: f"atom {atom}"


def _per_place(vae: BinaryVae, grain: int) -> int:
    """Return the number of atoms of each place: its bits, or its groups' values."""
    return vae.bits_per_place if grain == 1 else vae.bits_per_place // grain << grain


def _learned(vae: BinaryVae, grain: int, atom: int) -> str:
    place, number = divmod(atom, _per_place(vae, grain))
    group, value = divmod(number, 2**grain)
    what = f"bit {number}" if grain == 1 else f"group {group} = {value}"
    return f"{_place(place, vae.config.side)}: {what}"


def _place(place: int, columns: int) -> str:
    return f"row {place // columns}, column {place % columns}"


def _kind(atom: int) -> str:
    names: Sequence[tuple[int, str]] = ((BASIC_SIZE, "basic"), (BASIC_SIZE + SPACE_SIZE, "B-PROS"))
    return next((name for bound, name in names if atom < bound), "B-PROT")


def _bprost(atom: int) -> str:
    if atom >= BASIC_SIZE:
        return f"{_kind(atom)} {atom}"
    return f"{_place(atom // COLOURS, COLUMNS)}: colour {2 * (atom % COLOURS)}"
