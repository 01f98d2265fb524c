"""The command that shows a planner at work."""

import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from olive_iw.commands.arguments import NONE_GIVEN, Flag, Settings, Watched, otherwise
from olive_iw.commands.console import console
from olive_iw.errors import InputError


def view(
    what: Watched,
    /,
    *,
    algorithm: str = "patch-iw",
    seed: int = 0,
    agent: Annotated[Path | None, otherwise("none", "FOLDER")] = None,
    host: str = "127.0.0.1",
    port: int = 8765,
    browser: Flag = True,
    settings: Settings = NONE_GIVEN,
) -> None:
    """Watch a planner think, in a browser: live, or a run's recorded episodes again.

    Prints the address of a page and serves it until Ctrl-C. With no page open it waits.

    Example: olive-iw view breakout --algorithm rollout-iw --calls-per-action 200

    Args:
        what: A game to play live, such as breakout or grid:key-door; or a run's folder, finished
            or not, such as runs/breakout/olive-laptop/seed-0; or a folder of many runs.
        algorithm: Algorithm of a live play, one that needs no training (see `olive-iw list
            algorithms`).
        seed: Seed of a live play.
        agent: Folder of a trained agent to play live with, instead of an algorithm and a seed:
            a checkpoint, or its run's folder.
        host: Address to listen on. Any but the loopback address can be reached from other
            machines, and then needs the token that is printed.
        port: Port to listen on; 0 is any free one.
        browser: Open the page.
        settings: How decisions of a live play are made.

    """
    from olive_iw.tools.players import folder_of, pairing_of
    from olive_iw.viewer import live_viewer, run_viewer

    folder = folder_of(what)
    if folder is not None:
        if settings:
            raise InputError(f"{', '.join(settings)}: a recorded run has its own settings")
        opened = run_viewer(folder, host, port)
    else:
        player = pairing_of(what, algorithm, agent, seed, **settings)
        opened = live_viewer(player.game, player.agent, host, port)
    with opened as viewer:
        console.print(
            f"watch at {viewer.address} (Ctrl-C ends it)", highlight=False, soft_wrap=True
        )
        if browser:
            # The server listens already, so the page waits at most for `serve` below.
            threading.Thread(target=webbrowser.open, args=(viewer.address,), daemon=True).start()
        with suppress(KeyboardInterrupt):  # the way to end it
            viewer.serve()
