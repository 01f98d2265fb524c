"""`olive-iw status`."""

import json

from olive_iw.cli import arguments as args
from olive_iw.cli.console import console, end, warn
from olive_iw.sweeps.status import status as find_status
from olive_iw.sweeps.status import status_table


def status(
    folder: args.Folder, /, file: args.MaybePath = None, json_output: args.Json = False
) -> None:
    """Say which runs are done, running, stopped, failed (and why) or missing.

    Example: olive-iw status runs

    Args:
        folder: Folder of runs.
        file: Sweep file to compare with (default: those that were run into the folder).
        json_output: Print JSON instead of a table.

    """
    found = find_status(folder, file)
    warn(*found.problems)
    if json_output:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        table = status_table(found)
        console.print(table if table.rows else table.title, highlight=False)
    end(len(found.problems))
