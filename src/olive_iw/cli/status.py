"""`olive-iw status`."""

import json
from typing import Annotated

from olive_iw.cli.arguments import File, Folder, Json, Shown
from olive_iw.cli.console import console, end, warn
from olive_iw.sweeps.status import status as find_status
from olive_iw.sweeps.status import status_table


def status(
    folder: Folder,
    /,
    file: Annotated[File | None, Shown("FILE", "those that were run into the folder")] = None,
    json_output: Json = False,
) -> None:
    """Say which runs are done, running, stopped, failed (and why) or missing.

    Example: olive-iw status runs

    Args:
        folder: Folder of runs.
        file: Sweep file to compare with.
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
