"""Bench reports on made-up samples; samples of a toy world."""

import json
import os

import numpy as np
import pytest

from olive_iw.cli import bench_measure
from olive_iw.cli.bench import BenchReport, BenchRow, describe_machine, measure_all
from olive_iw.cli.bench_measure import (
    ALL_PARTS,
    THE_REST,
    BenchJob,
    planner_of,
    planning_figures,
    spread,
)
from olive_iw.errors import InputError
from olive_iw.planners import RolloutIW
from olive_iw.simulators import make_simulator


def sample(ratio: float, calls: int = 100) -> dict[str, float]:
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
    }


def report(*ratios: float) -> BenchReport:
    figures = planning_figures([sample(ratio) for ratio in ratios]) | {"peak_mb": 420.0}
    row = BenchRow("breakout", "rollout-iw", 100, figures)
    return BenchReport({"olive-iw": "1.2.3"}, {"processor": "p", "cores": 2}, 0, [row])


def test_spread_gives_quartiles() -> None:
    found = spread([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found == {"count": 5, "low": 2.0, "median": 3.0, "high": 4.0}
    assert spread([])["count"] == 0


def test_figures_of_a_row_weigh_decisions_by_their_time() -> None:
    found = planning_figures([sample(1.5), sample(1.0, calls=50)])
    assert found["count"] == 2
    assert found["calls"] == 75
    assert found["ratio"] == pytest.approx((0.3 + 0.1) / (0.2 + 0.1))
    assert found["processor_ratio"] == pytest.approx(found["ratio"])
    assert found["median"] == pytest.approx(1.25)
    assert found["call_ms"] == pytest.approx(400 / 150)
    assert found["bare_call_ms"] == pytest.approx(2.0)
    assert found["rollouts"] == 20
    assert found["depth"] == pytest.approx(4.5)
    assert sum(found[part] for part in ALL_PARTS) == pytest.approx(100.0)
    assert found["emulator"] == pytest.approx(100 * 0.3 / 0.4)


def test_a_decision_without_calls_spoils_nothing() -> None:
    found = planning_figures([sample(1.2), sample(1.2, calls=0)])
    assert found["count"] == 1
    assert found["median"] == pytest.approx(1.2)
    assert found["call_ms"] == pytest.approx(2.4)
    assert planning_figures([sample(1.2, calls=0)])["ratio"] == 0.0


def test_tables_show_the_ratio_and_the_parts() -> None:
    times, parts = report(1.25, 1.25).tables()
    text = times.as_text(100)
    assert "breakout, rollout-iw" in text
    assert "1.25–1.25" in text
    assert "cores 2; " not in text
    assert "processor p, cores 2" in text
    assert list(parts.columns[1:]) == list(ALL_PARTS)
    shares = [float(cell.text) for cell in parts.rows[0][1:]]
    assert sum(shares) == pytest.approx(100.0)


def test_a_report_is_json() -> None:
    told = json.loads(json.dumps(report(1.1).to_dict(), allow_nan=False))
    assert told["format"] == 3
    assert told["rows"][0]["figures"]["ratio"] == pytest.approx(1.1)


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


def test_machine_is_described() -> None:
    machine = describe_machine()
    assert machine["cores"] == os.cpu_count()
    assert machine["threads"] == 1
    assert machine["processor"]


def test_same_seed_same_work() -> None:
    job = BenchJob("breakout", "rollout-iw", 1, 2, 20, 3)
    found = [bench_measure.measure(job) for _ in range(2)]
    counts = ("count", "calls", "rollouts", "rollout_depth")
    assert [found[0][name] for name in counts] == [found[1][name] for name in counts]
    assert found[0]["count"] == 2


def test_the_planner_is_the_algorithms_own_on_features_that_have_learned(monkeypatch) -> None:
    monkeypatch.setattr(bench_measure, "TRAINING_CALLS", 40)
    planner = planner_of(BenchJob("grid:collect", "olive", 1, 2, 20, 3))
    assert type(planner.features).__name__ == "BinaryVae"
    planner.start(make_simulator("grid:collect"), seed=0)
    assert planner.decide(20).calls > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": ["brekout"]}, "breakout"),
        ({"games": []}, "at least one game"),
        ({"games": ["breakout", "breakout"]}, "twice"),
        ({"games": ["breakout"], "systems": ["olive-pluss"]}, "olive-plus"),
        ({"games": ["breakout"], "decisions": 0}, "decisions"),
        ({"games": ["breakout"], "calls_per_action": 0}, "calls_per_action"),
    ],
)
def test_bad_arguments_are_input_errors(arguments, message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure_all(**arguments)
