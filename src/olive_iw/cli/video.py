"""`olive-iw video`."""

from olive_iw import reports
from olive_iw.cli import arguments as args
from olive_iw.cli.console import console, warn


def video(
    episode: args.File,
    /,
    out: args.Out = None,
    overlay: args.Flag = False,
    max_actions: args.MaybeAll = None,
) -> None:
    """Render an episode as a film: 60 frames a second, all frames of every action.

    Example: olive-iw video evaluation-0000.json --overlay

    Args:
        episode: Episode file, such as …/episodes/evaluation-0000.json.
        out: File to write (default: beside the episode, .mp4).
        overlay: Show score, action and the value of every action.
        max_actions: Only so many actions from the start.

    """
    film = reports.video(
        episode, out or episode.with_suffix(".mp4"), overlay, max_actions=max_actions
    )
    warn(*film.warnings)
    console.print(f"wrote {film.path}: {film.frames} frames", highlight=False)
