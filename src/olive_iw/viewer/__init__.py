"""The viewer: watch a planner think, live or from a run's folder, in a browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from olive_iw.agents import Spec
from olive_iw.errors import InputError

if TYPE_CHECKING:
    from olive_iw.viewer.episode_source import EpisodeSource
    from olive_iw.viewer.server import ViewerServer

__all__ = ["LOOPBACK", "PORT", "live_viewer", "run_viewer"]

LOOPBACK = "127.0.0.1"
PORT = 8765


@contextmanager
def live_viewer(
    game: str,
    spec: Spec,
    agent: Path | None = None,
    calls_per_action: int | None = None,
    host: str = LOOPBACK,
    port: int = PORT,
) -> "Iterator[ViewerServer]":
    """Watch a game being played. `agent` is a saved agent's folder, which then plays for `spec`.

    Port 0 is any free one. An address other than loopback needs a token, which is made here.
    """
    check_installed()
    from olive_iw.viewer.episode_source import live_source
    from olive_iw.viewer.hub import Hub
    from olive_iw.viewer.playback import Playback
    from olive_iw.viewer.server import ViewerServer

    source = live_source(game, spec, agent, calls_per_action)
    hub = Hub()
    playback = Playback(hub)
    with ViewerServer(hub, playback, host, port) as server:
        playback.start(source)
        yield server


@contextmanager
def run_viewer(folder: Path, host: str = LOOPBACK, port: int = PORT) -> "Iterator[ViewerServer]":
    """Watch recorded episodes again, of a finished or running run, or of many below a folder."""
    check_installed()
    from olive_iw.viewer.hub import Hub
    from olive_iw.viewer.playback import Playback
    from olive_iw.viewer.run_follower import RunFollower
    from olive_iw.viewer.run_library import RunLibrary
    from olive_iw.viewer.server import ViewerServer

    library = RunLibrary(folder)
    hub = Hub()
    follower = RunFollower(hub, library)

    def open_source(name: str, episode: str) -> "EpisodeSource":
        run = library.run(name)
        follower.follow(run)
        return run.source(episode or run.first_episode())

    playback = Playback(hub, open_source, playing=False)
    first = library.first_source()
    if first is not None:
        follower.follow(library.run(first.run))
    with ViewerServer(hub, playback, host, port) as server, follower:
        playback.start(first)
        yield server


def check_installed() -> None:
    """Raise `InputError` if the packages of the extra `viewer` are not there."""
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the viewer needs {' and '.join(missing)}: pip install 'olive-iw[viewer]'"
        )
