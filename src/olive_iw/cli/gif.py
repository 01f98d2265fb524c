"""`olive-iw gif`."""

from olive_iw import reports
from olive_iw.cli import arguments as args
from olive_iw.cli.console import console, warn


def gif(
    episode: args.File,
    /,
    out: args.Out = None,
    max_seconds: float = 10.0,
    max_bytes: int = 3_000_000,
    max_actions: args.MaybeAll = None,
) -> None:
    """Render the beginning of an episode as a small GIF, for a README.

    Example: olive-iw gif evaluation-0000.json --max-seconds 5

    Args:
        episode: Episode file, such as …/episodes/evaluation-0000.json.
        out: File to write (default: beside the episode, .gif).
        max_seconds: Length at most.
        max_bytes: Size at most.
        max_actions: Only so many actions from the start.

    """
    film = reports.gif(
        episode,
        out or episode.with_suffix(".gif"),
        max_bytes=max_bytes,
        max_seconds=max_seconds,
        max_actions=max_actions,
    )
    warn(*film.warnings)
    console.print(f"wrote {film.path}: {film.frames} frames", highlight=False)
