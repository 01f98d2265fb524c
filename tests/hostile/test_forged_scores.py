"""A score that was not made by the run in whose folder it stands is neither confirmed nor shown."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle import shortest_plan
from strangers import Said, change, copy_run

from olive_iw.errors import DamagedFileError
from olive_iw.reports.results import read_results
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import read_episode
from olive_iw.runs.verification import Outcome, verify_folder
from olive_iw.simulators import make_simulator

FIRST = "episodes/evaluation-0000.json"


def replayable(game: str, actions: list[int], **options: Any) -> dict[str, Any]:
    """Fields of an episode that a replay confirms."""
    simulator = make_simulator(game, **options)
    simulator.reset()
    rewards, terminal = [], False
    for action in actions:
        step = simulator.step(action)
        rewards.append(step.reward)
        terminal = step.terminal
    ended = "game over" if terminal else "action limit"
    return {"actions": actions, "rewards": rewards, "score": sum(rewards), "ended": ended} | {
        "values": None
    }


def forge(folder: Path, fields: dict[str, Any]) -> None:
    """Change an episode, and the result with it."""
    change(folder / FIRST, **fields)
    scores = json.loads((folder / "result.json").read_text())["scores"]
    score = json.loads((folder / FIRST).read_text())["score"]
    change(folder / "result.json", scores=[score, *scores[1:]])


def plan() -> list[int]:
    return list(shortest_plan("key-door"))


FORGERIES: dict[str, Callable[[], dict[str, Any]]] = {
    "another game": lambda: {"game": "grid:key-door"} | replayable("grid:key-door", plan()),
    "another algorithm": lambda: {"algorithm": "uct"},
    "another profile": lambda: {"profile": "paper"},
    "another variant": lambda: {"variant": "calls_per_action=1000000"},
    "another seed": lambda: {"seed": 7},
    "another phase": lambda: {"phase": "training"},
    "another number": lambda: {"episode": 1},
    "another game of an episode": lambda: {"game_number": 3},
    "too many actions": lambda: replayable("grid:corridor", [0, 1] * 4),
    "options of the simulator": lambda: {"simulator_options": {"mode": 4}},
    "another beginning": lambda: {"start_actions": [1, 1, 1]},
    "no action at all": lambda: replayable("grid:corridor", []),
    "fewer actions": lambda: replayable("grid:corridor", [0, 0, 0]),
    "calls that are said to be spent": lambda: (
        replayable("grid:corridor", [0]) | {"ended": "calls spent"}
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_an_episode_that_is_not_the_runs_contradicts(
    forgery: str, good: Path, bad: Path, command: Callable[..., Said]
) -> None:
    forge(bad, FORGERIES[forgery]())
    found = {one.path: one for one in verify_folder(bad)}
    assert found[bad / FIRST].outcome is Outcome.CONTRADICTS, found
    verified = command("verify", bad.parent)
    assert verified.code == 1
    assert "contradicts its run" in " ".join(verified.out.split())
    results = read_results([bad.parent])
    assert bad / FIRST not in [row.path for row in results.episodes]
    assert sum(row.path.is_relative_to(good) for row in results.episodes) == 2
    shown = command("report", bad.parent)
    assert shown.code == 1
    assert "contradicts its run" in shown.err


@pytest.mark.parametrize("actions", [[], [0], [0, 1, 0]])
@pytest.mark.parametrize("ended", [None, "game over", "action limit", "calls spent", "tea time"])
def test_an_episode_that_simply_stops_is_never_confirmed(
    ended: str | None, actions: list[int], bad: Path, command: Callable[..., Said]
) -> None:
    forge(bad, replayable("grid:corridor", actions) | {"ended": ended})
    found = {one.path: one for one in verify_folder(bad)}
    assert found[bad / FIRST].outcome in (Outcome.CONTRADICTS, Outcome.DIFFERS)
    assert command("verify", bad).code == 1
    assert [run.proof for run in read_results([bad]).runs] in (["contradicts"], ["not verified"])


def test_a_game_that_is_over_before_the_limit_is_whole(bad: Path) -> None:
    over = replayable("grid:key-door", plan())
    for path in (*bad.glob("episodes/*.json"), bad / "result.json"):
        change(path, game="grid:key-door")
    change(bad / "episodes" / "evaluation-0001.json", **replayable("grid:key-door", [0] * 99))
    config, limit = bad / "config.toml", 99
    text = config.read_text().replace("grid:corridor", "grid:key-door")
    config.write_text(text.replace("max_actions = 6", f"max_actions = {limit}"))
    change(bad / "result.json", max_actions=limit, scores=[0.0, 0.0])
    for ended in ("game over", None):
        forge(bad, over | {"ended": ended})
        assert [one.outcome for one in verify_folder(bad)] == [Outcome.CONFIRMED] * 2
    forge(bad, over | {"ended": "action limit"})
    assert verify_folder(bad)[0].outcome is not Outcome.CONFIRMED


def test_a_limit_that_nobody_knows_confirms_nothing(bad: Path) -> None:
    (bad / "config.toml").unlink()
    change(bad / "result.json", max_actions=None)
    assert not any(one.confirmed for one in verify_folder(bad))


@pytest.mark.parametrize("line", ["max_actions = 0", "episodes = 0", "max_actions = -6"])
def test_impossible_lengths_are_refused_also_of_unknown_algorithms(line: str, bad: Path) -> None:
    config = bad / "config.toml"
    name = line.partition(" ")[0]
    text = re.sub(rf"(?m)^{name} = .*$", line, config.read_text())
    config.write_text(text.replace('"patch-iw"', '"of-a-stranger"'))
    with pytest.raises(DamagedFileError, match=f"{name} .* is not possible"):
        RunFolder(bad).identity()


TWICE = ['action_set = "full"', "calls_per_action = 100", "frame_skip = 4", "width = 2", "fit = 3"]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("line", TWICE)
def test_a_configuration_that_says_two_things_is_refused(
    line: str, known: bool, bad: Path, command: Callable[..., Said]
) -> None:
    config = bad / "config.toml"
    text = config.read_text() if known else config.read_text().replace('"patch-iw"', '"of-another"')
    config.write_text(f"{line}\n{text}")
    found = {one.path: one for one in verify_folder(bad)}
    assert found[config].outcome is Outcome.UNREADABLE
    assert "says two things" in found[config].message
    assert command("verify", bad).code == 1
    for read in (RunFolder(bad).config, RunFolder(bad).identity):
        with pytest.raises(DamagedFileError, match="says two things"):
            read()


def test_options_that_say_what_stands_above_are_refused(bad: Path) -> None:
    config = bad / "config.toml"
    text = config.read_text().replace('"patch-iw"', '"of-another"')
    config.write_text(text.replace("[search]", "[search]\nmax_actions = 60"))
    with pytest.raises(DamagedFileError, match="says two things"):
        RunFolder(bad).identity()


def test_entries_of_json_stand_there_once(bad: Path) -> None:
    path = bad / FIRST
    path.write_text(path.read_text().replace('"score"', '"score": 9, "score"'))
    with pytest.raises(DamagedFileError, match="twice"):
        read_episode(path)


def test_atari_with_another_frame_skip_contradicts(bad: Path) -> None:
    fields = replayable("breakout", [1, 0], frame_skip=4)
    for path in (*bad.glob("episodes/*.json"), bad / "result.json"):
        change(path, game="breakout", frame_skip=15)
    config = bad / "config.toml"
    config.write_text(config.read_text().replace("grid:corridor", "breakout"))
    forge(bad, fields | {"frame_skip": 4})
    found = {one.path: one for one in verify_folder(bad)}
    assert found[bad / FIRST].outcome is Outcome.CONTRADICTS
    assert "frame_skip 4, but 15" in found[bad / FIRST].message


def test_one_episode_copied_counts_once(bad: Path) -> None:
    second = bad / "episodes" / "evaluation-0001.json"
    shutil.copy(bad / FIRST, second)
    change(second, episode=1)
    score = json.loads(second.read_text())["score"]
    change(bad / "result.json", scores=[score, score])
    found = {one.path: one for one in verify_folder(bad)}
    assert found[bad / FIRST].outcome is Outcome.CONFIRMED
    assert found[second].outcome is Outcome.CONTRADICTS
    assert "copy of evaluation-0000" in found[second].message
    assert [row.episode for row in read_results([bad]).episodes] == [0]


def test_the_same_actions_in_two_long_episodes_are_worth_a_word(bad: Path) -> None:
    actions = [0, 1] * 15
    config = bad / "config.toml"
    config.write_text(config.read_text().replace("max_actions = 6", "max_actions = 30"))
    for number in (0, 1):
        path = bad / "episodes" / f"evaluation-000{number}.json"
        change(path, **replayable("grid:corridor", actions), seconds=1.0 + number)
    change(bad / "result.json", max_actions=30, scores=[0.0, 0.0])
    found = verify_folder(bad)
    assert [one.outcome for one in found] == [Outcome.CONFIRMED, Outcome.CONFIRMED]
    assert any("has the same actions as evaluation-0000" in line for line in found[0].warnings)


@pytest.mark.parametrize(
    ("change_result", "says"),
    [
        ({"scores": [1e6, 1e6]}, "score 1e+06 of episode 0"),
        ({"scores": [0.0, 0.0, 1e6]}, "3 scores of a run of 2 episodes"),
        ({"game": "breakout"}, "game 'breakout', but 'grid:corridor'"),
        ({"calls_per_action": 1}, "calls_per_action 1, but 5"),
        ({"max_actions": 18000}, "max_actions 18000, but 6"),
    ],
)
def test_a_result_that_is_not_the_episodes_contradicts(
    change_result: dict[str, Any], says: str, bad: Path
) -> None:
    scores = json.loads((bad / "result.json").read_text())["scores"]
    wanted = {"scores": scores} | change_result
    change(bad / "result.json", **wanted)
    (problem,) = [one for one in verify_folder(bad) if not one.confirmed]
    assert (problem.path, problem.outcome) == (bad / "result.json", Outcome.CONTRADICTS)
    assert says in problem.message


def test_scores_without_episodes_are_not_shown(
    good: Path, bad: Path, command: Callable[..., Said]
) -> None:
    shutil.rmtree(bad / "episodes")
    change(bad / "result.json", scores=[999.0, 999.0])
    results = read_results([bad.parent])
    assert all(row.path.is_relative_to(good) for row in results.episodes)
    assert "999" not in command("report", bad.parent).out
    assert command("verify", bad).code == 1


def test_what_was_verified_is_remembered_until_a_file_changes(
    good: Path, bad: Path, command: Callable[..., Said]
) -> None:
    root = good.parent

    def shown() -> str:
        return " ".join(command("report", root).out.split())

    assert command("verify", good / FIRST).code == 0  # an episode is not its run
    assert "not verified" in shown()
    assert "1 verified" not in shown()
    assert command("verify", good).code == 0
    assert "1 not verified, 1 verified" in shown()
    assert command("verify", root).code == 0
    assert "laptop profile; verified." in shown()
    change(bad / FIRST, seconds=9.0)
    assert "1 not verified, 1 verified" in shown()
    with RunFolder(good).open(RunFolder(good).config()):
        pass  # a finished run that is only looked at
    assert "1 not verified, 1 verified" in shown()


def test_a_file_that_says_it_was_verified_is_not_believed(
    bad: Path, command: Callable[..., Said]
) -> None:
    (bad / "verified.json").write_text('{"verified": true}')
    assert "not verified" in " ".join(command("report", bad).out.split())


def test_a_user_without_a_home_can_verify_too(
    good: Path, command: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert command("verify", good).code == 0
    assert "not verified" in command("report", good).out


def test_an_episode_by_itself_is_said_to_be_so(
    finished: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    alone = tmp_path / "alone.json"
    shutil.copy(copy_run(finished, tmp_path / "run") / FIRST, alone)
    said = command("verify", alone)
    assert said.code == 1
    assert "stands in no run; replayed by itself" in said.out
    assert "not over, and no run says how many" in " ".join(said.out.split())
    change(alone, game="grid:key-door", **replayable("grid:key-door", plan()))
    said = command("verify", alone)
    assert said.code == 0
    assert "not over" not in said.out


@pytest.mark.parametrize("name", ["run", f"run/{FIRST}"])
def test_an_episode_of_a_run_that_cannot_be_read_is_not_confirmed(
    name: str, finished: Path, tmp_path: Path, command: Callable[..., Said]
) -> None:
    config = copy_run(finished, tmp_path / "run") / "config.toml"
    config.write_text(f'action_set = "full"\n{config.read_text()}')
    said = command("verify", tmp_path / name)
    assert said.code == 1
    assert "its run cannot be read; replayed by itself" in said.out
    assert "0 confirmed" in said.out
