"""Options of earlier versions that are no more: their files are read, and are not planned with."""

import json

import pytest
from former import of_run, of_spec

from olive_iw.agents.format1 import RemovedOptionError, RemovedOptions, in_words
from olive_iw.agents.learner import Progress, load_progress
from olive_iw.algorithms import load_agent, make_agent, make_spec, read_recorded, read_spec
from olive_iw.bandits import BANDITS
from olive_iw.errors import DamagedFileError, InputError
from olive_iw.reports.results import read_results, systems
from olive_iw.runs.config import RunConfig, to_toml
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.run import run
from olive_iw.runs.verification import verify_folder
from olive_iw.settings import settings_of
from olive_iw.sweeps.export import load_index
from olive_iw.viewer.run_library import RunLibrary, recorded_source

NEUTRAL = [
    ("backup", "mean"),
    ("when_exhausted", "stop"),
    ("extend_share", 0),
    ("pardon", 0.0),
    ("noise_of", "auto"),
    ("noise_of", "node"),
    ("training_start", "reset"),
]
ASKED = [
    ("backup", "max"),
    ("backup", "unpruned"),
    ("when_exhausted", "widen"),
    ("when_exhausted", "rarest"),
    ("extend_share", 0.1),
    ("pardon", 0.5),
    ("fit", "band"),
    ("fit", "pardon"),
    ("noise_of", "state"),
    ("noise_of", "turns"),
    ("training_start", "last"),
    ("selection", "diverse"),
    ("bandit", "ucb1-normal2"),
    ("collection_bandit", "ucb1-uniform"),
]


def fields_with(algorithm="patch-iw", **options):
    """Fields of a file of version 0.2.0, which had these options, too."""
    fields = of_spec(make_spec(algorithm))
    fields["options"] |= options
    return fields


@pytest.mark.parametrize(("name", "value"), NEUTRAL)
def test_a_value_that_did_nothing_is_passed_over(name, value):
    assert read_spec(fields_with(**{name: value})) == make_spec("patch-iw")


@pytest.mark.parametrize(("name", "value"), ASKED)
def test_another_value_is_refused_in_one_line_that_says_who_can(name, value):
    fields = fields_with(**{name: value})
    with pytest.raises(RemovedOptionError) as error:
        read_spec(fields)
    assert str(error.value).startswith(f"{name}={value}: this version has no such option")
    assert "olive-iw 0.2.0 can play it" in str(error.value)
    assert "\n" not in str(error.value)
    assert read_recorded(fields) == (make_spec("patch-iw"), {name: value})


@pytest.mark.parametrize("name", settings_of(RemovedOptions))
@pytest.mark.parametrize("value", ["x", -7, None, [], {"a": 1}])
def test_what_it_could_never_be_is_refused_as_before(name, value):
    with pytest.raises(InputError, match=name) as error:
        read_recorded(fields_with(**{name: value}))
    assert not isinstance(error.value, RemovedOptionError)


def test_what_is_no_table_is_left_to_the_reader():
    with pytest.raises(InputError, match="should be a table"):
        read_spec(of_spec(make_spec("patch-iw")) | {"options": 3})


def test_none_of_them_is_an_option():
    spec = make_spec("olive").settings()
    assert not settings_of(RemovedOptions).keys() & spec.keys()
    for name, value in ASKED:
        with pytest.raises(InputError):
            make_spec("olive", **{name: value})


def test_an_agent_is_not_loaded_and_says_why(tmp_path):
    make_agent("patch-iw").save(tmp_path)
    path = tmp_path / "agent.json"
    fields = of_spec(make_spec("patch-iw"))
    for value, plays in (("mean", True), ("max", False)):
        fields["options"]["backup"] = value
        path.write_text(json.dumps(fields), encoding="utf-8")
        if plays:
            assert load_agent(tmp_path).spec == make_spec("patch-iw")
            continue
        with pytest.raises(DamagedFileError, match=r"agent\.json: backup=max: this version has no"):
            load_agent(tmp_path)


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({"noise_of": "auto"}, {}),
        ({"noise_of": "turns"}, {}),
        ({"noise_of": "node"}, {"noise_of": "node"}),
        ({"noise_of": "state"}, {"noise_of": "state"}),
        ({}, {}),  # of this version
        ({"pardon": 0.0}, {"noise_of": "node"}),  # older than the option: noise was of nodes
        ({"pardon": 0.0, "noise_of": "auto"}, {}),
        ({"pardon": 0.0, "fit": "grain"}, {}),
        ({"fit": "grain", "noise_of": "node"}, {}),
        ({"fit": "none", "noise": 0.1, "noise_of": "turns"}, {"noise_of": "turns"}),
    ],
)
def test_noise_is_whose_it_is_by_what_is_fitted(options, asked):
    fields = fields_with("olive", **options)  # its noise is fitted
    assert read_recorded(fields)[1] == asked


def test_what_is_replaced_is_not_asked_for():
    plain = make_spec("olive")
    for options in ({"fit": "band"}, {"noise_of": "node"}, {"pardon": 0.0}):
        assert (
            read_spec(fields_with("olive", **options), replaced={"fit": "none"}).seed == plain.seed
        )
    with pytest.raises(RemovedOptionError, match="noise_of=state"):
        read_spec(fields_with("olive", noise_of="state"), replaced={"fit": "none"})


def test_a_bandit_that_somebody_has_added_again_is_there(monkeypatch):
    monkeypatch.setattr(BANDITS, "_parts", dict(BANDITS.loaded))
    BANDITS.add("ucb1-normal2", BANDITS["uniform"])
    assert read_spec(fields_with(bandit="ucb1-normal2")).options.bandit == "ucb1-normal2"


# Runs


def old_run(tmp_path, line, variant="backup=max"):
    """Play a run, and let its files say that it was played with an option that is no more."""
    config = RunConfig("grid:corridor", make_spec("patch-iw"), episodes=1, max_actions=4)
    run(config, tmp_path)
    folder = RunFolder(config.folder(tmp_path))
    for path in (folder.result_path, folder.episode_path("evaluation", 0)):
        text = path.read_text(encoding="utf-8")
        assert '"variant": ""' in text
        path.write_text(text.replace('"variant": ""', f'"variant": "{variant}"'), "utf-8")
    text = to_toml(of_run(config))
    text = text.replace('variant = ""', f'variant = "{variant}"')
    name = line.split(" = ")[0]
    others = [it for it in text.splitlines() if not it.startswith(f"{name} = ")]
    text = "\n".join(others).replace("[options]\n", f"[options]\n{line}\n")
    folder.config_path.write_text(text, encoding="utf-8")
    return config, folder


def test_a_run_is_verified_listed_and_reported_and_does_not_go_on(tmp_path):
    config, folder = old_run(tmp_path, 'backup = "max"')
    assert all(one.confirmed for one in verify_folder(tmp_path))
    identity = folder.identity()
    assert (identity.variant, identity.recorded_variant) == ("backup=max", "backup=max")
    assert load_index(tmp_path)["variant"].tolist() == ["backup=max"]
    (system,) = systems(read_results([tmp_path]))
    assert (system.algorithm, system.variant) == ("patch-iw", "backup=max")
    for go_on in (folder.config, lambda: run(config, tmp_path)):
        with pytest.raises(DamagedFileError, match="backup=max: this version has no such option"):
            go_on()


def test_a_run_is_shown_without_trees(tmp_path):
    _, folder = old_run(tmp_path, 'backup = "max"')
    assert [*RunLibrary(tmp_path).runs]
    planning = recorded_source(folder, "evaluation-0000").planning
    assert planning.planner is None
    assert "backup=max: this version has no such option" in planning.why_not


def test_a_run_that_said_what_did_nothing_goes_on(tmp_path):
    config, folder = old_run(tmp_path, 'backup = "mean"', variant="")
    assert folder.config() == config
    assert run(config, tmp_path).scores == folder.read_result().scores


@pytest.mark.parametrize(("name", "value"), ASKED)
def test_the_variant_of_a_run_without_one_names_them(name, value, tmp_path):
    """Version 0.1.0 did not write variants, and what is written may be forged."""
    _, folder = old_run(tmp_path, f"{name} = {json.dumps(value)}", variant="")
    assert folder.identity().variant == in_words({name: value})


def test_a_training_episode_that_began_elsewhere_is_verified(tmp_path):
    """As those of `training_start` did; what leads there is replayed and does not count."""
    config = RunConfig("grid:collect", make_spec("patch-iw"), episodes=1, max_actions=6)
    run(config, tmp_path)
    folder = RunFolder(config.folder(tmp_path))
    path = folder.episode_path("evaluation", 0)
    fields = json.loads(path.read_text(encoding="utf-8"))
    fields |= {"phase": "training", "start_actions": fields["actions"][:2], "values": None}
    fields |= {"actions": fields["actions"][2:], "rewards": fields["rewards"][2:]}
    fields["score"] = sum(fields["rewards"])
    begun = folder.episode_path("training", 0)
    begun.write_text(json.dumps(fields), encoding="utf-8")
    found = {one.path: one for one in verify_folder(tmp_path)}
    assert found[begun].confirmed
    fields["start_actions"] = fields["start_actions"][:1] + [fields["actions"][0]] * 5
    fields["rewards"][-1] += 1
    begun.write_text(json.dumps(fields), encoding="utf-8")
    assert not {one.path: one for one in verify_folder(tmp_path)}[begun].confirmed


def test_progress_that_says_where_to_begin_is_read(tmp_path):
    """Saved agents of version 0.2.0 have it, empty unless `training_start` was given."""
    path = tmp_path / "progress.json"
    path.write_text('{"calls": 7, "episodes": 2, "start_actions": []}', encoding="utf-8")
    assert load_progress(tmp_path) == Progress(calls=7, episodes=2)


def test_a_run_that_0_2_0_began_goes_on(tmp_path):
    """Its configuration and its agent are read, and what comes is what would have come."""
    few = {"calls_per_action": 10, "training_actions": 6, "screen_limit": 20, "steps": 3}
    config = RunConfig("grid:collect", make_spec("olive", **few), 120, episodes=2, max_actions=4)
    scores = run(config, tmp_path, device="cpu").scores
    folder = RunFolder(config.folder(tmp_path))
    wanted = {name: path.read_bytes() for name, path in folder.episode_files("evaluation").items()}
    folder.config_path.write_text(to_toml(of_run(config)), encoding="utf-8")
    agent = folder.checkpoint_path / "agent.json"
    agent.write_text(json.dumps(of_spec(config.spec)), encoding="utf-8")
    folder.result_path.unlink()
    folder.episode_path("evaluation", 1).unlink()
    assert run(config, tmp_path, device="cpu").scores == scores
    again = folder.episode_files("evaluation")
    assert again.keys() == wanted.keys()
    for name, path in again.items():
        one, other = json.loads(path.read_bytes()), json.loads(wanted[name])
        assert (one["actions"], one["calls"]) == (other["actions"], other["calls"])
    assert folder.settings()["format"] == 2
