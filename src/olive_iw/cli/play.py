"""`olive-iw play`."""

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.table import Table

from olive_iw.agents import Options
from olive_iw.agents.house_rules import HouseRules
from olive_iw.agents.options import AS_MANY_AS_FIT
from olive_iw.agents.real_time import FRAMES_PER_SECOND, Played, pace_of
from olive_iw.agents.real_time import play as do_play
from olive_iw.algorithms import make_spec, shown_name
from olive_iw.cli import arguments as args
from olive_iw.cli.console import console, warn
from olive_iw.errors import InputError
from olive_iw.files import write_json
from olive_iw.runs.players import NO_TRAINING, Pairing, pairing_of
from olive_iw.runs.records import EpisodeRecord
from olive_iw.settings import settings_of
from olive_iw.simulators import warn_of_chance

SEARCH = (
    *("planner", "features", "bandit", "calls_per_action", "seconds_per_action"),
    *("search_workers", "reseed_search", "width", "discount", "depth_limit", "risk_averse"),
    *settings_of(HouseRules),
)
"""Options of decisions, which need no training."""
USUAL = f"the shipped agent's, or {NO_TRAINING}"


def settings_types(arguments: Sequence[str]) -> dict[str, Any]:
    """Types of the settings of a play: with the defaults of the algorithm that is asked for."""
    defaults = args.shown_defaults(make_spec(args.asked("algorithm", arguments) or NO_TRAINING))
    defaults = {name: f"the agent's, or {defaults[name]}" for name in SEARCH}
    return {"settings": args.settings_type(Options, defaults, SEARCH)}


def play(
    what: args.Watched,
    /,
    *,
    real_time: args.Flag = False,
    algorithm: Annotated[str | None, args.otherwise(USUAL)] = None,
    agent: Annotated[Path | None, args.otherwise("none", "PATH")] = None,
    seed: Annotated[int | None, args.otherwise("the run's, or 0", "INT")] = None,
    episode: int = 0,
    max_actions: Annotated[int | None, args.otherwise("the run's, or 18,000", "INT")] = None,
    show: args.Flag = True,
    out: args.Out = None,
    settings: args.Settings = args.NONE_GIVEN,
) -> None:
    """Play one episode, show it in the terminal, and say how many calls the decisions had.

    Without --real-time the game waits for every decision. Ctrl-C ends the play; what was played
    until then counts.

    Example: olive-iw play breakout --real-time --search-workers 2

    Args:
        what: A game, such as breakout or grid:key-door; or the folder of a run, such as
            runs/breakout/olive-laptop/seed-0, whose agent then plays the run's game.
        real_time: Play at 60 frames a second: the next action is decided while the frames of the
            last are shown (0.25 s for 15 frames), with as many calls as fit, or --calls-per-action
            if these are fewer. Of that time and --seconds-per-action the smaller counts.
        algorithm: Algorithm that plays a game, one that needs no training (see `olive-iw list
            algorithms`), instead of the agent that is shipped for it (`olive-iw list pretrained`).
        agent: A trained agent to play the game with, instead of an algorithm: a run's folder, one
            that agent.save wrote, or a file of `olive-iw pretrained add`.
        seed: Seed of the planner's random numbers.
        episode: Number of the evaluation episode whose random numbers are used.
        max_actions: Most actions.
        show: Show the game while it is played, if the output is a terminal.
        out: File to write the episode to, for `olive-iw verify`, `video` and `gif`.
        settings: How decisions are made.

    """
    from olive_iw.cli.terminal import PlayProgress, TerminalShow, can_show

    _check(episode, out)
    player = pairing_of(what, algorithm, agent, seed, **settings)
    say_who(player)
    spec, learner = player.agent.spec, player.agent.learner
    if learner is not None and not learner.progress.finished:
        warn(f"the agent's training is not finished: {learner.progress.calls:,} calls so far")
    simulator, planner = spec.make_simulator(player.game), player.agent.planner
    options = spec.options
    if not options.reseed_search:
        warn_of_chance(simulator, player.game)
    if real_time:
        calls = settings.get("calls_per_action", AS_MANY_AS_FIT)
        options = replace(options, calls_per_action=calls)
    actions = player.max_actions if max_actions is None else max_actions
    played = Played(pace=pace_of(simulator) if real_time else None)
    watch: TerminalShow | PlayProgress = PlayProgress(played, actions, console)
    if show and can_show(console):
        second = spec.make_simulator(player.game)
        watch = TerminalShow(played, second, console.file, lambda: console.size)
    number = spec.evaluation_seed(episode)
    with closing(planner), watch:
        do_play(
            planner, simulator, options, played, seed=number, max_actions=actions, observer=watch
        )
    title = f"{player.game} · {shown_name(spec.algorithm)} · seed {spec.seed}, episode {episode}"
    console.print(play_table(title, played, watch.drawn))
    if out is not None:
        record = EpisodeRecord.of(player.game, spec, "play", episode, played.episode, simulator)
        write_json(out, record.to_dict() | played.fields())
        console.print(f"wrote {out}", highlight=False, soft_wrap=True)
    if played.stopped:
        sys.exit(130)


def say_who(player: Pairing) -> None:
    """Say which of the shipped agents plays, if it is one."""
    if player.shipped:
        console.print(f"pretrained {player.game}: {player.shipped}", highlight=False)


def _check(episode: int, out: Path | None) -> None:
    """Refuse what would fail only after the play."""
    if episode < 0:
        raise InputError(f"episode {episode} is not possible; it must be 0 or greater")
    if out is None:
        return
    if out.is_dir():
        raise InputError(f"{out} is a folder; give --out a file")
    if (out.parent.parent / "config.toml").exists():
        raise InputError(f"{out} would stand among a run's own episodes; give another --out")
    out.parent.mkdir(parents=True, exist_ok=True)


def play_table(title: str, played: Played, drawn: tuple[int, int] | None = None) -> Table:
    """Score and budgets of a play; `drawn`: frames that a terminal showed, and dropped."""
    episode, decisions = played.episode, len(played.calls)
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column()
    table.add_column(justify="right")
    table.add_row("score", f"{episode.score:g}", style="bold")
    table.add_row("actions", f"{len(episode.actions):,} ({played.ended})")
    if episode.lives:  # there are games without
        table.add_row("lives left", str(episode.lives))
    table.add_row("calls per decision", _spread(played.calls, "{:,.0f}"))
    table.add_row("seconds per decision", _spread(played.seconds, "{:.3f}"))
    table.add_row("nothing left to search", f"{episode.exhausted:,} of {decisions:,}")
    if played.pace is not None:
        late = f"{len(played.late):,} of {decisions:,}"
        if played.late:
            late += f", by at most {max(played.late):.3f} s"
        table.add_row("late decisions", late)
        pace = f"{played.frames_per_second:.1f} of {FRAMES_PER_SECOND}"
        table.add_row("frames per second", pace)
    if drawn is not None and played.pace is not None:
        table.add_row("frames drawn", f"{drawn[0]:,}, {drawn[1]:,} dropped")
    return table


def _spread(values: Sequence[float], form: str) -> str:
    if not values:
        return "–"
    middle, least, most = (form.format(of(values)) for of in (np.median, np.min, np.max))
    return f"median {middle}, least {least}, most {most}"
