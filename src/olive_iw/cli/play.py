"""`olive-iw play`."""

import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from olive_iw.agents.parts import AS_MANY_AS_FIT
from olive_iw.agents.real_time import FRAMES_PER_SECOND, Played, pace_of
from olive_iw.agents.real_time import play as do_play
from olive_iw.algorithms import make_spec, shown_name
from olive_iw.cli.arguments import Group, Out, Shown, Watched, asked, options_groups
from olive_iw.cli.compiling import compiling, rehearse
from olive_iw.cli.console import console, warn, wrote
from olive_iw.cli.run import GROUPS
from olive_iw.errors import InputError
from olive_iw.files import write_json
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.players import NO_TRAINING, Pairing, pairing_of
from olive_iw.runs.records import EpisodeRecord
from olive_iw.simulators import warn_of_chance
from olive_iw.tables import Cell, Table

TABLES = ("decisions", "search", "rules")
"""Options of decisions, which need no training."""
USUAL = f"the shipped agent's, or {NO_TRAINING}"


def settings_groups(words: Sequence[str]) -> list[Group]:
    """Return the settings of a play, with the defaults of who is asked to."""
    algorithm, planner = asked(words, "algorithm", "planner")
    spec, who = make_spec(algorithm or NO_TRAINING), "the agent's, or "
    for run in filter(lambda it: it.begun, (RunFolder(Path(word)) for word in words)):
        with suppress(InputError):  # of an unreadable one it is told elsewhere
            spec, who = run.config().spec, ""
    if planner is not None:
        spec = spec.changed(planner=planner)
    return options_groups(spec, {table: GROUPS[table] for table in TABLES}, who)


def play(
    what: Watched,
    /,
    *,
    real_time: bool = False,
    algorithm: Annotated[str | None, Shown(default=USUAL)] = None,
    agent: Path | None = None,
    seed: Annotated[int | None, Shown(default="the run's, or 0")] = None,
    episode: int = 0,
    max_actions: Annotated[int | None, Shown(default="the run's, or 18,000")] = None,
    no_show: bool = False,
    out: Out = None,
    **settings: Any,
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
        no_show: Do not show the game while it is played, as a terminal can.
        out: File to write the episode to, for `olive-iw verify`, `video` and `gif`.
        settings: How decisions are made.

    """
    from olive_iw.cli.terminal import PlayProgress, TerminalShow, can_show

    _check(episode, out)
    with compiling():
        player = pairing_of(what, algorithm, agent, seed, **settings)
        rehearse(player.agent.spec, player.game, train=False)
    say_who(player)
    spec, learner = player.agent.spec, player.agent.learner
    if learner is not None and not learner.progress.finished:
        warn(f"the agent's training is not finished: {learner.progress.calls:,} calls so far")
    simulator, planner = spec.make_simulator(player.game), player.agent.planner
    limits = spec.decisions
    if not spec.options.get("reseed_search"):
        warn_of_chance(simulator, player.game)
    if real_time:
        calls = settings.get("calls_per_action", AS_MANY_AS_FIT)
        limits = replace(limits, calls_per_action=calls)
    actions = player.max_actions if max_actions is None else max_actions
    played = Played(pace=pace_of(simulator) if real_time else None)
    watch: TerminalShow | PlayProgress = PlayProgress(played, actions, console)
    if not no_show and can_show(console):
        second = spec.make_simulator(player.game)
        watch = TerminalShow(played, second, console.file, lambda: console.size)
    number = spec.evaluation_seed(episode)
    with closing(planner), watch:
        do_play(
            planner, simulator, limits, played, seed=number, max_actions=actions, observer=watch
        )
    title = f"{player.game} · {shown_name(spec.algorithm)} · seed {spec.seed}, episode {episode}"
    console.print(play_table(title, played, watch.drawn))
    if out is not None:
        record = EpisodeRecord.of(player.game, spec, "play", episode, played.episode, simulator)
        write_json(out, record.to_dict() | played.fields())
        wrote(out)
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
    rows = {
        "score": f"{episode.score:g}",
        "actions": f"{len(episode.actions):,} ({played.ended})",
        "lives left": str(episode.lives) if episode.lives else "",  # there are games without
        "calls per decision": _spread(played.calls, "{:,.0f}"),
        "seconds per decision": _spread(played.seconds, "{:.3f}"),
        "nothing left to search": f"{episode.exhausted:,} of {decisions:,}",
    }
    if played.pace is not None:
        late = f", by at most {max(played.late):.3f} s" if played.late else ""
        rows["late decisions"] = f"{len(played.late):,} of {decisions:,}{late}"
        rows["frames per second"] = f"{played.frames_per_second:.1f} of {FRAMES_PER_SECOND}"
        if drawn is not None:
            rows["frames drawn"] = f"{drawn[0]:,}, {drawn[1]:,} dropped"
    return Table(
        title, ("what", "how much"), [list(map(Cell, row)) for row in rows.items() if row[1]]
    )


def _spread(values: Sequence[float], form: str) -> str:
    if not values:
        return "–"
    middle, least, most = (form.format(of(values)) for of in (np.median, np.min, np.max))
    return f"median {middle}, least {least}, most {most}"
