"""Compare two benches, and say whether a change of speed is more than noise.

olive-iw bench --json > before.json    # then the change, then the same again > after.json
python scripts/bench_compare.py before.json after.json
"""

import argparse
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from olive_iw.cli.bench import BenchReport, BenchRow
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.reading import fill, read_json
from olive_iw.tables import Cell, Table

LEAST_CHANGE = 0.03
"""Smaller changes are called noise whatever their spread: machines drift by as much."""
Figures = Mapping[str, float]


def load_report(path: Path) -> BenchReport:
    """Read what `olive-iw bench --json` printed; a file that is no report is an `InputError`."""
    fields = read_json(path)
    rows: Any = fields.get("rows")
    is_report = fields.get("format") == 3 and isinstance(rows, list)
    if not is_report or not all(isinstance(row, dict) for row in rows):
        raise DamagedFileError(path, "is not a bench report of format 3")
    return fill(BenchReport, fields, path, rows=[fill(BenchRow, row, path) for row in rows])


def judge(before: Figures, now: Figures) -> tuple[float, str]:
    """Compare two spreads: a change is noise if it is small, or if the medians' margins overlap."""
    change, factor = now["median"] - before["median"], now["median"] / before["median"]
    if abs(factor - 1.0) < LEAST_CHANGE or abs(change) <= margin(before) + margin(now):
        return factor, "noise"
    return factor, "better" if change < 0 else "worse"


def margin(figures: Figures) -> float:
    """How far a median may be off: the notch of a box plot, 1.57 · quartile range / √n.

    Two medians whose notches do not overlap differ with about 95% confidence (McGill et al.
    1978). A single sample says nothing about its spread: its margin is infinite.
    """
    if figures["count"] < 2:
        return math.inf
    return 1.57 * (figures["high"] - figures["low"]) / math.sqrt(figures["count"])


def why_not_comparable(now: BenchReport, before: BenchReport) -> list[str]:
    """Say what else differs between two reports."""
    sides: list[tuple[str, Mapping[str, object], Mapping[str, object]]] = [
        ("version", before.versions, now.versions),
        *(
            ("machine", {name: before.machine.get(name)}, {name: now.machine.get(name)})
            for name in ("processor", "cores")
        ),
        ("seed", {"seed": before.seed}, {"seed": now.seed}),
    ]
    return [
        f"another {kind}: {name} {there.get(name)} before, {here[name]} now"
        for kind, there, here in sides
        for name in here
        if there.get(name) != here[name]
    ]


def comparison(before: BenchReport, now: BenchReport) -> Table:
    """Lay out the rows that two reports share, with the median ratio in processor time of each."""
    earlier = {(row.game, row.system, row.calls_per_action): row.figures for row in before.rows}
    rows = []
    for row in now.rows:
        was = earlier.get((row.game, row.system, row.calls_per_action))
        if was and was["median"] > 0:
            factor, verdict = judge(was, row.figures)
            ratios = (Cell(f"{figures['median']:.3f}") for figures in (was, row.figures))
            names = Cell(f"{row.system} in {row.game}"), Cell(verdict)
            rows.append([*names, *ratios, Cell(f"×{factor:.3f}")])
    columns = ("system", "verdict", "before", "now", "change")
    notes = why_not_comparable(now, before)
    return Table("CPU ratio, median", columns, rows, notes, left=frozenset({0, 1}))


def main() -> None:
    """Compare the two files that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("now", type=Path)
    given = parser.parse_args()
    try:
        print(comparison(load_report(given.before), load_report(given.now)).as_text())
    except InputError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
