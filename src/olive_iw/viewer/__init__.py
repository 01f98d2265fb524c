"""The viewer: watch a planner think, live or from a run's folder, in a browser."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from olive_iw.agents import Agent
from olive_iw.errors import needing
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.playback import Playback
from olive_iw.viewer.run_library import RunFollower, RunLibrary, live_source

with needing("viewer", "the viewer"):
    from olive_iw.viewer.server import ViewerServer

if TYPE_CHECKING:
    from olive_iw.simulators import Simulator
    from olive_iw.simulators.gymnasium_states import Environment

__all__ = ["LOOPBACK", "PORT", "ViewerServer", "live_viewer", "run_viewer", "view"]

LOOPBACK = "127.0.0.1"
PORT = 8765


def view(
    env: "str | Simulator | Environment",
    agent: Agent,
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    browser: bool = True,
) -> None:
    """Open a page on which an agent plays, and serve it until Ctrl-C.

    env: a game's name, a simulator, or a Gymnasium environment, which is reset and searched in
    host, port: where the page is; see `live_viewer`
    browser: whether to open it in a browser
    """
    with live_viewer(env, agent, host, port) as viewer, suppress(KeyboardInterrupt):
        print(f"watch at {viewer.address} (Ctrl-C ends it)", flush=True)
        viewer.serve(browser)


@contextmanager
def live_viewer(
    game: "str | Simulator | Environment", agent: Agent, host: str = LOOPBACK, port: int = PORT
) -> Iterator[ViewerServer]:
    """Watch an agent play a game.

    Port 0 is any free one. An address other than loopback needs a token, which is made here.
    """
    source = live_source(game, agent)
    hub = Hub()
    with ViewerServer(hub, Playback(hub), host, port) as server:
        server.playback.start([source])
        yield server


@contextmanager
def run_viewer(folder: Path, host: str = LOOPBACK, port: int = PORT) -> Iterator[ViewerServer]:
    """Watch recorded episodes again, of a finished or running run, or of many below a folder."""
    hub = Hub()
    follower = RunFollower(hub, RunLibrary(folder))
    playback = Playback(hub, follower.open, playing=False)
    with ViewerServer(hub, playback, host, port) as server, follower:
        playback.start(follower.sources())
        yield server
