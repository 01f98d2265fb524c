"""Atoms in words, and where they are."""

import gymnasium
import minigrid  # noqa: F401
import numpy as np
import pytest

from olive_iw.algorithms import make_agent
from olive_iw.features import BProst, Patches, Ram, Values
from olive_iw.features.vae import make_vae
from olive_iw.planners import RolloutIW
from olive_iw.rules import Further
from olive_iw.simulators import make_simulator
from olive_iw.viewer.node_details import cells, in_words, kinds, network_view, node_details, numbers
from olive_iw.viewer.page_messages import RootScreen
from olive_iw.viewer.run_library import live_source
from olive_iw.viewer.search_view import SearchRecorder
from olive_iw.viewer.shown_episode import shown_of


def atoms(*values):
    return np.array(values, np.int32)


def describe(features, atoms, **read):
    return [in_words(features, int(atom), **read) for atom in atoms]


def test_atoms_in_words():
    assert describe(Patches(), atoms(17 * 1024 + 3)) == ["row 1, column 1: content 3"]
    assert describe(Ram(), atoms(5 * 256 + 7)) == ["byte 5 = 7"]
    assert describe(make_vae("laptop", 0), atoms(16 * 20 + 4)) == ["row 1, column 0: bit 4"]
    atom = (17 * 5 + 2) * 16 + 9
    assert describe(make_vae("laptop", 0), atoms(atom), grain=4) == ["row 1, column 1: group 2 = 9"]
    assert cells(make_vae("laptop", 0), atoms(atom), grain=4) == [(1 / 16, 1 / 16, 1 / 16, 1 / 16)]
    basic, space, time = 128 * 17 + 3, 28_672, 28_672 + 6_856_768
    assert describe(BProst(), atoms(basic, space, time)) == [
        "row 1, column 1: colour 6",
        "B-PROS 28672",
        "B-PROT 6885440",
    ]
    assert kinds(BProst(), atoms(basic, space, time)) == "1 basic, 1 B-PROS, 1 B-PROT"
    assert describe(None, atoms(3)) == ["atom 3"]


def test_places_of_atoms():
    assert cells(Patches(), atoms(17 * 1024, 17 * 1024 + 5)) == [(1 / 16, 1 / 16, 1 / 16, 1 / 16)]
    assert cells(BProst(), atoms(128 * 16, 30_000)) == [(0, 1 / 14, 1 / 16, 1 / 14)]
    assert cells(Ram(), atoms(1)) == []


@pytest.mark.parametrize("features", ["bprost", "ram", "patches"])
def test_new_basic_atoms_of_a_real_screen_are_where_they_say(features):
    planner = RolloutIW(features)
    recorder = SearchRecorder(planner, lambda: None)
    simulator = make_simulator("breakout")
    with planner.watched_by(recorder):
        planner.start(simulator, seed=0)
        planner.decide(20)
    root = node_details(planner, recorder.entries, simulator, 0)
    assert root["new"] == root["atoms"] > 6 == len(root["new_words"])
    assert root["status"] in ("new", "solved")
    rows = {"bprost": 14 * 16, "patches": 256, "ram": 0}
    assert len(root["new_cells"]) == rows[features]
    child = node_details(planner, recorder.entries, simulator, 1)
    assert child["new"] < child["atoms"]
    assert child["action"] in simulator.action_names


def test_what_a_network_sees():
    simulator = make_simulator("breakout")
    vae = make_vae("laptop", 0)
    view = network_view(vae, simulator, simulator.reset())
    vae.prepare(simulator, simulator.reset())
    assert sum(view.active) == len(vae.atoms(simulator.reset().screen))
    assert view.elbo < 0 < view.error
    assert view.error < -view.elbo


def test_numbers_say_what_is_new_of_them():
    agent = make_agent("value-iw", calls_per_action=200)
    shown = shown_of(live_source(gymnasium.make("CartPole-v1"), agent), lambda: None)
    for _ in range(2):
        shown.decide()
        shown.advance()
    shown.decide()
    assert next(it for it in shown.frame() if isinstance(it, RootScreen)).image is None
    told = [shown.node(2, node) for node in range(shown.frame()[0].nodes)]
    for details in told:
        assert details["screen"] is None
        assert [name for name, *_ in details["numbers"]] == ["0", "1", "2", "3"]
        assert details["new"] == sum(fresh for *_, fresh in details["numbers"])
        assert details["new_words"] == []
        for _, value, interval, _ in details["numbers"]:
            words = interval.split()
            low = float(words[0]) if "…" in words else float(words[1]) if "≥" in words else -9
            high = float(words[-1]) if words and "≥" not in words else 9
            assert low - 0.01 <= float(value) <= high + 0.01
    assert {details["new"] for details in told} > {0, 1}
    assert any(row[2] for details in told for row in details["numbers"])
    shown.close()


def test_components_have_the_names_of_their_space():
    env = gymnasium.make("MiniGrid-DoorKey-5x5-v0")
    source = live_source(env, make_agent("value-iw", calls_per_action=10))
    step = source.simulator.reset()
    names = [name for name, *_ in numbers(source.simulator, step)]
    assert names[:2] == ["direction", "image 0,0,0"]
    assert len(names) == len(step.values) == 1 + 7 * 7 * 3


def test_bytes_are_numbers_where_they_are_planned_on():
    simulator = make_simulator("breakout")
    step = simulator.reset()
    assert numbers(simulator, step) == []
    rows = numbers(simulator, step, Values())
    assert [value for _, value, *_ in rows] == [str(byte) for byte in step.ram]


def test_what_a_far_search_finds_was_not_judged():
    planner = RolloutIW("patches", rules=[Further(0.5)])
    recorder, simulator = SearchRecorder(planner, lambda: None), make_simulator("grid:key-door")
    with planner.watched_by(recorder):
        planner.start(simulator, seed=0)
        planner.decide(60)
    told = [node_details(planner, recorder.entries, simulator, it) for it in range(61)]
    judged = ["not judged" not in details["news"] for details in told]
    assert judged == sorted(judged, reverse=True)  # the near search comes first
    assert 20 < sum(judged) < 40
    assert all(f"{it['new']} of 256 atoms" in it["news"] for it in told[: sum(judged)])
    planner.advance(0)
    recorder.begin()
    assert node_details(planner, recorder.entries, simulator, 1)["news"] == ""
