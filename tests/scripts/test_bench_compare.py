"""Two benches are compared by their medians, and noise is called noise."""

import json
import math
from dataclasses import replace

import pytest

from bench_compare import comparison, judge, load_report, margin, why_not_comparable
from olive_iw.cli.bench import BenchReport, BenchRow
from olive_iw.cli.bench_measure import spread
from olive_iw.errors import InputError


def row(*ratios: float, **names) -> BenchRow:
    return replace(BenchRow("breakout", "rollout-iw", 100, spread(ratios)), **names)


def report(*rows: BenchRow) -> BenchReport:
    machine = {"processor": "p", "cores": 2, "threads": 1, "system": "s", "load": 0.5}
    return BenchReport({"olive-iw": "1.2.3", "torch": "2.0"}, machine, 0, list(rows))


def test_the_margin_of_a_median_is_the_notch_of_a_box_plot() -> None:
    found = spread([1.0, 2.0, 3.0, 4.0, 5.0])
    assert margin(found) == pytest.approx(1.57 * 2.0 / math.sqrt(5))
    assert math.isinf(margin(spread([1.0])))


def test_a_report_is_read_as_it_was_printed(tmp_path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report(row(1.1, 1.2)).to_dict()))
    assert load_report(path) == report(row(1.1, 1.2))


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"format": 99}', '{"format": 3}', '{"format": 3, "rows": [7]}'),
        '{"format": 3, "rows": [{"game": "a", "system": "b", "figures": {"median": "x"}}]}',
    ],
)
def test_a_file_that_is_no_report_is_an_input_error(tmp_path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"report\.json: "):
        load_report(path)


@pytest.mark.parametrize(
    ("before", "now", "verdict"),
    [
        ((100, 1.19, 1.20, 1.21), (100, 1.09, 1.10, 1.11), "better"),
        ((100, 1.19, 1.20, 1.21), (100, 1.29, 1.30, 1.31), "worse"),
        # The same medians, but each may be off by 0.157.
        ((9, 1.00, 1.20, 1.30), (9, 1.20, 1.30, 1.50), "noise"),
        # Certain, but too small to matter.
        ((100, 1.20, 1.20, 1.20), (100, 1.21, 1.21, 1.21), "noise"),
        # A single sample proves nothing.
        ((1, 1.2, 1.2, 1.2), (1, 9.0, 9.0, 9.0), "noise"),
    ],
)
def test_a_change_counts_when_it_is_larger_than_the_spread(
    before: tuple[float, ...], now: tuple[float, ...], verdict: str
) -> None:
    names = ("count", "low", "median", "high")
    spreads = [dict(zip(names, values, strict=True)) for values in (before, now)]
    factor, found = judge(*spreads)
    assert found == verdict
    assert factor == pytest.approx(now[2] / before[2])


def test_rows_are_paired_by_game_system_and_calls() -> None:
    before = report(row(1.2, 1.2, 1.2), row(1.0, 1.0, calls_per_action=10))
    now = report(row(1.1, 1.1, 1.1), row(1.0, 1.0, calls_per_action=10), row(2.0, game="pong"))
    found = [[cell.text for cell in line] for line in comparison(before, now).rows]
    assert found == [
        ["rollout-iw in breakout", "better", "1.200", "1.100", "×0.917"],
        ["rollout-iw in breakout", "noise", "1.000", "1.000", "×1.000"],
    ]
    assert why_not_comparable(now, before) == []


def test_other_machines_versions_and_seeds_are_told() -> None:
    before = report(row(1.2))
    now = replace(before, machine={**before.machine, "cores": 8, "load": 3.0}, seed=1)
    now = replace(now, versions={**before.versions, "torch": "3.0"})
    assert why_not_comparable(now, before) == [
        "another version: torch 2.0 before, 3.0 now",
        "another machine: cores 2 before, 8 now",
        "another seed: seed 0 before, 1 now",
    ]
