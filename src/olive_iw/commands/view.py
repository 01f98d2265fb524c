"""The command that shows a planner at work."""

import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import tyro

from olive_iw.commands.console import console

Watched = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME|FOLDER")]


def view(
    what: Watched,
    /,
    algorithm: str = "patch-iw",
    seed: int = 0,
    calls_per_action: int | None = None,
    agent: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8765,
    browser: bool = True,
) -> None:
    """Watch a planner think, in a browser: live, or a run's recorded episodes again.

    Prints the address of a page and serves it until Ctrl-C. With no page open it waits.

    Args:
        what: A game to play live, such as breakout or grid:key-door; or a run's folder, finished
            or not, such as runs/breakout/olive-laptop/seed-0; or a folder of many runs.
        algorithm: Of a live play; one that needs no training (see `olive-iw list algorithms`).
        seed: Of a live play.
        calls_per_action: Simulator calls per decision of a live play (the paper: 100).
        agent: Folder of a trained agent to play live with, instead of an algorithm and a seed:
            a checkpoint, or its run's folder.
        host: Address to listen on. Any but the loopback address can be reached from other
            machines, and then needs the token that is printed.
        port: Port to listen on; 0 is any free one.
        browser: Open the page.

    """
    from olive_iw.algorithms import make_spec
    from olive_iw.tools.players import folder_of
    from olive_iw.viewer import live_viewer, run_viewer

    folder = folder_of(what)
    if folder is not None:
        opened = run_viewer(folder, host, port)
    else:
        spec = make_spec(algorithm, seed=seed)
        opened = live_viewer(what, spec, agent, calls_per_action, host, port)
    with opened as viewer:
        console.print(
            f"watch at {viewer.address} (Ctrl-C ends it)", highlight=False, soft_wrap=True
        )
        if browser:
            # The server listens already, so the page waits at most for `serve` below.
            threading.Thread(target=webbrowser.open, args=(viewer.address,), daemon=True).start()
        with suppress(KeyboardInterrupt):  # the way to end it
            viewer.serve()
