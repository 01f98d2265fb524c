"""Small benches, with their processes."""

import json

import pytest

from olive_iw.errors import InputError
from olive_iw.tools import bench as module
from olive_iw.tools.bench import BenchReport, Progress, bench, bench_table
from olive_iw.tools.bench_report import ALL_PARTS


@pytest.fixture(scope="module")
def measured() -> tuple[BenchReport, list[Progress]]:
    progress: list[Progress] = []
    report = bench(
        ["breakout"],
        decisions=2,
        calls_per_action=20,
        systems=["rollout-iw", "olive-laptop", "olive-laptop-2"],
        growth=False,
        on_progress=progress.append,
    )
    return report, progress


def test_a_report_has_a_row_for_every_system(measured) -> None:
    report, _ = measured
    assert [row.key for row in report.planning] == [
        ("breakout", "rollout-iw", 20),
        ("breakout", "olive-laptop", 20),
        ("breakout", "olive-laptop-2", 20),
    ]
    for row in report.planning:
        assert len(row.samples) == 2
        assert 0 < row.calls <= 40
        assert row.ratio > 0
        assert row.memory_peak >= row.memory_before
        for sample in row.samples:
            assert set(sample.parts) == set(ALL_PARTS)
            assert sum(sample.parts.values()) == pytest.approx(sample.seconds)
    assert [row.profile for row in report.training] == ["laptop"]
    assert report.training[0].images_per_second().median > 0
    assert report.growth == ()
    assert any("laptop" in note for note in report.notes)
    assert {"python", "ale-py", "torch"} <= report.versions.keys()


def test_a_report_can_be_printed_and_saved(measured) -> None:
    report, _ = measured
    assert BenchReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    assert len(bench_table(report, against=report)) == 5


def test_workers_and_one_alone_are_timed_in_turn(measured) -> None:
    report, _ = measured
    [row] = report.speed_ups
    assert (row.game, row.system, row.workers) == ("breakout", "olive-laptop-2", 2)
    assert len(row.alone) == len(row.together) == 2
    assert min(*row.alone, *row.together) > 0


def test_progress_only_goes_forward_and_ends(measured) -> None:
    _, progress = measured
    done = [step.done for step in progress]
    assert done == sorted(done)
    assert progress[-1].done == progress[-1].total
    assert any("olive-laptop in breakout" in step.doing for step in progress)


def test_features_that_a_game_cannot_have_are_an_input_error() -> None:
    with pytest.raises(InputError, match=r"rollout-iw in grid:corridor.*patches"):
        bench(["grid:corridor"], decisions=1, systems=["rollout-iw"])


def test_a_process_that_dies_is_told(monkeypatch) -> None:
    monkeypatch.setattr(module, "_run_and_send", print)
    with pytest.raises(module.BenchError, match=r"grid:corridor, patch-iw.*exit code 0"):
        bench(["grid:corridor"], decisions=1, systems=["patch-iw"])
