"""Bench reports, comparisons and tables on made-up samples; samples of a toy world."""

import json
import math
import os
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from olive_iw.errors import InputError
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.planners import RolloutIW
from olive_iw.simulators import make_simulator
from olive_iw.tools import bench_encoder, bench_measure
from olive_iw.tools.bench import (
    SYSTEMS,
    BenchReport,
    bench,
    bench_table,
    compare,
    describe_machine,
    latest_report,
    load_report,
    save_history,
)
from olive_iw.tools.bench_compare import judge
from olive_iw.tools.bench_report import (
    ALL_PARTS,
    THE_REST,
    DecisionSample,
    PlanningRow,
    SpeedUpRow,
    Spread,
    TrainingRow,
)
from olive_iw.tools.bench_systems import Job


def sample(ratio: float, calls: int = 100, hits: int = 60) -> DecisionSample:
    """Decision that takes `ratio` times the bare emulator's 2 ms a call."""
    bare = 0.002 * calls
    parts = dict.fromkeys(ALL_PARTS, 0.0)
    parts["emulator"] = bare
    parts[THE_REST] = bare * ratio - bare
    return DecisionSample(
        seconds=bare * ratio,
        bare_seconds=bare,
        processor_seconds=bare * ratio,
        bare_processor_seconds=bare,
        calls=calls,
        rollouts=20,
        rollout_depth=90,
        cache_hits=hits,
        cache_misses=calls - hits,
        exhausted=calls < 100,
        parts=parts,
    )


def planning_row(*ratios: float, game: str = "breakout", system: str = "rollout-iw") -> PlanningRow:
    return PlanningRow(game, system, 100, tuple(sample(ratio) for ratio in ratios), 300.0, 420.0)


def report(*rows: PlanningRow, step_seconds: tuple[float, ...] = (0.1, 0.1, 0.1)) -> BenchReport:
    return BenchReport(
        created="2026-01-02T03:04:05+00:00",
        versions={"olive-iw": "1.2.3", "torch": "2.0"},
        machine={"processor": "p", "cores": 2, "threads": 1, "system": "s", "load": 0.5},
        settings={"seed": 0},
        planning=rows,
        growth=(replace(rows[0], calls_per_action=10),),
        training=(TrainingRow("breakout", "laptop", 512, 64.0, step_seconds),),
        notes=("a note",),
    )


def test_spread_gives_quartiles_and_the_margin_of_the_median() -> None:
    spread = Spread.of([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (spread.count, spread.low, spread.median, spread.high) == (5, 2.0, 3.0, 4.0)
    assert spread.margin == pytest.approx(1.57 * 2.0 / math.sqrt(5))
    assert Spread.of([]).count == 0
    assert math.isinf(Spread.of([1.0]).margin)


def test_summary_of_a_row_weighs_decisions_by_their_time() -> None:
    row = PlanningRow("breakout", "x", 100, (sample(1.5), sample(1.0, calls=50, hits=0)), 1, 2)
    found = row.summary()
    assert found["decisions"] == 2
    assert found["calls_per_decision"] == 75
    assert found["exhausted_share"] == 0.5
    assert row.ratio == pytest.approx((0.3 + 0.1) / (0.2 + 0.1))
    assert row.processor_ratio == pytest.approx(row.ratio)
    assert found["ratios"]["median"] == pytest.approx(1.25)
    assert found["mean_seconds_per_call"] == pytest.approx(0.4 / 150)
    assert found["mean_bare_seconds_per_call"] == pytest.approx(0.002)
    assert found["cache_hit_share"] == pytest.approx(60 / 150)
    assert found["rollouts_per_decision"] == 20
    assert found["mean_depth"] == pytest.approx(4.5)
    assert sum(found["parts"].values()) == pytest.approx(1.0)
    assert found["parts"]["emulator"] == pytest.approx(0.3 / 0.4)


def test_a_decision_without_calls_spoils_nothing() -> None:
    row = PlanningRow("breakout", "x", 100, (sample(1.2), sample(1.2, calls=0, hits=0)), 1, 2)
    assert row.ratios().count == 1
    assert row.ratios().median == pytest.approx(1.2)
    assert row.seconds_per_call().count == 1


def test_report_survives_json() -> None:
    before = report(planning_row(1.1, 1.2), planning_row(3.0, system="olive-paper"))
    text = json.dumps(before.to_dict(), allow_nan=False)
    assert BenchReport.from_dict(json.loads(text)) == before


def test_history_is_named_by_date_and_version_and_found_again(tmp_path) -> None:
    older = report(planning_row(1.1, 1.2))
    newer = replace(older, created="2026-01-03T00:00:00+00:00", notes=())
    assert latest_report(tmp_path) is None
    save_history(newer, tmp_path)
    path = save_history(older, tmp_path)
    assert path == tmp_path / "bench-history" / "2026-01-02T030405-1.2.3.json"
    assert load_report(path) == older
    assert latest_report(tmp_path) == newer


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1}'])
def test_a_file_that_is_no_report_is_an_input_error(tmp_path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(InputError):
        load_report(path)


@pytest.mark.parametrize(
    ("before", "now", "lower_is_better", "verdict"),
    [
        (Spread(100, 1.19, 1.20, 1.21), Spread(100, 1.09, 1.10, 1.11), True, "better"),
        (Spread(100, 1.19, 1.20, 1.21), Spread(100, 1.29, 1.30, 1.31), True, "worse"),
        (Spread(100, 1.19, 1.20, 1.21), Spread(100, 1.29, 1.30, 1.31), False, "better"),
        # The same medians, but each may be off by 0.157.
        (Spread(9, 1.00, 1.20, 1.30), Spread(9, 1.20, 1.30, 1.50), True, "noise"),
        # Certain, but too small to matter.
        (Spread(100, 1.20, 1.20, 1.20), Spread(100, 1.21, 1.21, 1.21), True, "noise"),
        # A single sample proves nothing.
        (Spread(1, 1.2, 1.2, 1.2), Spread(1, 9.0, 9.0, 9.0), True, "noise"),
    ],
)
def test_a_change_counts_when_it_is_larger_than_the_spread(
    before: Spread, now: Spread, lower_is_better: bool, verdict: str
) -> None:
    change = judge(before, now, lower_is_better=lower_is_better)
    assert change is not None
    assert change.verdict == verdict
    assert change.factor == pytest.approx(now.median / before.median)


def test_compare_pairs_rows_by_game_system_and_budget() -> None:
    before = report(planning_row(1.2, 1.2, 1.2), step_seconds=(0.1,) * 9)
    faster = planning_row(1.1, 1.1, 1.1)
    now = report(faster, planning_row(2.0, 2.0, game="pong"), step_seconds=(0.2,) * 9)
    found = compare(now, before)
    assert set(found.planning) == {("breakout", "rollout-iw", 100)}
    assert found.planning["breakout", "rollout-iw", 100].verdict == "better"
    assert found.growth["breakout", "rollout-iw", 10].verdict == "better"
    assert found.training["breakout", "laptop", 512].verdict == "worse"
    assert found.warnings == ()


def test_compare_warns_of_other_machines_and_versions() -> None:
    before = report(planning_row(1.2))
    now = replace(before, machine={**before.machine, "cores": 8}, settings={"seed": 1})
    now = replace(now, versions={**before.versions, "torch": "3.0"})
    warnings = "\n".join(compare(now, before).warnings)
    assert "cores 2 before, 8 now" in warnings
    assert "torch 2.0 before, 3.0 now" in warnings
    assert "seed" in warnings


def shown(now: BenchReport, against: BenchReport | None = None) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        for table in bench_table(now, against):
            console.print(table)
    return capture.get()


def test_tables_show_every_row_and_only_what_was_measured() -> None:
    now = report(planning_row(1.25, 1.25), planning_row(4.0, 4.0, system="olive-paper"))
    assert len(bench_table(now)) == 5
    text = shown(now)
    assert "1.25" in text
    assert "olive-paper" in text
    assert "a note" in text
    assert "640.0" in text
    assert "better" not in text
    assert len(bench_table(replace(now, growth=(), training=()))) == 3


def test_tables_mark_changes() -> None:
    before, now = report(planning_row(2.0, 2.0)), report(planning_row(1.0, 1.0))
    assert "×0.50 better" in shown(now, before)
    assert "×2.00 worse" in shown(before, now)
    assert "×1.00 noise" in shown(now, now)


def test_a_speed_up_is_the_median_over_the_turns_and_has_its_table() -> None:
    row = SpeedUpRow("breakout", "olive-laptop-2", 2, (0.2, 0.3, 0.8), (0.1, 0.2, 0.2))
    assert row.speed_up().median == 2.0
    now = replace(report(planning_row(1.25)), speed_ups=(row,))
    assert len(bench_table(now)) == 6
    assert "Search workers" in shown(now)
    assert "2.00" in shown(now)
    before = now.to_dict()
    assert BenchReport.from_dict(before) == now
    del before["speed_ups"]  # as in reports of the first versions
    assert BenchReport.from_dict(before).speed_ups == ()


def test_a_sample_has_the_ledgers_counts_and_parts_that_add_up() -> None:
    simulator, bare = make_simulator("grid:corridor"), make_simulator("grid:corridor")
    planner = RolloutIW("patches", bandit="ttts")
    planner.start(simulator, seed=0)
    bare.reset()
    found = bench_measure.beside_bare(bench_measure.time_decision(planner, calls=12), bare)
    assert found.calls == planner.ledger.calls > 0
    assert found.rollouts == planner.ledger.counters.rollouts
    assert set(found.parts) == set(ALL_PARTS)
    assert sum(found.parts.values()) == pytest.approx(found.seconds)
    assert found.parts[THE_REST] > 0
    assert found.bare_seconds > 0
    # The root's atoms were looked up before the decision.
    assert found.cache_hits + found.cache_misses == found.calls


class Recorder:
    """A simulator that notes the states its calls start from."""

    def __init__(self, simulator) -> None:
        self._simulator = simulator
        self.calls: list[tuple[object, int]] = []

    def step(self, action: int):
        self.calls.append((self._simulator.save(), action))
        return self._simulator.step(action)

    def __getattr__(self, name: str):
        return getattr(self._simulator, name)


def test_the_bare_simulator_makes_the_same_calls() -> None:
    simulator, bare = (Recorder(make_simulator("grid:corridor")) for _ in range(2))
    planner = RolloutIW("patches", bandit="ttts")
    planner.start(simulator, seed=0)
    bare.reset()
    for decided in [bench_measure.time_decision(planner, calls=12) for _ in range(3)]:
        bench_measure.beside_bare(decided, bare)
    assert len(simulator.calls) > 12
    assert bare.calls == simulator.calls


def test_late_start_begins_in_the_same_later_state() -> None:
    late = bench_measure.LateStart(make_simulator("breakout"), seed=0)
    first = late.reset()
    plain = make_simulator("breakout").reset()
    assert not np.array_equal(first.screen, plain.screen)
    assert first.reward == 0.0
    after = late.step(1)
    again = late.reset()
    np.testing.assert_array_equal(first.screen, again.screen)
    np.testing.assert_array_equal(late.step(1).ram, after.ram)
    assert late.action_count == 4


def test_the_stand_in_has_as_many_true_latents_as_it_says() -> None:
    images = np.random.default_rng(0).integers(0, 256, (16, IMAGE_SIZE, IMAGE_SIZE), np.uint8)
    vae = bench_encoder.paper_stand_in(images, seed=0)
    assert vae.encode(images).mean() == pytest.approx(bench_encoder.TRUE_SHARE, abs=0.01)


def test_machine_is_described() -> None:
    machine = describe_machine()
    assert machine["cores"] == os.cpu_count()
    assert machine["threads"] == 1
    assert machine["processor"]


def test_slow_systems_measure_fewer_decisions_but_never_more_than_asked() -> None:
    slow = SYSTEMS["olive-paper"]
    assert slow.decisions(20) == 4
    assert slow.decisions(5) == 2
    assert slow.decisions(1) == 1
    assert SYSTEMS["rollout-iw"].decisions(20) == 20


def test_run_ticks_as_often_as_its_job_says() -> None:
    job = Job("grid:corridor", "patch-iw", 2, 10, 0, training=True, growth=True)
    ticks: list[str] = []
    found = bench_measure.run(job, ticks.append)
    assert len(ticks) == job.ticks
    assert [row.calls_per_action for row in found.growth] == [10, 100, 1000]
    assert len(found.planning.samples) == 2
    assert found.training is None


def test_same_seed_same_work() -> None:
    job = Job("breakout", "rollout-iw", 2, 20, 3, training=False, growth=False)
    found = [bench_measure.run(job, lambda _: None).planning.samples for _ in range(2)]
    counts = [[(s.calls, s.rollouts, s.rollout_depth, s.cache_hits) for s in one] for one in found]
    assert counts[0] == counts[1]
    assert len(counts[0]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": ["brekout"]}, "breakout"),
        ({"games": []}, "at least one game"),
        ({"games": ["breakout", "breakout"]}, "twice"),
        ({"games": ["breakout"], "systems": ["olive-labtop"]}, "olive-laptop"),
        ({"games": ["breakout"], "decisions": 0}, "decisions"),
        ({"games": ["breakout"], "calls_per_action": 0}, "calls_per_action"),
    ],
)
def test_bad_arguments_are_input_errors(arguments, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bench(**arguments)
