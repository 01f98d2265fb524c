"""`olive-iw video`."""

from olive_iw import reports
from olive_iw.cli.arguments import All, File, Out
from olive_iw.cli.console import warn, wrote


def video(
    episode: File,
    /,
    out: Out = None,
    overlay: bool = False,
    max_actions: All = None,
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
    wrote(film.path, f"{film.frames} frames")
