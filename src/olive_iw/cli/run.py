"""`olive-iw run`: train an agent, then let it play."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from olive_iw.agents import Options
from olive_iw.algorithms import make_spec, shown_name
from olive_iw.cli import arguments as args
from olive_iw.cli.console import console, suggest
from olive_iw.errors import InputError
from olive_iw.reading import read_toml
from olive_iw.runs.config import RunConfig
from olive_iw.runs.progress import RunProgress
from olive_iw.runs.run import run as do_run
from olive_iw.simulators import game_name

CHOICES = ("config", "algorithm", "profile")
"""What the defaults of all other options depend on."""
LENGTHS = ("training_calls", "episodes", "max_actions")


def run(
    game: Annotated[str, tyro.conf.Positional, args.otherwise("that of --config", "GAME")] = "",
    /,
    *,
    algorithm: Annotated[str | None, args.otherwise("olive")] = None,
    profile: Annotated[str | None, args.otherwise("laptop")] = None,
    seed: Annotated[int | None, args.otherwise("0", "INT")] = None,
    config: Annotated[Path | None, args.otherwise("none", "FILE")] = None,
    out: Path = Path("runs"),
    device: args.Device = "auto",
    quiet: args.Flag = False,
    loggers: Annotated[tuple[str, ...], tyro.conf.arg(metavar="[NAME …]")] = (),
    length: args.Settings = args.NONE_GIVEN,
    agent: args.Settings = args.NONE_GIVEN,
    training: args.Settings = args.NONE_GIVEN,
    network: args.Settings = args.NONE_GIVEN,
) -> None:
    """Train an agent on a game, then let it play; stop it with Ctrl-C and run it again to go on.

    Everything goes into a folder below OUT, by game, algorithm, profile, settings and seed: the
    configuration, the events, a checkpoint, every episode's actions, and the result. A finished
    run is only shown.

    Example: olive-iw run breakout --algorithm olive --seed 1 --training-calls 20000

    Defaults are those of the algorithm and the profile; name them before --help to see theirs.

    Args:
        game: An Atari game such as breakout, gym:ID for a Gymnasium environment, or grid:WORLD.
        algorithm: See `olive-iw list algorithms`.
        profile: laptop: a small network, trained in seconds. paper: VAE-IW's network and
            training, which wants a GPU. See `olive-iw list profiles`.
        seed: Seed of all randomness: the same one gives the same run.
        config: A run's config.toml, whose game and settings count where no others are given.
        out: Folder of all runs.
        device: Where the network is trained.
        quiet: Print nothing but errors.
        loggers: Where its figures can be watched too: tensorboard (in the run's folder), trackio,
            wandb. See `olive-iw list loggers`.
        length: How long it trains and plays.
        agent: What the agent is made of, and how it plans and learns.
        training: How the network of an algorithm that learns is trained.
        network: How large that network is.

    """
    from olive_iw.reports.run_tables import run_calls_table, run_table

    base = _base(config, algorithm, profile, seed)
    spec = base.spec.changed(**agent, **training, **network)
    chosen = replace(base, game=game_name(game or base.game), spec=spec, **length)
    if not chosen.game:
        raise InputError("run needs a game, for example: olive-iw run breakout")
    if quiet:
        do_run(chosen, out, device=device, loggers=loggers)
        return
    title = f"{chosen.game} · {shown_name(spec.algorithm)} · {spec.profile} · seed {spec.seed}"
    console.print(f"{title} → {chosen.folder(out)}", highlight=False)
    with RunProgress(chosen, console) as progress:
        result = do_run(chosen, out, progress, device, loggers=loggers)
    folder = chosen.folder(out)
    console.print(run_table(result), run_calls_table(folder))
    suggest(
        ("view", folder, "watch it think, in a browser"),
        ("verify", folder, "replay every action, to prove the scores"),
        ("gif", folder / "episodes" / "evaluation-0000.json", "make a film of its first game"),
    )


def _base(
    config: Path | str | None, algorithm: str | None, profile: str | None, seed: int | None = None
) -> RunConfig:
    """Configure a run by a file, or by an algorithm and a profile alone."""
    if config is None:
        return RunConfig("", make_spec(algorithm or "olive", profile or "laptop", seed or 0))
    file = Path(config)
    found = RunConfig.from_dict(read_toml(file), file)
    spec = found.spec
    names = (algorithm or spec.algorithm, profile or spec.profile)
    number = spec.seed if seed is None else seed
    return replace(found, spec=make_spec(*names, number, **spec.changes()))


def settings_types(arguments: Sequence[str]) -> dict[str, Any]:
    """Types of the settings: with the defaults of the algorithm and profile that are asked for."""
    config, algorithm, profile = (args.asked(name, arguments) for name in CHOICES)
    base = _base(config, algorithm, profile)
    defaults = args.shown_defaults(base.spec)
    numbers = {name: f"{getattr(base, name):,}" for name in LENGTHS}
    return {
        "length": args.settings_type(RunConfig, numbers, LENGTHS),
        "agent": args.settings_type(Options, defaults),
        "training": args.settings_type(type(base.spec.training), defaults),
        "network": args.settings_type(type(base.spec.network), defaults),
    }
