"""The command line: parse, call, print."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

from olive_iw import __version__
from olive_iw.errors import InputError
from olive_iw.planners.rollout_iw import WhenExhausted
from olive_iw.simulators.base import SimulatorError

app = tyro.extras.SubcommandApp()
console = Console()

Game = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME")]
Games = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[GAME …]")]


@app.command
def run(
    game: Game,
    /,
    algorithm: str = "olive",
    profile: Literal["laptop", "paper"] = "laptop",
    seed: int = 0,
    training_calls: int = 100_000,
    calls_per_action: int | None = None,
    episodes: int = 10,
    max_actions: int = 18_000,
    out: Path = Path("runs"),
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto",
    quiet: bool = False,
    tensorboard: bool = False,
    width: int | None = None,
    when_exhausted: WhenExhausted | None = None,
    extend_share: float | None = None,
    discount: float | None = None,
    depth_limit: int | None = None,
    risk_averse: bool | None = None,
    training_actions: int | None = None,
    max_training_episodes: int | None = None,
    first_share: float | None = None,
    screens_per_episode: int | None = None,
    screen_limit: int | None = None,
    epochs: int | None = None,
    steps: int | None = None,
) -> None:
    """Train an agent on a game, then let it play; stop it with Ctrl-C and run it again to go on.

    Everything goes into the folder OUT/GAME/ALGORITHM-PROFILE/seed-SEED: the configuration, the
    events, a checkpoint, every episode's actions, and the result. A finished run is only shown.

    Args:
        game: An Atari game such as breakout, gym:ID for a Gymnasium environment, or grid:WORLD.
        algorithm: See `olive-iw list algorithms`.
        profile: laptop: a small network, trained in seconds. paper: VAE-IW's network and
            training, which wants a GPU.
        seed: Of all randomness: the same seed gives the same run.
        training_calls: Simulator calls for training; algorithms that do not learn spend none.
        calls_per_action: Simulator calls per decision (the paper: 100).
        episodes: Evaluation episodes (the paper: 10).
        max_actions: Most actions of an evaluation episode (the paper: 18,000).
        out: Folder of all runs.
        device: Where the network is trained.
        quiet: Print nothing but errors.
        tensorboard: Also write TensorBoard events into the run's folder.
        width: Width of the novelty that prunes, 1 or 2.
        when_exhausted: When nothing novel is left before the calls are spent: stop (the paper),
            widen (go on with width 2) or extend (go on from the end of the best known path).
        extend_share: Share of each decision's calls that extends the best known path first.
        discount: Discount per call (the paper: 0.99).
        depth_limit: No rollout goes deeper.
        risk_averse: Count a lost life as -500,000 when choosing an action.
        training_actions: Most actions of a training episode (the paper: 200).
        max_training_episodes: Most training episodes (the paper: 30).
        first_share: Share of the training calls for the first training episode (1/30).
        screens_per_episode: Screens learned from each training episode (the paper: 500).
        screen_limit: Most screens in the training set (the paper: 15,000).
        epochs: Epochs of each training of the network (paper profile: 100).
        steps: Steps of each training of the network, instead of epochs (laptop profile: 300).
    """
    from olive_iw.algorithms import make_spec
    from olive_iw.experiments.config import RunConfig
    from olive_iw.experiments.progress import RunProgress
    from olive_iw.experiments.run import run as do_run

    spec = make_spec(algorithm, profile, seed)
    changes = {
        "calls_per_action": calls_per_action,
        "width": width,
        "when_exhausted": when_exhausted,
        "extend_share": extend_share,
        "discount": discount,
        "depth_limit": depth_limit,
        "risk_averse": risk_averse,
        "training_actions": training_actions,
        "max_training_episodes": max_training_episodes,
        "first_share": first_share,
        "screens_per_episode": screens_per_episode,
        "screen_limit": screen_limit,
    }
    given: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
    training = spec.training
    if epochs is not None or steps is not None:
        training = replace(training, epochs=epochs, steps=steps)
    spec = replace(spec, options=replace(spec.options, **given), training=training)
    config = RunConfig(game, spec, training_calls, episodes, max_actions)
    if quiet:
        do_run(config, out, device=device, tensorboard=tensorboard)
        return
    folder = config.folder(out)
    console.print(f"{game} · {algorithm} · {profile} · seed {seed} → {folder}", highlight=False)
    with RunProgress(config, console) as progress:
        result = do_run(config, out, progress, device, tensorboard=tensorboard)
    console.print(_result_table(result))


def _result_table(result: Any) -> Table:
    """Our scores of one run beside the paper's for that game."""
    import numpy as np

    from olive_iw.reports.published import published

    scores = np.array(result.scores)
    table = Table(title=f"{result.game}: mean score")
    for heading in ("system", "mean ± stderr", "max", "games", "training calls", "calls/action"):
        table.add_column(heading, justify="left" if heading == "system" else "right")
    spread = f" ± {scores.std(ddof=1) / len(scores) ** 0.5:.4g}" if len(scores) > 1 else ""
    table.add_row(
        f"{result.algorithm} ({result.profile}), here",
        f"{scores.mean():.6g}{spread}",
        f"{scores.max():g}",
        str(len(scores)),
        f"{result.training_calls:,}",
        str(result.calls_per_action),
        style="bold",
    )
    for name in ("rollout-iw", "vae-iw", "olive"):
        system = published(name)
        if result.game in system.mean:
            error = system.standard_error.get(result.game)
            table.add_row(
                f"{system.title}, published",
                f"{system.mean[result.game]:g}" + ("" if error is None else f" ± {error:g}"),
                f"{system.maximum[result.game]:g}" if result.game in system.maximum else "–",
                "–" if system.episodes is None else str(system.episodes),
                "–" if system.training_calls is None else f"{system.training_calls:,}",
                "–" if system.planning_calls is None else str(system.planning_calls),
            )
    table.caption = f"{result.seconds_per_action:.2f} seconds per action here"
    return table


@app.command
def doctor(
    games: Games = (),
    /,
    calls: int = 2000,
    seed: int = 0,
    jobs: int = 1,
    json_output: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Check that the emulator restores games exactly on this machine (default: all 55 games).

    Each game is examined in a process of its own, so a crash of the emulator is one row.

    Args:
        games: Atari games; none means the 55 of the paper.
        calls: Simulator calls per game.
        seed: Of the random walks.
        jobs: Games examined at the same time.
        json_output: Print JSON instead of a table.
    """
    from rich.progress import track

    from olive_iw.experiments.doctor import doctor_table, examine
    from olive_iw.simulators import PAPER_GAMES

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
    if any(report.problem for report in reports):
        sys.exit(1)


@app.command(name="list")
def list_parts(
    kind: Annotated[str, tyro.conf.Positional] = "all",
    /,
    json_output: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """List what can be chosen: games, worlds, algorithms, features, bandits, planners and more.

    Args:
        kind: One of the headings, or all.
        json_output: Print JSON instead of tables.
    """
    from olive_iw.algorithms import ALGORITHMS
    from olive_iw.bandits import BANDITS
    from olive_iw.errors import unknown_name
    from olive_iw.features import FEATURES
    from olive_iw.features.binary_vae import PROFILES
    from olive_iw.planners import PLANNERS
    from olive_iw.selection import SELECTIONS
    from olive_iw.simulators import GAMES, PAPER_GAMES
    from olive_iw.simulators.grid import WORLDS

    parts: dict[str, list[str]] = {
        "algorithms": list(ALGORITHMS),
        "bandits": list(BANDITS),
        "features": [*FEATURES, "vae (learned, by the algorithms that learn)"],
        "games": [game if game in PAPER_GAMES else f"{game} (not in the paper)" for game in GAMES],
        "planners": list(PLANNERS),
        "profiles": list(PROFILES),
        "selections": list(SELECTIONS),
        "worlds": [f"grid:{world}" for world in WORLDS],
    }
    if kind != "all" and kind not in parts:
        raise unknown_name("kind of part", kind, [*parts, "all"])
    shown = parts if kind == "all" else {kind: parts[kind]}
    if json_output:
        print(json.dumps(shown, indent=2))
        return
    for heading, names in shown.items():
        table = Table(heading, show_edge=False)
        if heading == "algorithms":
            table.add_column("what it is")
            table.add_column("source")
        for name in names:
            if heading == "algorithms":
                table.add_row(name, ALGORITHMS[name].title, ALGORITHMS[name].source)
            else:
                table.add_row(name)
        console.print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if list(arguments) == ["--version"]:
        print(f"olive-iw {__version__}")
        return
    sys.exit(_guarded(lambda: app.cli(prog="olive-iw", description=__doc_text, args=arguments)))


__doc_text = (
    "Play games by width-based planning, with binary features learned while playing. "
    "Each command has its own --help."
)


def _guarded(work: Callable[[], Any]) -> int:
    """Exit code of some work; errors that are the user's to mend take one line."""
    errors = Console(stderr=True)
    try:
        work()
    except (InputError, SimulatorError) as error:
        errors.print(f"olive-iw: {error}", style="red", highlight=False, markup=False)
        return 2
    except KeyboardInterrupt:
        errors.print("stopped; run the same command again to go on", highlight=False)
        return 130
    except OSError as error:
        errors.print(f"olive-iw: {error}", style="red", highlight=False, markup=False)
        return 1
    return 0
