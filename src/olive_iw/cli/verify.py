"""`olive-iw verify`."""

import sys

from olive_iw import reports
from olive_iw.cli.arguments import Folder
from olive_iw.cli.console import console
from olive_iw.errors import InputError
from olive_iw.reports.run_tables import verification_table
from olive_iw.runs.verified import remember


def verify(path: Folder, /, workers: int = 1, quiet: bool = False, replan: bool = False) -> None:
    """Replay every episode in a fresh simulator and confirm each reward and the score.

    Nothing is planned, so it takes seconds. Exit code 1 if an episode differs. With --replan,
    finished runs are trained and played anew from their configuration instead, as long as they took
    the first time, and come out bit for bit.

    Example: olive-iw verify runs

    Args:
        path: Folder that holds runs, or one episode file.
        workers: Processes that replay at the same time. What --import and --plugins load is there
            for one only.
        quiet: Show the episodes that were not confirmed, and counts; not those that were.
        replan: Train and play anew, and compare every action, reward and weight. Not for the
            profile paper and for policies: torch's results depend on the kind of processor.

    """
    if workers < 1:
        raise InputError(f"workers = {workers} is not possible; at least 1 is")
    if replan:
        from olive_iw.runs.replan import replan as plan_anew

        found = plan_anew(path)
    else:
        found = reports.verify(path, workers)
        remember(found)
    print(verification_table(found, quiet).as_text(console.width))
    if not all(verification.confirmed for verification in found):
        sys.exit(1)
