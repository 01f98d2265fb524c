"""`olive-iw run`: train an agent, then let it play."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from olive_iw.algorithms import make_spec, shown_name
from olive_iw.cli.arguments import (
    Device,
    Group,
    Shown,
    asked,
    options_groups,
    settings_arguments,
    shown,
)
from olive_iw.cli.compiling import compiling, rehearse
from olive_iw.cli.console import console, suggest
from olive_iw.errors import InputError
from olive_iw.reading import read_toml
from olive_iw.reports.run_tables import run_calls_table, run_table
from olive_iw.runs.config import RunConfig
from olive_iw.runs.loggers import LOGGERS
from olive_iw.runs.progress import RunProgress
from olive_iw.runs.run import run as do_run
from olive_iw.simulators import game_name

LENGTHS = ("training_calls", "episodes", "max_actions")
GROUPS = {
    "decisions": "What a decision may spend",
    "search": "How it searches",
    "rules": "Our own rules, beyond the papers",
    "simulator": "How the game is simulated",
    "learning": "How it learns",
    "network": "How large its network is",
    "training": "How its network is trained",
}
"""Tables of settings, as headings of the help."""


def run(
    game: Annotated[str, Shown("GAME")] = "",
    /,
    *,
    algorithm: Annotated[str | None, Shown(default="olive")] = None,
    profile: Annotated[str | None, Shown(default="laptop")] = None,
    seed: Annotated[int | None, Shown(default="0")] = None,
    config: Annotated[Path | None, Shown("FILE")] = None,
    out: Path = Path("runs"),
    device: Device = "auto",
    quiet: bool = False,
    loggers: tuple[str, ...] = (),
    **settings: Any,
) -> None:
    """Train an agent on a game, then let it play; stop it with Ctrl-C and run it again to go on.

    Everything goes into a folder below OUT, by game, algorithm, profile, settings and seed: the
    configuration, the events, a checkpoint, every episode's actions, and the result. A finished
    run is only shown.

    Example: olive-iw run breakout --algorithm olive --seed 1 --training-calls 20000

    Defaults are those of the algorithm and the profile; name them before --help to see theirs.

    Args:
        game: An Atari game such as breakout, gym:ID for a Gymnasium environment, or grid:WORLD.
            Without it, the game of --config.
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
        settings: How long it trains and plays, what the agent is made of, and how it learns.

    """
    base = _base(config, algorithm, profile, seed)
    lengths = {name: settings.pop(name) for name in LENGTHS if name in settings}
    spec = base.spec.changed(**settings)
    chosen = replace(base, game=game_name(game or base.game), spec=spec, **lengths)
    if not chosen.game:
        raise InputError("run needs a game, for example: olive-iw run breakout")
    for name in loggers:
        LOGGERS[name]  # an unknown one is told before anything else
    if quiet:
        do_run(chosen, out, device=device, loggers=loggers)
        return
    folder = chosen.folder(out)
    with compiling():
        rehearse(spec, chosen.game, train=True)
    title = f"{chosen.game} · {shown_name(spec.algorithm)} · {spec.profile} · seed {spec.seed}"
    with RunProgress(chosen, console, f"{title} → {folder}") as progress:
        result = do_run(chosen, out, progress, device, loggers=loggers)
        progress.begin()  # of a finished run nothing is told
    console.print(run_table(result), run_calls_table(folder))
    suggest(
        ("view", folder, "watch it think, in a browser"),
        ("verify", folder, "replay every action, to prove the scores"),
        ("gif", folder / "episodes" / "evaluation-0000.json", "make a film of its first game"),
    )


def settings_groups(words: Sequence[str]) -> list[Group]:
    """Return the settings of a run, with the defaults of what is asked for."""
    config, algorithm, profile, planner = asked(words, "config", "algorithm", "profile", "planner")
    base = _base(config, algorithm, profile)
    spec = base.spec if planner is None else base.spec.changed(planner=planner)
    names = LENGTHS if spec.learns else LENGTHS[1:]
    lengths = settings_arguments(RunConfig, {name: shown(getattr(base, name)) for name in names})
    parts = options_groups(spec, GROUPS)
    return [Group("How long it trains and plays", lengths, LENGTHS, spec.who), *parts]


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
