"""Small benches, with their processes."""

import pytest

from olive_iw.cli import bench_measure as module
from olive_iw.cli.bench import BenchReport, measure_all
from olive_iw.cli.bench_measure import ALL_PARTS
from olive_iw.errors import InputError


@pytest.fixture(scope="module")
def measured() -> tuple[BenchReport, list[tuple[int, int, str]]]:
    progress: list[tuple[int, int, str]] = []
    report = measure_all(
        ["breakout"],
        decisions=2,
        calls_per_action=20,
        systems=["rollout-iw", "olive", "olive-2-workers"],
        on_progress=lambda *told: progress.append(told),
    )
    return report, progress


def test_a_report_has_a_row_for_every_system(measured) -> None:
    report, _ = measured
    assert [row.system for row in report.rows] == ["rollout-iw", "olive", "olive-2-workers"]
    for row in report.rows:
        found = row.figures
        assert found["count"] == 2
        assert 0 < found["calls"] <= 20
        assert found["ratio"] > 0
        assert found["peak_mb"] > 0
        assert sum(found[part] for part in ALL_PARTS) == pytest.approx(100.0)
    assert {"python", "ale-py", "torch"} <= report.versions.keys()
    assert len(report.tables()) == 2


def test_progress_only_goes_forward_and_ends(measured) -> None:
    _, progress = measured
    assert [step[:2] for step in progress] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert progress[1][2] == "olive in breakout"


def test_features_that_a_game_cannot_have_are_an_input_error() -> None:
    with pytest.raises(InputError, match=r"rollout-iw in grid:corridor.*patches"):
        measure_all(["grid:corridor"], decisions=1, systems=["rollout-iw"])


def test_a_process_that_dies_is_told(monkeypatch) -> None:
    monkeypatch.setattr(module, "_send", print)
    with pytest.raises(module.BenchError, match=r"patch-iw in grid:corridor.*exit code 0"):
        measure_all(["grid:corridor"], decisions=1, systems=["patch-iw"])
