"""The viewer: watch a planner think, live or from a run's folder, in a browser."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from olive_iw.agents import Agent
from olive_iw.errors import InputError
from olive_iw.viewer.hub import Hub
from olive_iw.viewer.playback import Playback
from olive_iw.viewer.run_library import (
    EpisodeSource,
    RunFollower,
    RunLibrary,
    live_source,
    recorded_source,
)

try:
    from olive_iw.viewer.server import ViewerServer
except ModuleNotFoundError as error:
    missing = str(error.name).partition(".")[0]
    raise InputError(f"the viewer needs {missing}: pip install 'olive-iw[viewer]'") from error

__all__ = ["LOOPBACK", "PORT", "ViewerServer", "live_viewer", "run_viewer"]

LOOPBACK = "127.0.0.1"
PORT = 8765


@contextmanager
def live_viewer(
    game: str, agent: Agent, host: str = LOOPBACK, port: int = PORT
) -> Iterator[ViewerServer]:
    """Watch an agent play a game.

    Port 0 is any free one. An address other than loopback needs a token, which is made here.
    """
    source = live_source(game, agent)
    hub = Hub()
    with ViewerServer(hub, Playback(hub), host, port) as server:
        server.playback.start(source)
        yield server


@contextmanager
def run_viewer(folder: Path, host: str = LOOPBACK, port: int = PORT) -> Iterator[ViewerServer]:
    """Watch recorded episodes again, of a finished or running run, or of many below a folder."""
    library = RunLibrary(folder)
    hub = Hub()
    follower = RunFollower(hub, library)

    def open_source(name: str, episode: str) -> EpisodeSource:
        run = library.run(name)
        follower.follow(run)
        return recorded_source(run, episode or next(iter(run.episode_files()), "evaluation-0000"))

    def first_source() -> EpisodeSource | None:
        for run in library.runs.values():
            for episode in run.episode_files():
                with suppress(InputError):
                    return open_source(run.name, episode)
        return None

    playback = Playback(hub, open_source, playing=False)
    with ViewerServer(hub, playback, host, port) as server, follower:
        playback.start(first_source())
        yield server
