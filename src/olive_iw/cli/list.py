"""`olive-iw list`: what there is to choose."""

import json
from typing import Annotated, Any

from olive_iw.agents.selection import SELECTIONS
from olive_iw.algorithms import ALGORITHMS
from olive_iw.bandits import BANDITS
from olive_iw.cli.arguments import Json, Shown
from olive_iw.cli.console import console
from olive_iw.errors import unknown_name
from olive_iw.features import FEATURES
from olive_iw.features.vae import PROFILES
from olive_iw.planners import PLANNERS
from olive_iw.registry import Registry
from olive_iw.rules import RULES
from olive_iw.runs.loggers import LOGGERS
from olive_iw.runs.pretrained import shipped
from olive_iw.simulators import GAMES, PAPER_GAMES, SIMULATORS
from olive_iw.simulators.grid import WORLDS
from olive_iw.sweeps.engines import ENGINES
from olive_iw.tables import Cell, Table

PARTS: dict[str, Registry[Any]] = {
    "algorithms": ALGORITHMS,
    "bandits": BANDITS,
    "engines": ENGINES,
    "features": FEATURES,
    "loggers": LOGGERS,
    "planners": PLANNERS,
    "profiles": PROFILES,
    "rules": RULES,
    "selections": SELECTIONS,
    "simulators": SIMULATORS,
}


def load_plugins() -> None:
    """Import every installed plug-in, so that files may name them."""
    for registry in PARTS.values():
        registry.load_plugins()


def list_parts(
    kind: Annotated[str, Shown("KIND")] = "all",
    /,
    json_output: Json = False,
) -> None:
    """List what can be chosen: games, pretrained agents, algorithms, features, bandits and more.

    Example: olive-iw list bandits

    Args:
        kind: One of the headings, or all.
        json_output: Print JSON instead of tables.

    """
    found = {
        heading: {name: registry.describe(name) for name in registry}
        for heading, registry in PARTS.items()
    }
    found["features"] |= {
        "vae": "Learned while playing, by the algorithms that learn.",
        "none": "No atoms at all: nothing is pruned.",
    }
    found["games"] = dict.fromkeys(GAMES, "")
    found["pretrained"] = {it.config.game: it.description for it in shipped()}
    found["worlds"] = {
        f"grid:{name}": f"{world.description}; width {world.width}"
        for name, world in WORLDS.items()
    }
    if kind not in (*found, "all"):
        raise unknown_name("kind of part", kind, [*found, "all"])
    shown = {heading: found[heading] for heading in sorted(found) if kind in (heading, "all")}
    if json_output:
        print(json.dumps({heading: list(names) for heading, names in shown.items()}, indent=2))
        return
    if "games" in shown:
        shown["games"] = {
            f"the paper's {len(PAPER_GAMES)}": ", ".join(PAPER_GAMES),
            "others": ", ".join(game for game in GAMES if game not in PAPER_GAMES),
        }
    for heading, names in shown.items():
        rows = [list(map(Cell, row)) for row in names.items()]
        table = Table(heading, ("name", "what it is"), rows, left=frozenset({0, 1}))
        console.print(table if names else f"{heading}: none")
