"""The survey's systems: every name runs, and frames and actions are part of what a run is."""

import tomllib
from pathlib import Path

import pytest

from olive_iw.agents import Observer
from olive_iw.algorithms import ALGORITHMS, make_agent, make_spec, shown_name
from olive_iw.errors import InputError
from olive_iw.reports.paper_tables import scores_table
from olive_iw.reports.results import read_results, systems
from olive_iw.runs.config import RunConfig
from olive_iw.runs.folder import RunFolder
from olive_iw.runs.records import read_episode
from olive_iw.runs.replay import simulator_of
from olive_iw.runs.run import run
from olive_iw.runs.verification import Outcome, verify_folder
from olive_iw.simulators import AtariSimulator, make_simulator
from olive_iw.sweeps.file import parse_sweep
from olive_iw.viewer.run_library import recorded_source

SURVEY = (Path(__file__).parents[2] / "sweeps" / "survey.toml").read_text(encoding="utf-8")
NAMES = tomllib.loads(SURVEY)["algorithms"]
SMALL = {"training_calls": 60, "calls_per_action": 12, "episodes": 1, "max_actions": 4}


def small(name, game="breakout", **settings):
    """A run of a survey's algorithm that is over in a moment."""
    lengths = {key: SMALL[key] for key in ("training_calls", "episodes", "max_actions")}
    options = {"calls_per_action": SMALL["calls_per_action"]}
    if ALGORITHMS[name].learning != "none":
        options["training_actions"] = 5
    return RunConfig(game, make_spec(name, **(options | settings)), **lengths)


def test_the_sweep_names_three_games_and_knows_all_its_algorithms():
    jobs = parse_sweep(SURVEY)
    assert {job.config.game for job in jobs} == {"breakout", "freeway", "ms_pacman"}
    assert len(jobs) == 3 * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_of_the_sweep_runs_and_is_verified(name, tmp_path):
    config = small(name)
    result = run(config, tmp_path, device="cpu")
    assert len(result.scores) == 1
    found = verify_folder(tmp_path)
    assert found
    assert all(one.confirmed for one in found)
    folder = RunFolder(config.folder(tmp_path))
    record = folder.read_episode("evaluation-0000")
    assert record.frame_skip == config.spec.options.frame_skip
    assert len(record.actions) <= 4
    assert run(config, tmp_path, device="cpu") == result  # it is finished, and only read


@pytest.mark.parametrize("name", ["iw-1-ram", "2bfs", "p-iw", "racing-p-iw", "dasa"])
def test_older_systems_have_their_sources_constants(name):
    options = make_spec(name).options
    assert (options.frame_skip, options.action_set, options.features) == (5, "full", "ram")
    assert (options.discount, options.depth_limit, options.risk_averse) == (0.995, 300, False)


def test_dasa_waits_for_300_frames_however_long_a_call_is():
    assert make_spec("dasa").options.prune_after == 60
    assert make_spec("dasa", frame_skip=15).options.prune_after == 20
    assert make_spec("dasa", frame_skip=15).variant == "prune_after=20,frame_skip=15"
    assert make_spec("dasa", frame_skip=7).options.prune_after == 43
    assert make_spec("dasa", frame_skip=15, prune_after=1).options.prune_after == 1
    assert "prune_after" not in make_spec("p-iw", frame_skip=15).options.kinds


def test_rollout_iw_2018_has_its_sources_constants():
    options = make_spec("rollout-iw-2018").options
    assert (options.discount, options.frame_skip, options.action_set) == (1.0, 15, "full")
    assert not options.root_in_table
    assert (options.kept_nodes, options.untried_value, options.max_repeats) == ("known", "zero", 2)


def test_a_reconstruction_is_said_to_be_one():
    assert shown_name("racing-p-iw") == "racing-p-iw (reconstruction)"
    assert "reconstruction" in ALGORITHMS.describe("racing-p-iw")
    assert shown_name("p-iw") == "p-iw"


# Frames and actions


def test_a_simulator_may_have_all_actions():
    full = AtariSimulator("breakout", action_set="full", frame_skip=5)
    assert (full.action_count, full.frame_skip) == (18, 5)
    assert full.action_names[:3] == ("NOOP", "FIRE", "UP")
    assert AtariSimulator("breakout").action_count == 4
    with pytest.raises(InputError, match="action_set 'all' is not one of minimal, full"):
        AtariSimulator("breakout", action_set="all")


def test_frames_and_actions_are_part_of_what_a_run_is(tmp_path):
    plain, other = small("rollout-iw"), small("rollout-iw", frame_skip=4, action_set="full")
    assert "frame_skip=4,action_set=full" in other.spec.variant
    assert plain.folder(tmp_path) != other.folder(tmp_path)
    assert plain.to_dict()["hash"] != other.to_dict()["hash"]
    run(other, tmp_path)
    folder = RunFolder(other.folder(tmp_path))
    assert folder.config() == other
    record = folder.read_episode("evaluation-0000")
    assert (record.frame_skip, record.simulator_options) == (4, {"action_set": "full"})
    simulator = simulator_of(record)
    assert (simulator.frame_skip, simulator.action_count) == (4, 18)
    source = recorded_source(folder, "evaluation-0000")
    assert (source.simulator.frame_skip, source.simulator.action_count) == (4, 18)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"frame_skip": 4', '"frame_skip": 15', "frame_skip 15, but 4 in the run"),
        (
            '"simulator_options": {"action_set": "full"}',
            '"simulator_options": {}',
            "'full'} in the run",
        ),
        ('{"action_set": "full"}', '{"mode": 1}', "'full'} in the run"),
    ],
)
def test_an_episode_of_other_frames_or_actions_contradicts_its_run(tmp_path, old, new, words):
    config = small("rollout-iw", frame_skip=4, action_set="full")
    run(config, tmp_path)
    path = RunFolder(config.folder(tmp_path)).episode_path("evaluation", 0)
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    found = {one.path: one for one in verify_folder(tmp_path)}
    assert found[path].outcome is Outcome.CONTRADICTS
    assert words in found[path].message


def test_usual_frames_and_actions_leave_no_trace_in_a_variant():
    assert make_spec("rollout-iw", frame_skip=15, action_set="minimal").variant == ""
    assert make_spec("iw-1-ram", frame_skip=15).variant == "frame_skip=15"


def test_frames_are_for_atari():
    spec = make_spec("patch-iw", frame_skip=5)
    with pytest.raises(InputError, match="frame_skip is for Atari games, not for grid:corridor"):
        spec.make_simulator("grid:corridor")
    # An algorithm's own are no wish of anybody's.
    assert make_spec("2bfs").make_simulator("grid:corridor").action_count == 4


def test_sweeps_may_list_frames():
    text = 'games = ["breakout"]\nalgorithms = ["rollout-iw"]\nframe_skip = [5, 15]\n'
    variants = [job.config.spec.variant for job in parse_sweep(text)]
    assert variants == ["frame_skip=5", ""]


def test_a_report_says_what_calls_have_other_frames(tmp_path):
    for name in ("p-iw", "racing-p-iw", "uct"):
        run(small(name), tmp_path)
    notes = scores_table(systems(read_results([tmp_path]))).notes
    assert sum("calls of 5 frames" in note for note in notes) == 2
    assert sum(note.startswith("racing-p-iw (reconstruction)") for note in notes) == 1


def test_the_brute_goes_on_where_it_was_stopped(tmp_path):
    """A run that is stopped in its training ends as one that was not."""
    config = RunConfig("breakout", make_spec("brute", training_actions=20), 200, 1, 40)

    class StoppedError(Exception):
        """Somebody pressed Ctrl-C."""

    class Stops(Observer):
        def on_episode_start(self, phase, number):
            if number == 5:
                raise StoppedError

    with pytest.raises(StoppedError):
        run(config, tmp_path / "stopped", Stops())
    for name in ("stopped", "whole"):
        run(config, tmp_path / name)
    ends = [
        (
            read_episode(folder.episode_path("evaluation", 0)).actions,
            (folder.checkpoint() / "sequences.safetensors").read_bytes(),
        )
        for folder in (RunFolder(config.folder(tmp_path / name)) for name in ("stopped", "whole"))
    ]
    assert ends[0] == ends[1]
    trained = RunFolder(config.folder(tmp_path / "whole")).episode_files("training")
    assert len(trained) == 10
    source = recorded_source(RunFolder(config.folder(tmp_path / "whole")), "evaluation-0000")
    assert source.planning.planner is None  # there is no tree to be shown
    assert source.planning.why_not
    assert all(one.confirmed for one in verify_folder(tmp_path / "whole"))


def test_an_agent_plays_in_the_simulator_that_it_is_given():
    """Frames are the simulator's: in the library it is made by whoever uses it."""
    agent = make_agent("iw-1-ram", calls_per_action=5)
    episode = agent.play(make_simulator("breakout"), max_actions=2)
    assert len(episode.actions) == 2
