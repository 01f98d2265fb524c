"""Bench reports, comparisons and tables on made-up samples; samples of a toy world."""

import json
import math
import os
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from olive_iw.errors import InputError
from olive_iw.features.binary_vae import make_vae
from olive_iw.features.image import IMAGE_SIZE
from olive_iw.planners import RolloutIW
from olive_iw.simulators import make_simulator
from olive_iw.tools import bench_measure
from olive_iw.tools.bench import SYSTEMS, bench, describe_machine
from olive_iw.tools.bench_measure import BenchJob, planning_figures
from olive_iw.tools.bench_report import (
    ALL_PARTS,
    THE_REST,
    BenchReport,
    BenchRow,
    bench_table,
    changes_since,
    judge,
    load_report,
    margin,
    spread,
    why_not_comparable,
)


def sample(ratio: float, calls: int = 100, hits: int = 60) -> dict[str, float]:
    """Decision that takes `ratio` times the bare emulator's 2 ms a call."""
    bare = 0.002 * calls
    return {
        **dict.fromkeys(ALL_PARTS, 0.0),
        "emulator": bare,
        THE_REST: bare * ratio - bare,
        "seconds": bare * ratio,
        "bare_seconds": bare,
        "processor_seconds": bare * ratio,
        "bare_processor_seconds": bare,
        "calls": calls,
        "rollouts": 20,
        "rollout_depth": 90,
        "cache_hits": hits,
        "cache_misses": calls - hits,
        "exhausted": calls < 100,
    }


def planning_row(*ratios: float, **names) -> BenchRow:
    figures = planning_figures([sample(ratio) for ratio in ratios])
    figures |= {"start_mb": 300.0, "peak_mb": 420.0}
    return replace(BenchRow("planning", "breakout", "rollout-iw", 100, figures), **names)


def report(*rows: BenchRow, step_seconds: tuple[float, ...] = (0.1, 0.1, 0.1)) -> BenchReport:
    training = spread([64.0 / seconds for seconds in step_seconds])
    training["step_ms"] = 1e3 * step_seconds[0]
    return BenchReport(
        created="2026-01-02T03:04:05+00:00",
        versions={"olive-iw": "1.2.3", "torch": "2.0"},
        machine={"processor": "p", "cores": 2, "threads": 1, "system": "s", "load": 0.5},
        settings={"seed": 0},
        rows=[
            *rows,
            replace(rows[0], size=10),
            BenchRow("training", "breakout", "laptop", 512, training),
        ],
        notes=["a note"],
    )


def test_spread_gives_quartiles_and_the_margin_of_the_median() -> None:
    found = spread([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found == {"count": 5, "low": 2.0, "median": 3.0, "high": 4.0}
    assert margin(found) == pytest.approx(1.57 * 2.0 / math.sqrt(5))
    assert spread([])["count"] == 0
    assert math.isinf(margin(spread([1.0])))


def test_figures_of_a_row_weigh_decisions_by_their_time() -> None:
    found = planning_figures([sample(1.5), sample(1.0, calls=50, hits=0)])
    assert found["count"] == 2
    assert found["calls"] == 75
    assert found["exhausted"] == 0.5
    assert found["ratio"] == pytest.approx((0.3 + 0.1) / (0.2 + 0.1))
    assert found["processor_ratio"] == pytest.approx(found["ratio"])
    assert found["median"] == pytest.approx(1.25)
    assert found["call_ms"] == pytest.approx(400 / 150)
    assert found["bare_call_ms"] == pytest.approx(2.0)
    assert found["cache_hit_share"] == pytest.approx(60 / 150)
    assert found["rollouts"] == 20
    assert found["depth"] == pytest.approx(4.5)
    assert sum(found[part] for part in ALL_PARTS) == pytest.approx(100.0)
    assert found["emulator"] == pytest.approx(100 * 0.3 / 0.4)


def test_a_decision_without_calls_spoils_nothing() -> None:
    found = planning_figures([sample(1.2), sample(1.2, calls=0, hits=0)])
    assert found["count"] == 1
    assert found["median"] == pytest.approx(1.2)
    assert found["call_ms"] == pytest.approx(2.4)
    assert planning_figures([sample(1.2, calls=0, hits=0)])["ratio"] == 0.0


def saved(path, now: BenchReport):
    path.write_text(json.dumps(now.to_dict(), allow_nan=False))
    return path


def test_report_survives_json(tmp_path) -> None:
    before = report(planning_row(1.1, 1.2), planning_row(3.0, system="olive-paper"))
    assert load_report(saved(tmp_path / "report.json", before)) == before


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"format": 99}', '{"format": 2}', '{"format": 2, "rows": [7]}'),
        '{"format": 2, "rows": [{"kind": "planning", "game": "a", "system": "b", "size": 1, '
        '"figures": {"median": "x"}}]}',
    ],
)
def test_a_file_that_is_no_report_is_an_input_error(tmp_path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"report\.json: "):
        load_report(path)


@pytest.mark.parametrize(
    ("before", "now", "more_is_better", "verdict"),
    [
        ((100, 1.19, 1.20, 1.21), (100, 1.09, 1.10, 1.11), False, "better"),
        ((100, 1.19, 1.20, 1.21), (100, 1.29, 1.30, 1.31), False, "worse"),
        ((100, 1.19, 1.20, 1.21), (100, 1.29, 1.30, 1.31), True, "better"),
        # The same medians, but each may be off by 0.157.
        ((9, 1.00, 1.20, 1.30), (9, 1.20, 1.30, 1.50), False, "noise"),
        # Certain, but too small to matter.
        ((100, 1.20, 1.20, 1.20), (100, 1.21, 1.21, 1.21), False, "noise"),
        # A single sample proves nothing.
        ((1, 1.2, 1.2, 1.2), (1, 9.0, 9.0, 9.0), False, "noise"),
    ],
)
def test_a_change_counts_when_it_is_larger_than_the_spread(
    before: tuple[float, ...], now: tuple[float, ...], more_is_better: bool, verdict: str
) -> None:
    names = ("count", "low", "median", "high")
    spreads = [dict(zip(names, values, strict=True)) for values in (before, now)]
    factor, found = judge(*spreads, more_is_better=more_is_better)
    assert found == verdict
    assert factor == pytest.approx(now[2] / before[2])


def test_compare_pairs_rows_by_game_system_and_budget() -> None:
    before = report(planning_row(1.2, 1.2, 1.2), step_seconds=(0.1,) * 9)
    faster = planning_row(1.1, 1.1, 1.1)
    now = report(faster, planning_row(2.0, 2.0, game="pong"), step_seconds=(0.2,) * 9)
    found = changes_since(now, before)
    assert {key: verdict for key, (_, verdict) in found.items()} == {
        ("planning", "breakout", "rollout-iw", 100): "better",
        ("planning", "breakout", "rollout-iw", 10): "better",
        ("training", "breakout", "laptop", 512): "worse",
    }
    assert why_not_comparable(now, before) == []


def test_compare_warns_of_other_machines_and_versions() -> None:
    before = report(planning_row(1.2))
    now = replace(before, machine={**before.machine, "cores": 8}, settings={"seed": 1})
    now = replace(now, versions={**before.versions, "torch": "3.0"})
    warnings = "\n".join(why_not_comparable(now, before))
    assert "cores 2 before, 8 now" in warnings
    assert "torch 2.0 before, 3.0 now" in warnings
    assert "seed" in warnings
    odd = replace(before, machine={**before.machine, "processor": "[red]\x1b[2J"})
    assert "processor [red]�[2J before" in re.sub(r"\s+", " ", shown(now, odd))


def shown(now: BenchReport, against: BenchReport | None = None) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        for table in bench_table(now, against):
            console.print(table)
    return capture.get()


def test_tables_show_every_row_and_only_what_was_measured() -> None:
    now = report(planning_row(1.25, 1.25), planning_row(4.0, 4.0, system="olive-paper"))
    assert len(bench_table(now)) == 4
    text = shown(now)
    assert "1.25" in text
    assert "olive-paper" in text
    assert "rollout-iw, 10 " in text
    assert "a note" in text
    assert "640.0" in text
    assert "better" not in text
    assert len(bench_table(replace(now, rows=now.of_kind("planning")))) == 3


def test_tables_mark_changes() -> None:
    before, now = report(planning_row(2.0, 2.0)), report(planning_row(1.0, 1.0))
    assert "×0.50 better" in shown(now, before)
    assert "×2.00 worse" in shown(before, now)
    assert "×1.00 noise" in shown(now, now)


def test_a_speed_up_is_the_median_over_the_turns_and_has_its_table() -> None:
    figures = spread([2.0, 1.5, 4.0]) | {"alone_ms": 300.0, "together_ms": 150.0}
    row = BenchRow("workers", "breakout", "olive-laptop-2", 2, figures)
    now = report(planning_row(1.25))
    now = replace(now, rows=[*now.rows, row])
    assert len(bench_table(now)) == 5
    assert "Search workers" in shown(now)
    assert "2.00" in shown(now)


def test_a_sample_has_the_ledgers_counts_and_parts_that_add_up() -> None:
    simulator, bare = make_simulator("grid:corridor"), make_simulator("grid:corridor")
    planner = RolloutIW("patches", bandit="ttts")
    planner.start(simulator, seed=0)
    bare.reset()
    found, calls = bench_measure.time_decision(planner, calls=12)
    found |= bench_measure.time_bare(bare, calls)
    assert found.keys() == sample(1.0).keys()
    assert found["calls"] == planner.ledger.calls > 0
    assert found["rollouts"] == planner.ledger.counters.rollouts
    assert sum(found[part] for part in ALL_PARTS) == pytest.approx(found["seconds"])
    assert found[THE_REST] > 0
    assert found["bare_seconds"] > 0
    # The root's atoms were looked up before the decision.
    assert found["cache_hits"] + found["cache_misses"] == found["calls"]


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
    for _, calls in [bench_measure.time_decision(planner, calls=12) for _ in range(3)]:
        bench_measure.time_bare(bare, calls)
    assert len(simulator.calls) > 12
    assert bare.calls == simulator.calls


def test_episodes_begin_in_the_same_later_state() -> None:
    plain = make_simulator("breakout").reset()
    planner = RolloutIW("patches", bandit="ttts")
    screens = []
    for episode in range(2):
        bench_measure.begin(planner, make_simulator("breakout"), seed=0, episode=episode)
        assert len(planner.tree) == 1
        screens.append(planner.root.screen)
    assert not np.array_equal(screens[0], plain.screen)
    assert np.array_equal(screens[0], screens[1])


def test_an_opening_that_ends_the_game_is_none() -> None:
    world = make_simulator("grid:lava")
    planner = RolloutIW("patches", bandit="ttts")
    for seed in range(20):
        bench_measure.begin(planner, world, seed, 0)
        assert not planner.over


def test_the_stand_in_has_as_many_true_latents_as_it_says() -> None:
    images = np.random.default_rng(0).integers(0, 256, (16, IMAGE_SIZE, IMAGE_SIZE), np.uint8)
    vae = make_vae("paper", 0)
    bench_measure.make_true(vae, images)
    assert vae.encode(images).mean() == pytest.approx(bench_measure.TRUE_SHARE, abs=0.01)


def test_machine_is_described() -> None:
    machine = describe_machine()
    assert machine["cores"] == os.cpu_count()
    assert machine["threads"] == 1
    assert machine["processor"]


def job_of(game: str, system: str, calls: int, seed: int, **more: bool) -> BenchJob:
    flags = {"training": False, "growth": False} | more
    return BenchJob(game, system, SYSTEMS[system], 2, calls, seed, **flags)


def test_a_job_measures_what_it_says() -> None:
    ticks: list[str] = []
    job = job_of("grid:corridor", "patch-iw", 10, 0, training=True, growth=True)
    rows = bench_measure.measure(job, ticks.append)
    assert [(row.kind, row.size, row.figures["count"]) for row in rows] == [
        ("planning", 10, 2),  # which is one of the sizes that show growth
        ("planning", 1000, 2),
    ]
    assert ticks[1:] == ["2 decisions of 10 calls", "2 decisions of 1000 calls"]


def test_same_seed_same_work() -> None:
    job = job_of("breakout", "rollout-iw", 20, 3)
    found = [bench_measure.measure(job, lambda _: None)[0].figures for _ in range(2)]
    counts = ("count", "calls", "rollouts", "rollout_depth", "cache_hits")
    assert [found[0][name] for name in counts] == [found[1][name] for name in counts]
    assert found[0]["count"] == 2


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
