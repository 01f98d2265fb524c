"""`olive-iw view`."""

from pathlib import Path
from typing import Annotated, Any

from olive_iw.cli.arguments import Shown, Watched
from olive_iw.cli.compiling import compiling, rehearse
from olive_iw.cli.console import console
from olive_iw.cli.play import USUAL, say_who, settings_groups

__all__ = ["settings_groups", "view"]
from olive_iw.errors import InputError
from olive_iw.runs.players import folder_of, pairing_of


def view(
    what: Watched,
    /,
    *,
    algorithm: Annotated[str | None, Shown(default=USUAL)] = None,
    seed: Annotated[int | None, Shown(default="the agent's, or 0")] = None,
    agent: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8765,
    no_browser: bool = False,
    **settings: Any,
) -> None:
    """Watch a planner think, in a browser: live, or a run's recorded episodes again.

    Prints the address of a page and serves it until Ctrl-C. With no page open it waits.

    Example: olive-iw view breakout --algorithm rollout-iw --calls-per-action 200

    Args:
        what: A game to play live, such as breakout or grid:key-door; or a run's folder, finished
            or not, such as runs/breakout/olive-laptop/seed-0; or a folder of many runs.
        algorithm: Algorithm of a live play, one that needs no training (see `olive-iw list
            algorithms`), instead of the agent that is shipped for it (`olive-iw list pretrained`).
        seed: Seed of a live play.
        agent: A trained agent to play live with, instead of an algorithm: a run's folder, its
            checkpoint, or a file of `olive-iw pretrained add`.
        host: Address to listen on. Any but the loopback address can be reached from other
            machines, and then needs the token that is printed.
        port: Port to listen on; 0 is any free one.
        no_browser: Do not open the page.
        settings: How decisions of a live play are made.

    """
    from olive_iw.viewer import live_viewer, run_viewer

    folder = folder_of(what)
    if folder is not None:
        if settings:
            raise InputError(f"{', '.join(settings)}: a recorded run has its own settings")
        opened = run_viewer(folder, host, port)
    else:
        with compiling():
            player = pairing_of(what, algorithm, agent, seed, **settings)
            rehearse(player.agent.spec, player.game, train=False)
        say_who(player)
        opened = live_viewer(player.game, player.agent, host, port)
    with opened as viewer:
        console.print(
            f"watch at {viewer.address} (Ctrl-C ends it)", highlight=False, soft_wrap=True
        )
        viewer.serve(browser=not no_browser)
