"""Settings and identity: what is given changes an algorithm's defaults, and tells runs apart."""

import json
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pytest
from former import of_spec

import olive_iw as olive
from olive_iw.agents import Options
from olive_iw.agents.format1 import RemovedOptionError
from olive_iw.agents.selection import lowest_elbo
from olive_iw.algorithms import (
    ALGORITHMS,
    load_agent,
    make_agent,
    make_spec,
    read_recorded,
    read_spec,
)
from olive_iw.bandits import BANDITS, Uniform
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.features.vae import PROFILES
from olive_iw.planners.base import WidthOptions
from olive_iw.settings import Range


def test_given_settings_change_the_algorithms_own_and_never_replace_them():
    assert make_agent("iw-2", calls_per_action=50).planner.width == 2
    assert make_agent("uct", calls_per_action=50).planner.depth_limit == 20
    spec = make_spec("vae-iw", "paper", learning_rate=0.01)
    assert (spec.training.temperature_max, spec.training.temperature_min) == (0.5, 0.5)
    assert spec.training.epochs == 100
    assert make_spec("olive", "paper", patience=3).training.gradient_clip == 1.0


def test_one_of_steps_and_epochs_takes_the_place_of_the_other():
    assert make_spec("olive", epochs=2).training.steps is None
    assert make_spec("olive", "paper", steps=7).training.epochs is None
    with pytest.raises(InputError, match="either epochs or steps"):
        make_spec("olive", epochs=2, steps=3)


def test_seconds_alone_mean_as_many_calls_as_fit():
    assert make_spec("patch-iw", seconds_per_action=0.5).options.calls_per_action == 100_000
    given = make_spec("patch-iw", seconds_per_action=0.5, calls_per_action=100)
    assert given.options.calls_per_action == 100


def test_a_training_that_contradicts_the_algorithm_is_refused():
    with pytest.raises(InputError, match="vae-iw trains at one temperature"):
        make_spec("vae-iw", temperature_max=5.0)
    assert make_spec("vae-iw", temperature_min=0.3).training.temperature_max == 0.3
    assert make_spec("vae-iw-annealed", temperature_max=3.0).training.temperature_max == 3.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"options": None}, "setting by setting"),
        ({"training": None}, "setting by setting"),
        ({"widht": 2}, "unknown option of olive 'widht'; did you mean width"),
        ({"channels": 3}, "an option of olive under the profile paper, not under laptop"),
        ({"tile_rows": 3}, "unknown option of olive 'tile_rows'"),
        ({"kept_nodes": "free"}, "unknown option of olive 'kept_nodes'"),
        ({"width": 3}, "at most 2"),
        ({"discount": float("nan")}, "more than 0"),
        ({"beta": float("nan")}, "at least 0"),
        ({"beta": float("inf")}, "at most"),
        ({"learning_rate": 10**400}, "should be a number|at most"),
        ({"hidden": 10**6}, "at most 4,096"),
        ({"search_workers": 10_000}, "at most 256"),
        ({"screen_limit": 10**9}, "at most 10,000,000"),
        ({"seconds_per_action": -1}, "more than 0"),
        ({"seconds_per_action": 0.0}, "more than 0"),
        ({"calls_per_action": 0}, "at least 1"),
        ({"calls_per_action": True}, "a whole number"),
        ({"calls_per_action": "5"}, "a whole number"),
        ({"bandit": "tts"}, "did you mean ttts"),
        ({"bandit": 3}, "neither a name nor"),
        ({"features": "patches"}, "unknown option of olive 'features'"),
        ({"ties": "longst"}, "did you mean longest"),
    ],
)
def test_impossible_settings_are_refused_in_one_line(settings, message):
    with pytest.raises(InputError, match=message) as caught:
        make_spec("olive", **settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("algorithm", "settings", "message"),
    [
        ("iw-1", {"bandit": "ttts"}, "unknown option of iw-1 'bandit'"),
        ("uct", {"features": "ram"}, "unknown option of uct 'features'"),
        ("uct", {"search_workers": 1}, "unknown option of uct 'search_workers'"),
        ("uct", {"ties": "random"}, "unknown option of uct 'ties'"),
        ("uct", {"width": 1}, "unknown option of uct 'width'"),
        ("iw-1", {"avoid_twins": True}, "unknown option of iw-1 'avoid_twins'"),
        ("breadth-first", {"look_further": 0.5}, "unknown option of breadth-first 'look_further'"),
        ("rollout-iw", {"prune_actions": "dasa"}, "unknown option of rollout-iw 'prune_actions'"),
        ("rollout-iw", {"ties": "highest-zero"}, "unknown ties 'highest-zero'"),
        ("patch-iw", {"steps": 30}, "unknown option of patch-iw 'steps'; did you mean"),
        ("patch-iw", {"training_actions": 30}, "unknown option of patch-iw 'training_actions'"),
        ("vae-iw", {"first_share": 0.5}, "unknown option of vae-iw 'first_share'"),
        ("pi-iw", {"search_workers": 2}, "unknown option of pi-iw 'search_workers'"),
        ("hiw", {"look_further": 0.5}, "unknown option of hiw 'look_further'"),
        ("brute", {"width": 2}, "unknown option of brute 'width'"),
        ("rollout-iw", {"planner": "uct", "width": 2}, "rollout-iw with the planner uct 'width'"),
        ("rollout-iw", {"features": "vae"}, "unknown features 'vae'"),
        ("olive", {"planner": "uct"}, "takes no features"),
        ("olive", {"planner": olive.RolloutIW("patches")}, "takes no features"),
    ],
)
def test_what_a_planner_does_not_know_is_refused(algorithm, settings, message):
    with pytest.raises(InputError, match=message):
        make_spec(algorithm, **settings)


def test_another_planner_may_leave_an_algorithms_own_options_unused():
    spec = make_spec("olive-plus", planner="breadth-first")
    assert spec.options.ties == "longest"
    assert "avoid_twins" not in spec.options.kinds
    assert spec.variant == "planner=breadth-first"
    assert isinstance(make_agent("olive-plus", planner="breadth-first").planner, olive.BreadthFirst)
    changed = make_spec("iw-2", discount=0.5).changed(planner="2bfs", queues="one")
    assert changed.variant == "planner=2bfs,discount=0.5,queues=one"


def test_numbers_take_the_type_they_should_have():
    spec = make_spec("olive", discount=1, calls_per_action=np.int64(7), slope=np.float32(0.5))
    assert type(spec.options.discount) is float
    assert type(spec.options.calls_per_action) is int
    json.dumps(spec.to_dict())


def test_parts_are_taken_by_name_and_by_object():
    assert isinstance(make_agent("rollout-iw", bandit="max").planner.bandit, BANDITS["max"])
    agent = make_agent("patch-iw", bandit=Uniform(), features=olive.features.Ram())
    assert isinstance(agent.planner.bandit, Uniform)
    assert isinstance(agent.planner.features, olive.features.Ram)
    by_class = make_agent("patch-iw", planner=olive.BreadthFirst)
    assert isinstance(by_class.planner, olive.BreadthFirst)
    planner = olive.UCT()
    assert make_agent("breadth-first", planner=planner).planner is planner
    assert make_spec("olive", selection=lowest_elbo).variant == "selection=lowest_elbo"


@dataclass(frozen=True)
class OwnOptions(WidthOptions):
    most: Annotated[int, Range(1, 9)] = 2


class Own(olive.BreadthFirst):
    options = OwnOptions

    def __init__(self, features=None, width=None, most=2, **common):
        super().__init__(features, width, **common)
        self.most = most


def test_a_planner_of_ones_own_says_what_it_can_be_told():
    agent = make_agent("iw-1", planner=Own, most=5, width=2)
    assert (agent.planner.most, agent.planner.width) == (5, 2)
    assert agent.spec.variant == "planner=Own,width=2,most=5"
    with pytest.raises(InputError, match="at most 9"):
        make_spec("iw-1", planner=Own, most=10)
    with pytest.raises(InputError, match="unknown option of iw-1 'most'"):
        make_spec("iw-1", most=5)


def test_the_variant_says_what_differs_from_the_algorithms_defaults():
    assert make_spec("iw-2").variant == ""
    assert make_spec("iw-2", width=2).variant == ""
    assert make_spec("rollout-iw", discount=0.50, width=2).variant == "width=2,discount=0.5"
    assert make_spec("vae-iw", "paper").variant == ""
    assert make_spec("vae-iw", "paper", steps=40).variant == "steps=40"
    assert make_spec("patch-iw", bandit=Uniform()).variant == "bandit=Uniform"
    changed = make_spec("olive", risk_averse=False, patience=3, hidden=32)
    assert changed.variant == "risk_averse=false,hidden=32,patience=3"


def test_the_label_is_safe_and_short():
    assert make_spec("iw-2").label == "iw-2-laptop"
    assert make_spec("iw-2", discount=0.5).label == "iw-2-laptop,discount=0.5"
    many = {"discount": 0.5, "depth_limit": 77, "training_actions": 33, "screen_limit": 123}
    labels = {
        make_spec("olive", **many, screens_per_episode=8, max_training_episodes=n).label
        for n in range(1, 4)
    }
    assert len(labels) == 3
    assert all(len(label) == 120 for label in labels)


def test_flat_settings_give_the_specification_back():
    spec = make_spec("olive", "paper", seed=4, width=2, channels=8)
    assert make_spec("olive", "paper", seed=4, **spec.settings()) == spec


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_a_specification_is_read_back(name):
    for profile in PROFILES:
        spec = make_spec(name, profile, seed=5, calls_per_action=30)
        if spec.parts.trains_network:
            spec = spec.changed(training_actions=50, batch=30)
        assert read_spec(json.loads(json.dumps(spec.to_dict()))) == spec
        assert read_spec(json.loads(json.dumps(of_spec(spec)))) == spec


def test_a_file_of_version_0_1_is_read():
    fields = of_spec(make_spec("olive", width=2))
    old = set(fields["options"]) - {"planner", "features", "bandit", "selection"}
    fields["options"] = {
        name: fields["options"][name] for name in old if not name.startswith("collection_")
    }
    for name in ("fit", "ties", "frame_skip", "reseed_search", "action_set"):
        del fields["options"][name]
    assert read_spec(fields) == make_spec("olive", width=2, fit="none")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda fields: fields.pop("seed"), "the fields should have seed"),
        (lambda fields: fields.pop("search"), "setting planner is missing"),
        (lambda fields: fields.pop("rules"), None),  # none of them was there
        (lambda fields: fields.update(format=3), "format 3, but only 1 and 2 are understood"),
        (lambda fields: fields.update(format=[]), "format a list, but only"),
        (lambda fields: fields.update(format=1), "options should be a table"),
        (lambda fields: fields.update(more=1), "more should be a table"),
        (lambda fields: fields.update(more={}), "unknown table 'more'"),
        (lambda fields: fields.update(options={"width": 1}), "unknown table 'options'"),
        (lambda fields: fields["rules"].update(width=1), "unknown setting of rules 'width'"),
        (lambda fields: fields.update(search=[]), "should be a table"),
        (lambda fields: fields.update(algorithm=["olive"]), "should be a text"),
        (lambda fields: fields.update(algorithm="oliv"), "did you mean olive"),
        (lambda fields: fields.update(profile="mine"), "unknown profile"),
        (lambda fields: fields.update(seed=-1), "at least 0"),
        (lambda fields: fields.update(seed=1.5), "a whole number"),
        (lambda fields: fields["search"].pop("width"), "setting width is missing"),
        (lambda fields: fields["search"].update(widht=1), "did you mean width"),
        (lambda fields: fields["search"].update(bandit="evil"), "unknown bandit"),
        (lambda fields: fields["search"].update(bandit=None), "neither a name nor"),
        (lambda fields: fields["search"].update(planner=["uct"]), "neither a name nor"),
        (lambda fields: fields["network"].update(hidden=10**9), "at most"),
        (lambda fields: fields["training"].update(beta=float("inf")), "at most"),
        (lambda fields: fields["training"].update(batch="64"), "a whole number"),
    ],
)
def test_a_damaged_specification_is_refused(change, message):
    fields = make_spec("olive").to_dict()
    change(fields)
    if message is None:
        assert read_spec(fields) == make_spec("olive", fit="none")
        return
    with pytest.raises(InputError, match=message):
        read_spec(fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda fields: fields["options"].pop("width"), "setting width is missing"),
        (lambda fields: fields["options"].update(widht=1), "did you mean width"),
        (lambda fields: fields["options"].update(planner="none"), "unknown planner 'none'"),
        (lambda fields: fields["options"].update(planner=["uct"]), "neither a name nor"),
        (lambda fields: fields["options"].update(planner=None), "neither a name nor"),
        (lambda fields: fields["options"].update(tile_rows="x"), "should be a whole number"),
        (lambda fields: fields["options"].update(kept_nodes="\x1b"), "is not possible"),
        (lambda fields: fields["network"].update(hidden=10**9), "at most"),
        (lambda fields: fields["network"].update(width=1), "unknown setting"),
        (lambda fields: fields.update(training=3), "training should be a table"),
    ],
)
def test_a_damaged_specification_of_format_1_is_refused(change, message):
    for name in ("olive", "patch-iw"):
        fields = of_spec(make_spec(name))
        change(fields)
        with pytest.raises(InputError, match=message):
            read_spec(fields)


@pytest.mark.parametrize(
    ("name", "options", "training", "asked"),
    [
        ("patch-iw", {}, {"steps": 30}, {"steps": 30}),
        ("patch-iw", {"training_actions": 50}, {}, {"training_actions": 50}),
        ("patch-iw", {"kept_nodes": "free"}, {}, {"kept_nodes": "free"}),
        ("patch-iw", {"queues": "one", "tile_rows": 9}, {}, {"tile_rows": 9, "queues": "one"}),
        ("iw-1-ram", {"kept_nodes": "free"}, {}, {}),
        ("iw-1-ram", {"planner": "rollout-iw"}, {}, {"kept_nodes": "retested"}),
        ("rollout-iw", {"planner": "uct"}, {}, {}),
        ("olive-plus", {"planner": "breadth-first"}, {}, {}),
    ],
)
def test_what_only_other_algorithms_have_is_asked_for(name, options, training, asked):
    fields = of_spec(make_spec(name))
    fields["options"] |= options
    fields["training"] |= training
    assert read_recorded(fields)[1] == asked
    if asked:
        with pytest.raises(RemovedOptionError, match=r"olive-iw 0\.2\.0 can play it"):
            read_spec(fields)


def test_a_saved_agent_whose_part_was_an_object_wants_it_again(tmp_path):
    class Mine(Uniform):
        pass

    make_agent("patch-iw", bandit=Mine()).save(tmp_path)
    with pytest.raises(InputError, match="unknown bandit 'Mine'"):
        load_agent(tmp_path)
    assert isinstance(load_agent(tmp_path, bandit=Mine()).planner.bandit, Mine)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"calls_per_action": 0}, "calls_per_action = 0 is not possible; it must be at least 1"),
        ({"bandit": "tts"}, "unknown bandit 'tts'; did you mean ttts"),
        ({"widht": 2}, "unknown option of patch-iw 'widht'; did you mean width"),
        ({"planner": "uct", "width": 2}, "unknown option of patch-iw with the planner uct 'width'"),
    ],
)
def test_a_wrong_setting_of_a_saved_agent_is_not_the_files_fault(tmp_path, settings, message):
    make_agent("patch-iw").save(tmp_path)
    with pytest.raises(InputError) as caught:
        load_agent(tmp_path, **settings)
    assert str(caught.value).startswith(message)
    assert not isinstance(caught.value, DamagedFileError)


def test_an_algorithm_is_taken_as_an_object_and_can_be_added():
    parts = ALGORITHMS["olive"]
    mine = replace(parts, title="Olive by doubt", own=parts.own | {"selection": "entropy"})
    assert make_spec(mine).label == "olive-by-doubt-laptop"
    assert make_spec(parts).algorithm == "olive"
    with pytest.raises(InputError, match="another title"):
        make_spec(replace(parts, title="UCT"))
    with pytest.raises(InputError, match="already"):
        ALGORITHMS.add("olive", mine)
    ALGORITHMS.add("olive-doubt", mine)
    try:
        assert make_spec("olive-doubt") == make_spec(mine)
        assert read_spec(make_spec(mine).to_dict()).options.selection == "entropy"
    finally:
        del ALGORITHMS._parts["olive-doubt"]


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_every_setting_of_its_own_is_one_that_it_has(name):
    parts = ALGORITHMS[name]
    values = parts.options("laptop").values()
    assert {each: values[each] for each in parts.own} == parts.own


def test_a_setting_stands_in_one_table():
    assert make_spec("olive", fit="grain").to_dict()["rules"]["fit"] == "grain"
    rules = make_spec("olive", fit="grain").options.table("rules")
    assert {rule.fit for rule in rules if hasattr(rule, "fit")} == {"grain"}
    with pytest.raises(TypeError, match="is a setting of two tables"):
        _ = Options((("search", WidthOptions()), ("rules", WidthOptions()))).kinds
