"""`olive-iw gif`."""

from olive_iw import reports
from olive_iw.cli.arguments import All, File, Out
from olive_iw.cli.console import warn, wrote


def gif(
    episode: File,
    /,
    out: Out = None,
    max_seconds: float = 10.0,
    max_bytes: int = 3_000_000,
    max_actions: All = None,
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
    wrote(film.path, f"{film.frames} frames")
