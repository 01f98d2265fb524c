"""What the page shows of a node: its screen, its fate, its new atoms; and what a network sees."""

import base64
import io
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from olive_iw.features import BProst, Features, Patches, Pixels, Ram, Values
from olive_iw.features.base import Atoms, GuidingFeatures
from olive_iw.features.bprost import BASIC_SIZE, COLOURS, COLUMNS, ROWS, SPACE_SIZE
from olive_iw.features.image import grey_image
from olive_iw.features.patches import PER_SIDE, POSITIONS
from olive_iw.features.pixels import SIDE
from olive_iw.features.vae import BinaryVae
from olive_iw.planners import Planner
from olive_iw.rules import Grain
from olive_iw.runs.replay import picture
from olive_iw.search.sight import NO_ATOMS
from olive_iw.search.tree import ROOT
from olive_iw.simulators.base import Simulator, Step, grey_levels
from olive_iw.viewer.page_messages import NetworkView
from olive_iw.viewer.search_view import STATUSES, Entry, lives_lost, statuses, why

SHOWN = 6
"""Atoms that are put in words."""
MOST_NUMBERS = 200


def data_address(pixels: NDArray[np.uint8]) -> str:
    """PNG of grey (height, width) or RGB (height, width, 3) pixels, as a data address."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=4)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def screen_address(simulator: Simulator, step: Step) -> str | None:
    """Show a step's screen in colour; None if there is none."""
    return data_address(picture(simulator, step)) if step.screen.size > 1 else None


def numbers(
    simulator: Simulator,
    step: Step,
    features: Features | None = None,
    atoms: Atoms = NO_ATOMS,
    new: Atoms = NO_ATOMS,
) -> list[tuple[str, str, str, bool]]:
    """Name each observed number, its value, the interval of its atom, and whether that is new.

    Where there are very many, the new ones come first, then as many others as there is room for.
    """
    intervals, fresh = dict[int, str](), set[int]()
    observed: NDArray[Any] | None = step.values
    if isinstance(features, Values):
        observed = step.ram if observed is None else observed
        for atom in atoms.tolist():
            component, low, high = features.meaning(atom)
            intervals[component] = _interval(low, high)
        fresh = {features.meaning(atom)[0] for atom in new.tolist()}
    if observed is None:
        return []
    names = getattr(simulator, "value_names", ())
    if len(names) != len(observed):
        names = range(len(observed))
    told = sorted(range(len(observed)), key=lambda place: place not in fresh)[:MOST_NUMBERS]
    return [
        (str(names[place]), f"{observed[place]:.5g}", intervals.get(place, ""), place in fresh)
        for place in sorted(told)
    ]


def _interval(low: float, high: float) -> str:
    if low == high:
        return ""
    if -np.inf < low and high < np.inf:
        return f"{low:.4g} … {high:.4g}"
    return f"< {high:.4g}" if high < np.inf else f"≥ {low:.4g}"


def network_view(vae: BinaryVae, simulator: Simulator, step: Step) -> NetworkView:
    """Show what a VAE makes of a step's screen."""
    image = grey_image(step.screen, grey_levels(simulator), vae.config.image)
    images = image[np.newaxis]
    decoded = np.clip(vae.reconstruct(images)[0] * 255, 0, 255).astype(np.uint8)
    difference = np.abs(decoded.astype(np.int16) - image)
    side, bits = vae.config.side, vae.config.bits
    return NetworkView(
        input=data_address(image),
        reconstruction=data_address(decoded),
        error_map=data_address(np.minimum(4 * difference, 255).astype(np.uint8)),
        error=round(float(vae.reconstruction_error(images)[0]), 1),
        elbo=round(float(vae.elbo(images)[0]), 1),
        side=side,
        bits=bits,
        active=vae.encode(images)[0].reshape(side * side, bits).sum(axis=1).tolist(),
    )


def node_details(
    planner: Planner, entries: dict[int, Entry], simulator: Simulator, node: int
) -> dict[str, Any]:
    """Screen, place, reward, new atoms and fate of a node, for JSON."""
    tree, features = planner.tree, planner.features
    grain = next((rule.now for rule in planner.rules if isinstance(rule, Grain)), 1)
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
        "why": why(planner, node, status, entry),
        "atoms": len(seen.atoms),
        "new": len(new),
        "numbers": numbers(simulator, seen.step, features, seen.atoms, new),
        "new_words": []
        if isinstance(features, Values)
        else [in_words(features, int(atom), grain) for atom in new[:SHOWN]],
        "news": _news(features, len(seen.atoms), entry),
        "new_cells": cells(features, new, grain),
    }


def _news(features: Features | None, atoms: int, entry: Entry | None) -> str:
    """Say how many of a node's atoms were new, if it was judged in this decision."""
    if not atoms:
        return "no atoms: this planner prunes nothing"
    if entry is None:
        return ""
    if not entry.judged:
        return "not judged: it was found by rollouts that nothing prunes"
    of_kinds = f" ({found})" if (found := kinds(features, entry.new_atoms)) else ""
    return f"{len(entry.new_atoms):,} of {atoms:,} atoms were new{of_kinds}"


def _grid(features: Features | None, grain: int) -> tuple[int, int, int] | None:
    """Atoms a place, rows and columns of the places that atoms are at; None if they have none."""
    if isinstance(features, Patches):
        return features.size // POSITIONS, PER_SIDE, PER_SIDE
    if isinstance(features, BinaryVae):
        bits, side = features.bits_per_place, features.config.side
        return (bits if grain == 1 else bits // grain << grain), side, side
    return (COLOURS, ROWS, COLUMNS) if isinstance(features, BProst) else None


def cells(
    features: Features | None, atoms: Atoms, grain: int = 1
) -> list[tuple[float, float, float, float]]:
    """Places on the screen where some atoms are, each once: left, top, width, height.

    All are parts of the screen. Of B-PROST only basic atoms have a place.
    """
    grid = _grid(features, grain)
    if grid is None:
        return []
    each, rows, columns = grid
    placed = atoms[atoms < BASIC_SIZE] if isinstance(features, BProst) else atoms
    return [
        (place % columns / columns, place // columns / rows, 1 / columns, 1 / rows)
        for place in np.unique(placed // each).tolist()
    ]


def kinds(features: Features | None, atoms: Atoms) -> str:
    """Count the kinds of atoms where there are several; empty otherwise."""
    if not isinstance(features, BProst):
        return ""
    found = Counter(_kind(int(atom)) for atom in atoms)
    return ", ".join(f"{count} {kind}" for kind, count in found.items())


def _kind(atom: int) -> str:
    if atom < BASIC_SIZE:
        return "basic"
    return "B-PROS" if atom < BASIC_SIZE + SPACE_SIZE else "B-PROT"


def in_words(features: Features | None, atom: int, grain: int = 1) -> str:
    """Say what an atom means that was read at a grain."""
    if isinstance(features, GuidingFeatures):
        given: Features | None = getattr(features, "atoms_of", None)
        if given is None:
            return f"unit {atom // 2} is {'on' if atom % 2 else 'off'}"
        features = given
    grid = _grid(features, grain)
    if isinstance(features, Pixels):
        row, column = divmod(atom // 256, SIDE)
        return f"pixel in row {row}, column {column} = {atom % 256}"
    if isinstance(features, Ram):
        return f"byte {atom // 256} = {atom % 256}"
    if isinstance(features, BProst) and atom >= BASIC_SIZE:
        return f"{_kind(atom)} {atom}"
    if grid is None:
        return f"atom {atom}"
    each, _, columns = grid
    place, number = divmod(atom, each)
    what = f"content {number}"
    if isinstance(features, BProst):
        what = f"colour {2 * number}"
    elif isinstance(features, BinaryVae):
        group, value = divmod(number, 2**grain)
        what = f"bit {number}" if grain == 1 else f"group {group} = {value}"
    return f"row {place // columns}, column {place % columns}: {what}"
