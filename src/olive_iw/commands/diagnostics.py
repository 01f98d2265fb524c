"""Commands about this installation: the emulator's health, what there is, how fast it is."""

import json
import sys
from typing import Annotated, Any

import tyro
from rich.progress import Progress, track
from rich.table import Table

from olive_iw.agents.selection import SELECTIONS
from olive_iw.algorithms import ALGORITHMS
from olive_iw.bandits import BANDITS
from olive_iw.commands import arguments as args
from olive_iw.commands.console import console
from olive_iw.errors import unknown_name
from olive_iw.features import FEATURES
from olive_iw.features.binary_vae import PROFILES
from olive_iw.planners import PLANNERS
from olive_iw.registry import Registry
from olive_iw.runs.loggers import LOGGERS
from olive_iw.runs.pretrained import shipped
from olive_iw.simulators import GAMES, PAPER_GAMES, SIMULATORS
from olive_iw.simulators.grid import WORLDS
from olive_iw.sweeps.engines import ENGINES
from olive_iw.tools.doctor import doctor_table, examine


def doctor(
    games: args.Games = (),
    /,
    calls: int = 2000,
    seed: int = 0,
    jobs: int = 1,
    json_output: args.Json = False,
) -> None:
    """Check that the emulator restores games exactly on this machine (default: all 55 games).

    Each game is examined in a process of its own, so a crash of the emulator is one row.

    Example: olive-iw doctor breakout pong --calls 500

    Args:
        games: Atari games; none means the 55 of the paper.
        calls: Simulator calls per game.
        seed: Seed of the random walks.
        jobs: Games examined at the same time.
        json_output: Print JSON instead of a table.

    """
    chosen = games or PAPER_GAMES
    found = examine(chosen, calls=calls, seed=seed, jobs=jobs)
    reports = list(
        track(found, "examining", total=len(chosen), console=console, disable=json_output)
    )
    reports.sort(key=lambda report: report.game)
    if json_output:
        print(json.dumps([report.to_dict() for report in reports], indent=2))
    else:
        console.print(doctor_table(reports))
    if not all(report.exact for report in reports):
        sys.exit(1)


PARTS: dict[str, Registry[Any]] = {
    "algorithms": ALGORITHMS,
    "bandits": BANDITS,
    "engines": ENGINES,
    "features": FEATURES,
    "loggers": LOGGERS,
    "planners": PLANNERS,
    "profiles": PROFILES,
    "selections": SELECTIONS,
    "simulators": SIMULATORS,
}


def load_plugins() -> None:
    """Import every installed plug-in, so that files may name them."""
    for registry in PARTS.values():
        registry.load_plugins()


def list_parts(
    kind: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="KIND")] = "all",
    /,
    json_output: args.Json = False,
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
        table = Table(heading, "what it is", show_edge=False)
        for row in names.items():
            table.add_row(*row)
        console.print(table if names else f"{heading}: none")


def bench(
    games: tuple[str, ...] = (),
    decisions: int = 10,
    calls_per_action: int = 100,
    seed: int = 0,
    systems: tuple[str, ...] = (),
    json_output: args.Json = False,
) -> None:
    """Measure planning against the bare emulator, in the same run and interleaved.

    A ratio of 1.2 means: a decision takes 1.2 times what the emulator alone needs for the same
    calls. Absolute times vary with the machine; ratios are what to compare.

    Example: olive-iw bench --games breakout --decisions 5

    Args:
        games: Games to measure on (default: four).
        decisions: Decisions per game and system.
        calls_per_action: Simulator calls per decision.
        seed: Seed of the play.
        systems: Which systems (default: rollout-iw olive olive-2-workers olive-plus; also
            patch-iw); olive-2-workers has 2 search workers.
        json_output: Print JSON instead of tables, for a file.

    """
    from olive_iw.tools.bench import DEFAULT_GAMES, DEFAULT_SYSTEMS
    from olive_iw.tools.bench import bench as do_bench

    with Progress(console=console, transient=True, disable=json_output) as bars:
        bar = bars.add_task("measuring", total=None)
        report = do_bench(
            games or DEFAULT_GAMES,
            decisions=decisions,
            calls_per_action=calls_per_action,
            seed=seed,
            systems=systems or DEFAULT_SYSTEMS,
            on_progress=lambda done, total, doing: bars.update(
                bar, completed=done, total=total, description=doing
            ),
        )
    if json_output:
        print(json.dumps(report.to_dict(), indent=2))
        return
    for table in report.tables():
        print(table.as_text(console.width))
