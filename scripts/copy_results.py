"""Copy finished runs compactly to where results are published.

    python scripts/copy_results.py runs/five-minute results/five-minute --commit COMMIT

A copy has all that proves a run's scores and no checkpoint: a few kilobytes that report, compare,
verify, video, gif and view read like the run itself.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from olive_iw.errors import InputError
from results_page.copies import copy_runs


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments, copy, and say what came of it; exit code 1 if runs were refused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path, help="folder of runs")
    parser.add_argument(
        "results",
        type=Path,
        help="folder of the copies, named after their protocol: five-minute (at most 1,200 actions "
        "an episode) or paper (18,000)",
    )
    parser.add_argument(
        "--commit", required=True, help="commit of the repository that the runs were made with"
    )
    given = parser.parse_args(arguments)
    try:
        done = copy_runs(given.runs, given.results, given.commit)
    except InputError as error:
        sys.exit(str(error))
    for path in done.new:
        print(f"wrote {path}")
    for problem in done.problems:
        print(f"warning: {problem}", file=sys.stderr)
    print(f"{len(done.new)} copied, {done.there} there before, {done.unfinished} not finished")
    sys.exit(1 if done.problems else 0)


if __name__ == "__main__":
    main()
