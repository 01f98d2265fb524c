import warnings
from pathlib import Path

import pytest

from olive_iw.algorithms import ALGORITHMS
from olive_iw.bandits import BANDITS
from olive_iw.errors import AdviceWarning, InputError
from olive_iw.features.vae import PROFILES
from olive_iw.simulators import PAPER_GAMES, SIMULATORS
from olive_iw.sweeps.file import (
    PAPER_VISUAL_GAMES,
    parse_sweep,
    read_sweep,
)

SWEEPS = Path(__file__).parents[3] / "sweeps"
SMALL = 'games = ["breakout"]\nalgorithms = ["olive"]\n'


def only(text):
    (planned,) = parse_sweep(text)
    return planned


def test_lists_multiply_in_the_files_order():
    runs = parse_sweep(
        'games = ["pong", "breakout"]\nalgorithms = ["olive", "patch-iw"]\nseeds = [3, 1]'
    )
    assert [(run.config.game, run.config.spec.algorithm, run.config.spec.seed) for run in runs] == [
        (game, algorithm, seed)
        for game in ("pong", "breakout")
        for algorithm in ("olive", "patch-iw")
        for seed in (3, 1)
    ]
    assert len({run.folder for run in runs}) == 8


def test_defaults_are_those_of_a_single_run():
    planned = only(SMALL)
    assert planned.config.spec.seed == 0
    assert planned.config.spec.profile == "laptop"
    assert planned.config.training_calls == 100_000
    assert planned.config.max_actions == 18_000
    assert planned.folder == Path("runs/breakout/olive-laptop/seed-0")


def test_sets_of_games():
    every = parse_sweep('games = "paper"\nalgorithms = "olive"')
    assert tuple(run.config.game for run in every) == PAPER_GAMES
    visual = parse_sweep('games = ["pitfall", "paper-visual"]\nalgorithms = "olive"')
    assert len(visual) == len(PAPER_VISUAL_GAMES) == 6
    assert set(PAPER_VISUAL_GAMES) < set(PAPER_GAMES)


def test_every_kind_of_setting_arrives():
    planned = only(
        SMALL + "training_calls = 5\nepisodes = 2\nmax_actions = 7\ncalls_per_action = 9\n"
        'width = 2\nties = "longest"\ndiscount = 1\nrisk_averse = false\n'
        "epochs = 3\nlearning_rate = 0.5\nheld_out_share = 0\nbits = 4\nhidden = 8\n"
    )
    config, spec = planned.config, planned.config.spec
    assert (config.training_calls, config.episodes, config.max_actions) == (5, 2, 7)
    assert (spec.options.calls_per_action, spec.options.width) == (9, 2)
    assert (spec.options.ties, spec.options.risk_averse) == ("longest", False)
    assert isinstance(spec.options.discount, float)
    assert (spec.training.epochs, spec.training.steps) == (3, None)
    assert spec.training.learning_rate == 0.5
    assert (spec.network.bits, spec.network.hidden) == (4, 8)
    assert planned.variation == ""


def test_an_algorithms_own_values_stay():
    (vae_iw, annealed) = parse_sweep(
        'games = "breakout"\nalgorithms = ["vae-iw", "vae-iw-annealed"]\nsteps = 5'
    )
    assert vae_iw.config.spec.training.temperature_max == 0.5
    assert annealed.config.spec.training.temperature_max == 5.0


def test_what_differs_from_the_algorithms_own_settings_is_in_the_folders_name():
    text = SMALL + "persistence = [0.0, 0.1]\nrisk_averse = [true, false]\nwidth = 2"
    runs = parse_sweep(text, Path("out"))
    assert [run.folder.parent.name for run in runs] == [
        "olive-laptop,width=2",
        "olive-laptop,width=2,risk_averse=false",
        "olive-laptop,persistence=0.1,width=2",
        "olive-laptop,persistence=0.1,width=2,risk_averse=false",
    ]
    assert [run.config.spec.options.persistence for run in runs] == [0.0, 0.0, 0.1, 0.1]
    assert runs[2].folder == Path("out/breakout/olive-laptop,persistence=0.1,width=2/seed-0")
    assert runs[2].name == "breakout olive-laptop,persistence=0.1,width=2 seed 0"


def test_listed_lengths_have_folders_of_their_own_even_one_so_that_a_list_can_grow():
    runs = parse_sweep(SMALL + "max_actions = [10, 20]\ntraining_calls = [5]\nepisodes = 3")
    variations = ["max_actions=10,training_calls=5", "max_actions=20,training_calls=5"]
    assert [run.variation for run in runs] == variations
    assert runs[0].folder == Path("runs", variations[0], "breakout/olive-laptop/seed-0")
    assert runs[0].name == f"breakout olive-laptop seed 0 {variations[0]}"


@pytest.mark.parametrize(
    "text",
    [
        "width = [2, 2]",
        "discount = [1, 1.0]",
        "seeds = [0, 0]",
        'profile = ["laptop", "laptop"]',
        "max_actions = [5, 5]",
        "steps = [5, 5]\nepisodes = [1, 1]",
    ],
)
def test_equal_values_count_once(text):
    only(SMALL + text)


def test_parts_by_name():
    runs = parse_sweep(SMALL + 'bandit = ["uniform", "ttts"]\nselection = "random"')
    assert [run.config.spec.options.bandit for run in runs] == ["uniform", "ttts"]
    assert [run.config.spec.label for run in runs] == [
        "olive-laptop,bandit=uniform,selection=random",
        "olive-laptop,selection=random",
    ]


def test_whole_numbers_may_be_written_as_on_the_command_line():
    planned = only(SMALL + "training_calls = 1e5\ncalls_per_action = 2e1\nseeds = [1e0]")
    assert planned.config.training_calls == 100_000
    assert type(planned.config.training_calls) is int
    assert planned.config.spec.options.calls_per_action == 20
    assert planned.config.spec.seed == 1


def test_an_option_goes_to_the_planners_that_know_it():
    with pytest.warns(AdviceWarning, match="^uct has no option ties, width, search_workers: its"):
        runs = parse_sweep(
            'games = "pong"\nalgorithms = ["rollout-iw", "uct"]\n'
            'ties = ["random", "longest"]\nwidth = 2\nsearch_workers = 2'
        )
    assert [(run.config.spec.algorithm, run.config.spec.variant) for run in runs] == [
        ("rollout-iw", "search_workers=2,width=2"),
        ("uct", ""),
        ("rollout-iw", "ties=longest,search_workers=2,width=2"),
    ]
    without = "rollout-iw with the planner breadth-first has no option persistence: its runs go"
    with pytest.warns(AdviceWarning, match=without):
        planners = parse_sweep(
            'games = "pong"\nalgorithms = "rollout-iw"\nwidth = 2\npersistence = 0.5\n'
            'planner = ["rollout-iw", "breadth-first"]'
        )
    variants = [run.config.spec.variant for run in planners]
    assert variants == ["persistence=0.5,width=2", "planner=breadth-first,width=2"]


def test_settings_of_the_network_go_to_the_algorithms_that_have_one():
    with pytest.warns(AdviceWarning, match="^patch-iw has no option steps, hidden: its runs"):
        runs = parse_sweep(
            'games = "pong"\nalgorithms = ["olive", "patch-iw"]\nsteps = 5\nhidden = 8'
        )
    assert [run.config.spec.variant for run in runs] == ["hidden=8,steps=5", ""]


def test_the_number_of_runs_is_bounded_before_any_is_made():
    # Twelve lists of ten values each: a million millions.
    names = ("calls_per_action", "depth_limit", "training_actions", "max_training_episodes")
    names += ("screens_per_episode", "screen_limit", "training_calls", "episodes", "max_actions")
    names += ("search_workers", "batch", "seeds")
    lists = "".join(f"{name} = {list(range(1, 11))}\n" for name in names)
    with pytest.raises(InputError, match="1,000,000,000,000 runs are too many for a sweep"):
        parse_sweep(SMALL + lists)


def test_runs_that_would_share_a_folder_are_refused():
    text = 'games = ["gym:a/b", "gym:a-b"]\nalgorithms = "uct"'
    with pytest.raises(InputError, match="two different runs would be in one folder"):
        parse_sweep(text)


def test_a_file_loads_no_plug_in(monkeypatch):
    loaded = []

    class Point:
        name = "strange"

        def load(self):
            loaded.append(self)

    for registry in (ALGORITHMS, BANDITS, PROFILES, SIMULATORS):
        monkeypatch.setitem(registry._plugins, "strange", Point())
    for text in (
        'games = "breakout"\nalgorithms = "strange"',
        'games = "strange:1"\nalgorithms = "olive"',
        SMALL + 'profile = "strange"',
        SMALL + 'bandit = "strange"',
    ):
        with pytest.raises(InputError, match="is a plug-in, which a file cannot load"):
            parse_sweep(text)
    assert not loaded
    with pytest.raises(InputError, match="names a module, which a file cannot load"):
        parse_sweep('games = "gym:strange_module:X-v0"\nalgorithms = "uct"')


def test_profiles_multiply_without_a_folder():
    runs = parse_sweep(SMALL + 'profile = ["laptop", "paper"]')
    assert [run.config.spec.profile for run in runs] == ["laptop", "paper"]
    assert all(run.variation == "" for run in runs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('games = "breakot"\nalgorithms = "olive"', "did you mean .*breakout"),
        ('games = "papr"\nalgorithms = "olive"', "did you mean .*paper"),
        ('games = "grid:coridor"\nalgorithms = "olive"', "did you mean .*grid:corridor"),
        ('games = "grit:corridor"\nalgorithms = "olive"', "kind of simulator 'grit'.*grid"),
        ('games = "breakout"\nalgorithms = "oliv"', "did you mean .*olive"),
        (SMALL + 'profile = "labtop"', "did you mean laptop"),
        (SMALL + "calls_per_actions = 5", "did you mean .*calls_per_action"),
        (
            SMALL + "seeds = 5",
            r"seeds = 5 should be a list, such as \[0, 1, 2\]",
        ),
        (SMALL + "seeds = [-1]", "seeds = -1 is not possible; it must be at least 0"),
        (SMALL + "seeds = [true]", "seeds = True should be a whole number"),
        (SMALL + "width = 1.5", "width = 1.5 should be a whole number"),
        (SMALL + "width = true", "width = True should be a whole number"),
        (SMALL + 'discount = "high"', "discount = 'high' should be a number"),
        (SMALL + "risk_averse = 1", "risk_averse = 1 should be true or false"),
        (SMALL + 'ties = "longst"', "did you mean longest"),
        (SMALL + "width = [1, 3]", "width = 3 is not possible"),
        (SMALL + "discount = [0.5, nan]", "discount = nan is not possible"),
        (SMALL + "beta = inf", "beta = inf is not possible"),
        (
            'games = "pong"\nalgorithms = ["uct", "iw-1"]\navoid_twins = true',
            "option of uct 'avoid_twins'",
        ),
        ('games = "pong"\nalgorithms = "uct"\nsearch_workers = [1, 2]', "option of uct 'search"),
        ('games = "pong"\nalgorithms = ["uct", "hiw"]\nqueues = "one"', "option of uct 'queues'"),
        (SMALL + "training_calls = 1.5e0", "training_calls = 1.5 should be a whole number"),
        (SMALL + "training_calls = inf", "training_calls = inf should be a whole number"),
        (SMALL + "x = " + "[" * 5000, "more than 100 times"),
        (SMALL + "width = []", "width = .. lists no value"),
        (SMALL + "episodes = 0", "episodes = 0 is not possible"),
        (SMALL + "epochs = 3\nsteps = 4", "either epochs or steps"),
        (
            SMALL + 'profile = "paper"\nhidden = 3',
            "hidden is an option of olive under the",
        ),
        ('algorithms = "olive"', "games and algorithms must be there"),
        ("games = [5]\nalgorithms = 'olive'", "games = 5 should be a text"),
        ("games = ", "cannot be read"),
    ],
)
def test_mistakes_are_explained(text, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_sweep(text)
    assert "\n" not in str(caught.value)


def test_an_error_names_the_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("gams = 3")
    with pytest.raises(InputError, match=r"mine\.toml: unknown key 'gams'; did you mean games"):
        read_sweep(path)
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        read_sweep(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("name", "count"), [("smoke", 9), ("ablation", 6 * 7 * 5), ("paper", 55 * 8 * 5)]
)
def test_the_sample_files(name, count):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "patch-iw has no option steps", AdviceWarning)
        runs = read_sweep(SWEEPS / f"{name}.toml")
    assert len({run.folder for run in runs}) == len(runs) == count


@pytest.mark.parametrize(
    ("limits", "calls", "seconds"),
    [
        ("", 100, None),
        ("calls_per_action = 7", 7, None),
        ("seconds_per_action = 0.25", 100_000, 0.25),
        ("calls_per_action = 7\nseconds_per_action = 1", 7, 1.0),
    ],
)
def test_a_decision_may_be_limited_by_calls_by_seconds_or_by_both(limits, calls, seconds):
    [run] = parse_sweep(f'games = ["breakout"]\nalgorithms = ["patch-iw"]\n{limits}\n')
    options = run.config.spec.options
    assert (options.calls_per_action, options.seconds_per_action) == (calls, seconds)
