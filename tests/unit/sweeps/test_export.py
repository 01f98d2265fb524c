import csv
import importlib.util
import json
import sys

import numpy as np
import pytest

from olive_iw.errors import InputError
from olive_iw.files import write_json
from olive_iw.runs.config import to_toml
from olive_iw.runs.events import EvaluationEpisodeDone, TrainingEpisodeDone, append_event
from olive_iw.runs.folder import find_runs
from olive_iw.sweeps.export import COLUMNS, export, load_index
from olive_iw.sweeps.file import parse_sweep


def make_run(out, game="pong", algorithm="olive", scores=(1.0, 2.0), finished=True):
    text = f'games = "{game}"\nalgorithms = "{algorithm}"\ntraining_calls = 7'
    (planned,) = parse_sweep(text, out)
    folder = planned.folder
    (folder / "episodes").mkdir(parents=True)
    config = planned.config.to_dict()
    (folder / "config.toml").write_text(to_toml(config))
    for number, score in enumerate(scores):
        fields = {
            **{name: config[name] for name in ("game", "algorithm", "profile", "seed", "versions")},
            "episode": number,
            "score": score,
            "actions": [0] * 5,
            "rewards": [0.0] * 5,
            "calls": 50,
            "seconds": 2.5,
            "ended": "game over",
        }
        write_json(folder / "episodes" / f"evaluation-{number:04d}.json", fields)
        event = EvaluationEpisodeDone(number, score, 5, 50, 2.5, "game over")
        append_event(folder / "events.jsonl", event)
    if finished:
        names = ("game", "algorithm", "profile", "seed", "max_actions")
        result = {name: config[name] for name in names}
        result |= {"scores": list(scores), "training_calls": 7, "calls_per_action": 100}
        result |= {"seconds_per_action": 0.5}
        write_json(folder / "result.json", result)
    return folder


def test_one_row_per_evaluation_episode(tmp_path):
    make_run(tmp_path, "pong")
    make_run(tmp_path, "breakout", "patch-iw", scores=(9.0,), finished=False)
    index = load_index(tmp_path)
    assert list(index) == list(COLUMNS)
    assert index["game"].tolist() == ["breakout", "pong", "pong"]
    assert index["score"].tolist() == [9.0, 1.0, 2.0]
    assert index["episode"].tolist() == [0, 0, 1]
    assert index["actions"].tolist() == [5, 5, 5]
    assert index["finished"].tolist() == [False, True, True]
    assert index["training_calls"].tolist() == [0, 7, 7], (
        "an algorithm that learns nothing has none"
    )
    assert index["calls_per_action"].tolist() == [100, 100, 100]
    assert index["max_actions"].tolist() == [18000] * 3
    assert index["folder"][1] == "pong/olive-laptop/seed-0"
    assert index["score"].dtype == np.float64
    assert index["seed"].dtype == np.int64


def test_an_episodes_own_file_counts_whatever_the_events_say(tmp_path):
    folder = make_run(tmp_path, scores=(1.0, 2.0, 3.0))
    lines = (folder / "events.jsonl").read_text().splitlines(keepends=True)
    forged = lines[0].replace('"score": 1.0', '"score": 100.0')
    assert forged != lines[0]
    (folder / "events.jsonl").write_text(forged + lines[1][:40])
    index = load_index(tmp_path)
    assert index["score"].tolist() == [1.0, 2.0, 3.0]
    assert index["actions"].tolist() == [5, 5, 5]


def test_an_episode_that_cannot_be_read_has_no_row(tmp_path):
    folder = make_run(tmp_path, scores=(1.0, 2.0))
    (folder / "episodes" / "evaluation-0000.json").write_text("{")
    assert load_index(tmp_path)["episode"].tolist() == [1]


def test_an_event_without_its_episode_does_not_count(tmp_path):
    folder = make_run(tmp_path)
    (folder / "episodes" / "evaluation-0001.json").unlink()
    assert load_index(tmp_path)["score"].tolist() == [1.0]


def test_training_episodes_are_left_out(tmp_path):
    folder = make_run(tmp_path, scores=(4.0,))
    done = TrainingEpisodeDone(0, 99.0, 1, 1, 1, 1, 1, 1.0, 1.0, None, None, 0.0, 1.0)
    append_event(folder / "events.jsonl", done)
    write_json(folder / "episodes" / "training-0000.json", {"score": 99.0})
    assert load_index(tmp_path)["score"].tolist() == [4.0]


def test_a_folder_without_runs_is_an_empty_table(tmp_path):
    index = load_index(tmp_path)
    assert {len(column) for column in index.values()} == {0}
    with pytest.raises(InputError, match="is not a folder"):
        load_index(tmp_path / "none")


def test_run_folders_are_found_at_any_depth_and_not_inside_runs(tmp_path):
    first = make_run(tmp_path / "width=2", "pong")
    second = make_run(tmp_path, "alien")
    (first / "checkpoint").mkdir()
    (first / "checkpoint" / "config.toml").write_text("")
    found = {run.path: run.name for run in find_runs(tmp_path)}
    assert found == {
        second: "alien/olive-laptop/seed-0",
        first: "width=2/pong/olive-laptop/seed-0",
    }
    assert [(run.path, run.name) for run in find_runs(first)] == [(first, "seed-0")]


def test_csv(tmp_path):
    make_run(tmp_path / "runs")
    path = tmp_path / "table.csv"
    assert export(tmp_path / "runs", path) == (2, [])
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["score"] for row in rows] == ["1.0", "2.0"]
    assert rows[0]["game"] == "pong"
    assert list(rows[0]) == list(COLUMNS)


def test_parquet_without_pyarrow_names_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    make_run(tmp_path / "runs")
    with pytest.raises(InputError, match="pyarrow"):
        export(tmp_path / "runs", tmp_path / "table.parquet")


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is optional")
def test_parquet(tmp_path):
    import pyarrow.parquet

    make_run(tmp_path / "runs")
    export(tmp_path / "runs", tmp_path / "table.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "table.parquet").to_pydict()
    assert table["score"] == [1.0, 2.0]
    assert table["game"] == ["pong", "pong"]


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"should end in \.csv or \.parquet"):
        export(tmp_path, tmp_path / "table.xlsx")


def test_result_files_that_are_torn_fall_back_to_the_configuration(tmp_path):
    folder = make_run(tmp_path)
    (folder / "result.json").write_text(json.dumps({"game": "pong"})[:5])
    index = load_index(tmp_path)
    assert index["game"].tolist() == ["pong", "pong"]
    assert index["training_calls"].tolist() == [7, 7]
