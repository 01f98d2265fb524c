"""Small benches, with their processes."""

import pytest

from olive_iw.cli import bench_measure as module
from olive_iw.cli.bench import BenchRow, measure_all
from olive_iw.cli.bench_measure import ALL_PARTS
from olive_iw.errors import InputError


@pytest.fixture(scope="module")
def measured() -> list[BenchRow]:
    systems = ["rollout-iw", "olive", "olive-2-workers"]
    return list(measure_all(["breakout"], decisions=2, calls_per_action=20, systems=systems))


def test_there_is_a_row_for_every_system(measured) -> None:
    assert [row.system for row in measured] == ["rollout-iw", "olive", "olive-2-workers"]
    for row in measured:
        found = row.figures
        assert found["count"] == 2
        assert 0 < found["calls"] <= 20
        assert found["ratio"] > 0
        assert found["peak_mb"] > 0
        assert sum(found[part] for part in ALL_PARTS) == pytest.approx(100.0)


def test_features_that_a_game_cannot_have_are_an_input_error() -> None:
    with pytest.raises(InputError, match=r"rollout-iw in grid:corridor.*patches"):
        list(measure_all(["grid:corridor"], decisions=1, systems=["rollout-iw"]))


def test_a_process_that_dies_is_told(monkeypatch) -> None:
    monkeypatch.setattr(module, "_send", print)
    with pytest.raises(module.BenchError, match=r"patch-iw in grid:corridor.*exit code 0"):
        list(measure_all(["grid:corridor"], decisions=1, systems=["patch-iw"]))
