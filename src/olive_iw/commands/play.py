"""The command that lets somebody play a game, for a person to watch."""

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from olive_iw.commands.arguments import NONE_GIVEN, Flag, Out, Settings, Watched, otherwise
from olive_iw.commands.console import console, warn
from olive_iw.errors import InputError


def play(
    what: Watched,
    /,
    *,
    real_time: Flag = False,
    algorithm: str = "patch-iw",
    agent: Annotated[Path | None, otherwise("none", "FOLDER")] = None,
    seed: Annotated[int | None, otherwise("the run's, or 0", "INT")] = None,
    episode: int = 0,
    max_actions: Annotated[int | None, otherwise("the run's, or 18,000", "INT")] = None,
    show: Flag = True,
    out: Out = None,
    settings: Settings = NONE_GIVEN,
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
            algorithms`).
        agent: Folder of a trained agent to play the game with, instead of an algorithm: a run's
            folder, or one that agent.save wrote.
        seed: Seed of the planner's random numbers.
        episode: Number of the evaluation episode whose random numbers are used.
        max_actions: Most actions.
        show: Show the game while it is played, if the output is a terminal.
        out: File to write the episode to, for `olive-iw verify`, `video` and `gif`.
        settings: How decisions are made.

    """
    from olive_iw.agents.options import AS_MANY_AS_FIT
    from olive_iw.files import write_json
    from olive_iw.runs.records import EpisodeRecord
    from olive_iw.simulators import make_simulator
    from olive_iw.tools import play as tool
    from olive_iw.tools.players import pairing_of
    from olive_iw.tools.terminal import PlayProgress, TerminalShow, can_show

    _check(seed, episode, out)
    player = pairing_of(what, algorithm, agent, seed or 0, **settings)
    spec = player.agent.spec
    if seed is not None:
        spec = replace(spec, seed=seed)
    learner = player.agent.learner
    if learner is not None and not learner.progress.finished:
        warn(f"the agent's training is not finished: {learner.progress.calls:,} calls so far")
    simulator, planner = make_simulator(player.game), player.agent.planner
    options = spec.options
    if real_time:
        calls = settings.get("calls_per_action", AS_MANY_AS_FIT)
        options = replace(options, calls_per_action=calls)
    actions = player.max_actions if max_actions is None else max_actions
    drawn, played = None, tool.Played(pace=tool.pace_of(simulator) if real_time else None)
    with ExitStack() as stack:
        stack.callback(planner.close)
        watch: TerminalShow | PlayProgress
        if show and can_show(console):
            second = make_simulator(player.game)
            watch = TerminalShow(played, second, console.file, lambda: console.size)
        else:
            watch = PlayProgress(played, actions, console)
        stack.enter_context(watch)
        number = spec.evaluation_seed(episode)
        tool.play(
            planner, simulator, options, played, seed=number, max_actions=actions, observer=watch
        )
    if isinstance(watch, TerminalShow):
        drawn = (watch.projector.shown, watch.projector.dropped)
    title = f"{player.game} · {spec.algorithm} · seed {spec.seed}, episode {episode}"
    console.print(tool.play_table(title, played, drawn))
    if out is not None:
        record = EpisodeRecord.of(player.game, spec, "play", episode, played.episode, simulator)
        write_json(out, record.to_dict() | played.fields())
        console.print(f"wrote {out}", highlight=False, soft_wrap=True)
    if played.stopped:
        sys.exit(130)


def _check(seed: int | None, episode: int, out: Path | None) -> None:
    """Refuse what would fail only after the play."""
    for name, number in (("seed", seed), ("episode", episode)):
        if number is not None and number < 0:
            raise InputError(f"{name} {number} is not possible; it must be 0 or greater")
    if out is None:
        return
    if out.is_dir():
        raise InputError(f"{out} is a folder; give --out a file")
    if (out.parent.parent / "config.toml").exists():
        raise InputError(f"{out} would stand among a run's own episodes; give another --out")
    out.parent.mkdir(parents=True, exist_ok=True)
