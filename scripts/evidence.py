"""Make the pages of this project's own results from compact copies of runs.

    python scripts/evidence.py results/five-minute

writes docs/results.md, docs/results-by-game.md and docs/results-calls.md, their pictures, and the
files of numbers in results/tables.
"""

import argparse
import sys
from pathlib import Path

from olive_iw.errors import InputError
from results_page import write_pages

DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    """Read the arguments, write the pages, and say which files that made."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "folder", type=Path, help="what copy_results.py copied, named by its protocol"
    )
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the pages")
    parser.add_argument("--numbers", type=Path, help="folder of the CSV files (default: tables)")
    given = parser.parse_args()
    try:
        written = write_pages(given.folder, given.docs, given.numbers)
    except InputError as error:
        sys.exit(str(error))
    for path in written:
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
