"""Small benches, with their processes."""

import json

import pytest

from olive_iw.errors import InputError
from olive_iw.tools import bench as module
from olive_iw.tools.bench import bench
from olive_iw.tools.bench_report import ALL_PARTS, BenchReport, bench_table, load_report


@pytest.fixture(scope="module")
def measured() -> tuple[BenchReport, list[tuple[int, int, str]]]:
    progress: list[tuple[int, int, str]] = []
    report = bench(
        ["breakout"],
        decisions=2,
        calls_per_action=20,
        systems=["rollout-iw", "olive-laptop", "olive-laptop-2"],
        growth=False,
        on_progress=lambda *told: progress.append(told),
    )
    return report, progress


def test_a_report_has_a_row_for_every_system(measured) -> None:
    report, _ = measured
    rows = report.of_kind("planning")
    assert [row.key for row in rows] == [
        ("planning", "breakout", "rollout-iw", 20),
        ("planning", "breakout", "olive-laptop", 20),
        ("planning", "breakout", "olive-laptop-2", 20),
    ]
    for row in rows:
        found = row.figures
        assert found["count"] == 2
        assert 0 < found["calls"] <= 20
        assert found["ratio"] > 0
        assert found["peak_mb"] >= found["start_mb"]
        assert sum(found[part] for part in ALL_PARTS) == pytest.approx(100.0)
    [training] = report.of_kind("training")
    assert training.system == "laptop"
    assert training.figures["median"] > 0
    assert any("laptop" in note for note in report.notes)
    assert {"python", "ale-py", "torch"} <= report.versions.keys()


def test_a_report_can_be_printed_and_saved(measured, tmp_path) -> None:
    report, _ = measured
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report.to_dict()))
    assert load_report(path) == report
    assert len(bench_table(report, against=report)) == 5


def test_workers_and_one_alone_are_timed_in_turn(measured) -> None:
    report, _ = measured
    [row] = report.of_kind("workers")
    assert row.key == ("workers", "breakout", "olive-laptop-2", 2)
    assert row.figures["count"] == 2
    assert min(row.figures["alone_ms"], row.figures["together_ms"], row.figures["low"]) > 0


def test_progress_only_goes_forward_and_ends(measured) -> None:
    _, progress = measured
    done = [step[0] for step in progress]
    assert done == sorted(done)
    assert progress[-1][:2] == (3, 3)
    assert any("olive-laptop in breakout" in step[2] for step in progress)


def test_features_that_a_game_cannot_have_are_an_input_error() -> None:
    with pytest.raises(InputError, match=r"rollout-iw in grid:corridor.*patches"):
        bench(["grid:corridor"], decisions=1, systems=["rollout-iw"])


def test_a_process_that_dies_is_told(monkeypatch) -> None:
    monkeypatch.setattr(module, "_measure_and_send", print)
    with pytest.raises(module.BenchError, match=r"patch-iw in grid:corridor.*exit code 0"):
        bench(["grid:corridor"], decisions=1, systems=["patch-iw"])
