"""Pretrained agents: compact files of runs, with where they are from; they play at once."""

import json
import re
import shlex
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

import olive_iw as olive
from olive_iw.cli.main import main
from olive_iw.runs import pretrained
from olive_iw.runs.folder import RunFolder

GAME = "grid:collect"


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = (" ".join(text.replace("│", " ").split()) for text in capsys.readouterr())
    return int(stop.value.code or 0), out, err


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Train a small agent."""
    folder = tmp_path_factory.mktemp("trained")
    lengths = ("--training-calls", "120", "--steps", "2", "--episodes", "2", "--max-actions", "6")
    words = ("--seed", "3", "--calls-per-action", "20", "--quiet", "--out", str(folder))
    with pytest.raises(SystemExit) as stop:
        main(["run", GAME, *lengths, *words])
    assert not stop.value.code
    return RunFolder(next(folder.rglob("result.json")).parent)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the place of a shelf on which nothing stands yet."""
    monkeypatch.setattr(pretrained, "SHELF", tmp_path / "shelf")
    return tmp_path / "shelf"


def test_what_is_shipped_is_sound() -> None:
    for found in pretrained.shipped():
        assert found.load("cpu").learner.progress.finished
        assert pretrained.find(found.config.game) == found


def test_without_any_everything_works(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "list", "pretrained")[:2] == (0, "pretrained: none")
    assert json.loads(call(capsys, "list", "pretrained", "--json")[1]) == {"pretrained": []}
    code, out, err = call(capsys, "play", GAME, "--max-actions", 1)
    assert (code, err) == (0, "")
    assert "patch-iw" in out
    with pytest.raises(olive.InputError, match=r"no pretrained agent for 'pong'.*olive-iw run"):
        olive.load_pretrained("pong")


def test_a_run_becomes_an_agent_that_plays_the_same(
    run: RunFolder, shelf: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = call(capsys, "pretrained", "add", run, "--out", shelf)
    assert code == 0
    file = shelf / "grid-collect.safetensors"
    assert f"wrote {file}" in out
    weights = run.checkpoint_path / "network.safetensors"
    assert file.stat().st_size < weights.stat().st_size + 5_000
    mean = sum(run.read_result().scores) / 2
    said = f"seed 3, 120 training calls: scored {mean:g} (2 games of at most 6 actions"
    assert said in call(capsys, "list", "pretrained")[1]

    played = tmp_path / "play.json"
    code, out, err = call(capsys, "play", GAME, "--episode", 1, "--out", played)
    assert (code, err) == (0, "")
    assert f"pretrained {GAME}: olive-laptop" in out
    recorded = run.read_episode("evaluation-0001")
    assert json.loads(played.read_text())["actions"] == recorded.actions
    agent = olive.load_pretrained(GAME, calls_per_action=20)
    assert agent.play(olive.make_simulator(GAME), max_actions=6, episode=1).actions == (
        recorded.actions
    )
    agent.save(tmp_path / "saved")
    assert olive.load_agent(tmp_path / "saved").learner.progress.finished

    for own in (("--algorithm", "uct"), ("--features", "patches")):
        assert "pretrained" not in call(capsys, "play", GAME, "--max-actions", 1, *own)[1]


def test_it_says_where_it_is_from(run: RunFolder, tmp_path: Path) -> None:
    found = pretrained.add(run.path, tmp_path)
    assert found.config == run.config()
    assert found.result == run.read_result()
    assert found.result.versions["ale-py"]
    assert found.progress.calls == 120


def test_its_card_can_be_followed(
    run: RunFolder,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = call(capsys, "pretrained", "add", run, "--out", tmp_path)[1]
    assert f"wrote {tmp_path / 'grid-collect.md'}: its card" in out
    monkeypatch.chdir(tmp_path)
    _, front, text = (tmp_path / "grid-collect.md").read_text(encoding="utf-8").split("---\n", 2)
    result, mean = run.read_result(), sum(run.read_result().scores) / 2
    about = yaml.safe_load(front)
    assert (about["library_name"], about["tags"][-1]) == ("olive-iw", GAME)
    ((found,),) = (model["results"] for model in about["model-index"])
    assert found["dataset"] == {"name": GAME, "type": GAME}
    assert found["metrics"][0]["value"].startswith(f"{mean:.2f} +/- ")
    assert "| training | 120 simulator calls |" in text
    assert sha256((tmp_path / "grid-collect.safetensors").read_bytes()).hexdigest() in text
    assert f"olive-iw {result.versions['olive-iw']}" in text

    commands = re.findall("^olive-iw (.*)  # (.*)$", text, re.MULTILINE)
    assert len(commands) == 2
    for (words, said), score in zip(commands, result.scores, strict=True):
        assert float(said) == score
        assert call(capsys, *shlex.split(words), "--out", "played.json")[0] == 0
        assert json.loads(Path("played.json").read_text())["score"] == score
    (snippet,) = re.findall("```python\n(.*?)```", text, re.DOTALL)
    exec(snippet, {})


def test_the_package_keeps_no_cards(
    run: RunFolder, shelf: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("olive_iw.cli.pretrained.SHELF", shelf)
    assert call(capsys, "pretrained", "add", run, "--out", shelf)[0] == 0
    assert [path.name for path in shelf.iterdir()] == ["grid-collect.safetensors"]


@pytest.mark.filterwarnings("always")
def test_another_game_than_it_was_trained_on_is_told(
    run: RunFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = pretrained.add(run.path, tmp_path).path
    for agent in (file, run):
        words = ("play", "grid:corridor", "--agent", agent, "--max-actions", 1)
        code, _, err = call(capsys, *words)
        assert (code, err) == (0, f"warning: this agent was trained on {GAME}, not grid:corridor")
    agent = olive.load_pretrained(str(file), calls_per_action=2)
    with pytest.warns(UserWarning, match="trained on grid:collect, not breakout"):
        agent.play(olive.make_simulator("breakout"), max_actions=1)


@pytest.mark.parametrize(
    "place", [300, 2_000, -1], ids=["in the header", "in it", "in the weights"]
)
def test_a_changed_file_is_refused(run: RunFolder, tmp_path: Path, place: int) -> None:
    path = pretrained.add(run.path, tmp_path).path
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(olive.InputError, match=r"grid-collect\.safetensors"):
        olive.load_pretrained(path)


def test_a_forged_score_is_refused(run: RunFolder, tmp_path: Path) -> None:
    path = pretrained.add(run.path, tmp_path).path
    content = path.read_bytes()
    assert b'training_calls\\": 120' in content
    path.write_bytes(content.replace(b'training_calls\\": 120', b'training_calls\\": 999'))
    with pytest.raises(olive.InputError, match="changed since it was made"):
        pretrained.read(path)


def test_only_finished_runs_that_learned_are_taken(
    run: RunFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    half = tmp_path / "half"
    shutil.copytree(run.path, half)
    (half / "result.json").unlink()
    assert call(capsys, "pretrained", "add", half)[::2] == (
        2,
        f"olive-iw: {half} is not the folder of a finished run: its score is not known",
    )
    limits = ("--episodes", 1, "--max-actions", 1, "--calls-per-action", 2, "--quiet")
    words = ("run", GAME, "--algorithm", "patch-iw", *limits, "--out", tmp_path / "plain")
    assert call(capsys, *words)[0] == 0
    plain = next((tmp_path / "plain").rglob("result.json")).parent
    code, _, err = call(capsys, "pretrained", "add", plain)
    assert (code, "patch-iw learns nothing" in err) == (2, True)
    weights = run.checkpoint_path / "network.safetensors"
    code, _, err = call(capsys, "play", GAME, "--agent", weights)
    assert (code, "is no pretrained agent" in err) == (2, True)
