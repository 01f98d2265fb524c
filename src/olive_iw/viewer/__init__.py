"""The viewer: watch a planner think, live or from a run's folder, in a browser."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from olive_iw.agents import Spec
from olive_iw.errors import InputError

if TYPE_CHECKING:
    from olive_iw.viewer.episode_source import EpisodeSource
    from olive_iw.viewer.hub import Hub
    from olive_iw.viewer.playback import Playback

__all__ = ["LOOPBACK", "PORT", "Viewer", "live_viewer", "run_viewer"]

LOOPBACK = "127.0.0.1"
PORT = 8765


@dataclass(frozen=True, slots=True)
class Viewer:
    """A viewer that listens."""

    address: str
    """What to open in a browser; with the token where one is needed."""
    serve: Callable[[], None]
    """Serves until `stop` or Ctrl-C."""
    stop: Callable[[], None]
    """Ends `serve`, from another thread."""


@contextmanager
def live_viewer(
    game: str,
    spec: Spec,
    agent: Path | None = None,
    calls_per_action: int | None = None,
    host: str = LOOPBACK,
    port: int = PORT,
) -> Iterator[Viewer]:
    """Watch a game being played. `agent` is a saved agent's folder, which then plays for `spec`.

    Port 0 is any free one. An address other than loopback needs a token, which is made here.
    """
    check_installed()
    from olive_iw.viewer.controls import Controls
    from olive_iw.viewer.episode_source import live_source
    from olive_iw.viewer.hub import Hub
    from olive_iw.viewer.playback import Playback

    source = live_source(game, spec, agent, calls_per_action)

    def only(run: str, episode: str) -> "EpisodeSource":
        raise InputError("a live play has no recorded episodes")

    hub = Hub()
    playback = Playback(hub, Controls(lambda: hub.watched), only)
    with _listening(hub, playback, host, port) as viewer:
        playback.start(source)
        yield viewer


@contextmanager
def run_viewer(folder: Path, host: str = LOOPBACK, port: int = PORT) -> Iterator[Viewer]:
    """Watch recorded episodes again, of a finished or running run, or of many below a folder."""
    check_installed()
    from olive_iw.viewer.controls import Controls
    from olive_iw.viewer.hub import Hub
    from olive_iw.viewer.playback import Playback
    from olive_iw.viewer.run_follower import RunFollower
    from olive_iw.viewer.run_library import RunLibrary

    library = RunLibrary(folder)
    hub = Hub()
    follower = RunFollower(hub, library)

    def open_source(name: str, episode: str) -> "EpisodeSource":
        run = library.run(name)
        follower.follow(run)
        return run.source(episode or run.first_episode())

    playback = Playback(hub, Controls(lambda: hub.watched, playing=False), open_source)
    with _listening(hub, playback, host, port) as viewer:
        first = next(iter(library.runs.values()))
        episodes = first.folder.episode_files()
        playback.start(first.source(first.first_episode()) if episodes else None)
        follower.start()
        try:
            yield viewer
        finally:
            follower.close()


def check_installed() -> None:
    """Raise `InputError` if the packages of the extra `viewer` are not there."""
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the viewer needs {' and '.join(missing)}: pip install 'olive-iw[viewer]'"
        )


@contextmanager
def _listening(hub: "Hub", playback: "Playback", host: str, port: int) -> Iterator[Viewer]:
    from olive_iw.viewer.security import is_loopback, new_token
    from olive_iw.viewer.server import ViewerServer

    token = None if is_loopback(host) else new_token()
    server = ViewerServer(hub, playback, host, port, token)
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{server.port}/" + ("" if token is None else f"?token={token}")
    try:
        yield Viewer(address, server.run, server.stop)
    finally:
        server.stop()
        playback.close()
