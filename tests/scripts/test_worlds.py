"""The table of environments: what is played is kept, and the published policy is played too."""

import json

import pytest

import worlds


def test_what_was_played_is_kept_and_tabled(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(worlds, "RANDOM_PLAYS", 2)
    monkeypatch.setattr(worlds, "by_policy", lambda world: -0.05)
    out = tmp_path / "played.jsonl"
    names = ["Blackjack-v1", "FrozenLake-v1", "CartPole-v1"]
    words = ["worlds.py", "--only", *names, "--episodes", "1"]
    monkeypatch.setattr(worlds, "CALLS", 1)
    monkeypatch.setattr("sys.argv", [*words, "--out", str(out)])
    monkeypatch.setattr(worlds, "ProcessPoolExecutor", InThisProcess)
    worlds.main()
    table = capsys.readouterr().out
    assert "| Blackjack-v1 (`reseed_search`) | 1, 20 |" in table
    assert "-0.05, basic strategy" in table
    assert "| 0.7 | – |" in table
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert {line["world"] for line in lines} == set(names)
    assert "| 475 | 500, PPO |" in table
    monkeypatch.setattr(worlds, "play", None)
    worlds.main()
    assert capsys.readouterr().out == table


class InThisProcess:
    def __init__(self, workers):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    map = staticmethod(map)


def test_the_basic_strategy():
    world = next(world for world in worlds.WORLDS if world.policy is not None)
    assert worlds.by_policy(world, episodes=3000) == pytest.approx(-0.05, abs=0.06)
    assert worlds.basic_strategy((16, 10, 0)) == 1
    assert worlds.basic_strategy((12, 4, 0)) == 0
    assert worlds.basic_strategy((18, 9, 1)) == 1


@pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")  # of Box2D
def test_every_world_is_a_registered_one_with_a_limit():
    pytest.importorskip("Box2D", reason="box2d has no wheel for this Python")
    for world in worlds.WORLDS:
        assert world.actions < 1001
        assert world.simulator(0).reset().values is not None
