"""Plots: which are made, what is on their axes, the same bytes each time."""

from dataclasses import replace

import pytest
from made_up_runs import write_run

from olive_iw.reports.curve_plots import anytime_plot, learning_plot, losses_plot
from olive_iw.reports.plot_style import INK, KINDS, as_file, as_svg, panels, short_number, styled
from olive_iw.reports.plots import (
    make_plots,
    not_drawn,
    save_plots,
    scores_plot,
    wins_plot,
)
from olive_iw.reports.published import published
from olive_iw.reports.results import read_results, systems
from olive_iw.runs.events import TrainingEpisodeDone, append_event


@pytest.fixture
def groups(tmp_path):
    write_run(tmp_path, [50, 60, 70], training=[1, 5, 9])
    write_run(tmp_path, [55, 65], seed=1, training=[2, 6, 7])
    write_run(tmp_path, [5, 6, 7], algorithm="rollout-iw", training_calls=0)
    write_run(tmp_path, [1, 1], game="grid:corridor")
    return systems(read_results([tmp_path]))


def test_plots_with_data_are_made(groups):
    assert list(make_plots(groups)) == ["scores", "aggregates", "profiles", "wins", "learning"]


def test_plots_without_data_are_left_out(tmp_path):
    write_run(tmp_path, [1, 1], game="grid:corridor")
    assert list(make_plots(systems(read_results([tmp_path])))) == ["scores"]


def test_plots_that_mean_nothing_are_left_out_with_a_word(tmp_path):
    write_run(tmp_path, [50])
    alone = systems(read_results([tmp_path]))
    assert list(make_plots(alone)) == []
    assert sorted(not_drawn(alone)) == ["aggregates", "profiles", "scores"]
    assert list(make_plots(alone, [published("olive")])) == ["scores"]
    write_run(tmp_path, [5], algorithm="rollout-iw", training_calls=0)
    two = systems(read_results([tmp_path]))
    assert list(make_plots(two)) == ["scores", "profiles"]
    assert "one episode on a side" in not_drawn(two)["wins"]


def test_profiles_of_runs_below_random_play_are_not_drawn(tmp_path):
    write_run(tmp_path, [0, 1])
    write_run(tmp_path, [1, 1], seed=1)
    assert list(make_plots(systems(read_results([tmp_path])))) == ["scores", "aggregates"]


def test_no_interval_reaches_below_a_possible_score(tmp_path):
    write_run(tmp_path, [0, 1, 30])
    write_run(tmp_path, [-21, -20, 5], game="pong")
    with styled():
        breakout, pong = scores_plot(systems(read_results([tmp_path]))).axes
    low = [
        min(bar.get_segments()[0][:, 0]) for axis in (breakout, pong) for bar in axis.collections
    ]
    assert low[0] == 0.0
    assert low[1] < -21.0


def test_dollar_signs_are_no_formula(tmp_path):
    write_run(tmp_path, [1, 2], game="grid:$x_$", training=[1, 2])
    figures = make_plots(systems(read_results([tmp_path])))
    assert "$x_$" in figures["scores"].axes[0].get_xlabel()
    assert all(as_svg(figure) for figure in figures.values())


def test_points_of_a_learning_curve_say_how_many_episodes_are_behind_them(tmp_path):
    write_run(tmp_path, [1, 2], training=[1, 5, 9])
    write_run(tmp_path, [1, 2], seed=1, training=[2, 6])
    with styled():
        (axis,) = learning_plot(systems(read_results([tmp_path]))).axes
    said = {text.xy: text.get_text() for text in axis.texts}
    assert said == {(50.0, 1.5): "2", (150.0, 9.0): "1"}


def test_losses_stand_over_the_training_calls(tmp_path):
    for seed, losses in enumerate(([40.0, 20.0, None], [60.0, 30.0, 10.0])):
        folder = write_run(tmp_path, [1, 2], seed=seed)
        for number, loss in enumerate(losses):
            spent = 100 * (number + 1)
            done = TrainingEpisodeDone(number, 0, 1, 100, spent, 1, 1, 1, 1, loss, None, 0, 1)
            append_event(folder / "events.jsonl", done)
    with styled():
        (axis,) = losses_plot(systems(read_results([tmp_path]))).axes
    assert axis.get_xlabel() == "Breakout: training calls"
    (curve,) = axis.containers
    assert list(curve.lines[0].get_xdata()) == [100, 200, 300]
    assert list(curve.lines[0].get_ydata()) == [50, 25, 10]
    assert [text.get_text() for text in axis.texts] == ["2", "1"]


def test_losses_that_cannot_be_are_left_out(tmp_path):
    folder = write_run(tmp_path, [1, 2])
    done = TrainingEpisodeDone(0, 0, 1, 100, 100, 1, 1, 1, 1, 40.0, None, 0, 1)
    append_event(folder / "events.jsonl", done)
    line = (folder / "events.jsonl").read_text()
    (folder / "events.jsonl").write_text(line.replace("40.0", "1e999") + line[:50])
    groups = systems(read_results([tmp_path]))
    assert groups[0].runs[0].losses.calls.size == 0
    with styled():
        assert losses_plot(groups) is None


@pytest.mark.parametrize("phone", [False, True])
def test_long_names_leave_room_for_the_plot(tmp_path, phone):
    many = {"width": 2, "avoid_twins": True, "look_further": 0.25, "ties": "longest"}
    for seed in range(2):
        write_run(tmp_path, [50, 60], seed=seed, training=[1, 2])
        write_run(tmp_path, [50, 60], seed=seed, training=[1, 2], settings=many)
    figures = make_plots(systems(read_results([tmp_path])), [published("olive")], phone=phone)
    assert {"scores", "aggregates", "profiles", "wins", "learning"} == figures.keys()
    for figure in figures.values():  # a layout without room is a warning, which fails here
        as_svg(figure)
        width = figure.axes[0].get_position().width * figure.get_size_inches()[0]
        assert width > 1.2, "inches"


def test_a_phone_has_all_panels_below_each_other(groups):
    wide, narrow = make_plots(groups), make_plots(groups, phone=True)
    assert list(wide) == list(narrow)
    assert narrow["scores"].get_size_inches()[0] <= 3.6 < wide["scores"].get_size_inches()[0]
    assert narrow["aggregates"].get_size_inches()[0] <= 3.6


def test_no_plot_has_a_title_and_every_axis_has_a_name(groups):
    for name, figure in make_plots(groups, [published("olive")]).items():
        assert figure.get_suptitle() == ""
        for axis in figure.axes:
            if axis.get_visible() and axis.get_label() != "<colorbar>":
                assert axis.get_title() == ""
                assert axis.get_xlabel(), name


def test_scores_show_means_and_published_ones_hollow(groups):
    with styled():
        figure = scores_plot(groups, [published("olive")])
    breakout = next(axis for axis in figure.axes if axis.get_xlabel().startswith("Breakout"))
    points = [line for line in breakout.lines if line.get_marker() in ("o", "s", "D")]
    means = [float(line.get_xdata()[0]) for line in points]
    assert means == [6.0, 60.0, 53.0]
    assert [line.get_markerfacecolor() == "none" for line in points] == [False, False, True]
    assert points[1].get_color() == points[2].get_color()
    (band,) = breakout.patches
    assert (band.get_y(), band.get_height()) == (1.5, 1.0)  # behind the published one
    assert [tick.get_text() for tick in breakout.get_yticklabels()] == [
        "rollout-iw",
        "olive",
        "Olive (paper)",
    ]


def test_learning_curves_are_means_over_runs(groups):
    with styled():
        figure = learning_plot(groups)
    (axis,) = figure.axes
    assert axis.get_xlabel() == "Breakout: training calls"
    ((line, *_),) = axis.containers
    assert (line.get_xdata()[0], line.get_ydata()[0]) == (50.0, 1.5)
    assert (line.get_xdata()[-1], line.get_ydata()[-1]) == (150.0, 8.0)


def test_the_anytime_curve_needs_several_budgets(tmp_path, groups):
    with styled():
        assert anytime_plot(groups) is None
    write_run(tmp_path / "more", [10, 20], calls_per_action=10)
    mixed = systems(read_results([tmp_path]))
    with styled():
        (axis,) = anytime_plot(mixed).axes
    assert list(axis.lines[0].get_xdata()) == [10, 100]
    assert list(axis.lines[0].get_ydata()) == [15.0, 60.0]


def test_an_anytime_curve_holds_one_variant_and_one_budget_but_for_the_calls(tmp_path):
    for calls in (10, 100):
        write_run(tmp_path, [calls, calls], calls_per_action=calls)
        write_run(tmp_path, [1, 1], calls_per_action=calls, settings={"width": 2})
        write_run(tmp_path / "short", [2, 2], calls_per_action=calls, max_actions=20)
    with styled():
        (axis,) = anytime_plot(systems(read_results([tmp_path]))).axes
    curves = {curve.get_label(): list(curve.lines[0].get_ydata()) for curve in axis.containers}
    assert curves == {
        "olive (laptop), 1,000 training calls, at most 20 actions": [2.0, 2.0],
        "olive (laptop), 1,000 training calls, at most 200 actions": [10.0, 100.0],
        "olive (laptop), width=2, 1,000 training calls, at most 200 actions": [1.0, 1.0],
    }


def test_wins_write_the_counts_in(groups):
    with styled():
        figure = wins_plot(groups)
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["0", "1", "–", "–"]
    with styled():
        assert wins_plot(groups[:1]) is None


def test_the_colour_bar_of_wins_counts_whole_games(groups):
    with styled():
        figure = wins_plot(groups)
        ticks = figure.axes[1].get_yticks()
    assert len(ticks) > 1
    assert all(tick == round(tick) for tick in ticks)


def test_no_label_of_wins_is_cut(groups):
    long = [replace(one, label=f"{one.label}, safe_steps=8,avoid_twins=true") for one in groups]
    for several in (long, groups):
        with styled():
            figure = wins_plot(several)
            as_file(figure, "png")
            whole = figure.get_window_extent()
            for axis in figure.axes:
                box = axis.get_tightbbox()
                assert min(box.x0, box.y0) >= 0, "left or below the picture"
                assert (box.x1 <= whole.x1) & (box.y1 <= whole.y1), "right or above"


def test_the_same_numbers_give_the_same_bytes(groups):
    first, second = make_plots(groups), make_plots(groups)
    for name in ("wins", "profiles"):
        assert as_svg(first[name]) == as_svg(second[name])
    for kind in KINDS:
        assert as_file(first["wins"], kind) == as_file(second["wins"], kind)
    assert "<dc:date>" not in as_svg(first["wins"])


def test_files_are_written_in_three_formats(tmp_path, groups):
    with styled():
        figures = {"wins": wins_plot(groups)}
    paths = save_plots(tmp_path / "plots", figures)
    assert [path.name for path in paths] == ["wins.png", "wins.svg", "wins.pdf"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert INK in paths[1].read_text()
    assert paths[2].read_bytes().startswith(b"%PDF")


def test_the_users_own_settings_do_not_matter(groups):
    import matplotlib as mpl

    def drawn():
        with styled():
            figure = wins_plot(groups)
        return as_svg(figure)

    before = drawn()
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert drawn() == before
        assert mpl.rcParams["font.size"] == 30


def test_panels_fill_rows_and_hide_the_rest():
    figure, axes = panels(5, 3, (2, 1))
    assert len(axes) == 5
    assert [axis.get_visible() for axis in figure.axes] == [True] * 5 + [False]
    assert tuple(panels(4, 3, (2, 1))[0].get_size_inches()) == (4, 2)
    with styled(phone=True):
        assert tuple(panels(4, 3, (5, 1))[0].get_size_inches()) == (3.6, 4)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (7500, "7.5k"), (-1_200_000, "−1.2M"), (999, "999"), (0.25, "0.25")],
)
def test_short_numbers(value, text):
    assert short_number(value) == text
