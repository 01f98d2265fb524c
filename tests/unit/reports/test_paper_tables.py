"""Tables: the paper's layout, missing cells, and each way of rendering."""

import pytest
from made_up_runs import write_run

from olive_iw.randomness import generator
from olive_iw.reports.layout import game_title, interval_cell, score_cell
from olive_iw.reports.page import templates
from olive_iw.reports.paper_tables import (
    ablation_table,
    aggregates_of,
    aggregates_table,
    bandit_table,
    improvement_table,
    maxima_table,
    printed_wins,
    scores_table,
    wins_table,
)
from olive_iw.reports.published import normalised, published, published_wins
from olive_iw.reports.results import read_results, systems
from olive_iw.stats import METRICS, Interval, Summary, bootstrap_interval
from olive_iw.tables import Cell, Table, counted, plain, signed


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def groups_of(tmp_path):
    return systems(read_results([tmp_path]))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (3.14159, "3.14"),
        (31.8, "31.8"),
        (-12.25, "−12.2"),
        (999500, "999,500"),
        (1234.5, "1,234"),
        (float("-inf"), "−∞"),
    ],
)
def test_numbers(value, text):
    assert plain(value) == text


def test_other_numbers():
    assert [signed(value) for value in (3, -2, 0)] == ["+3", "−2", "±0"]
    assert score_cell(Summary(5.5, float("nan"), 6, 1)).text == "5.50"
    assert score_cell(Summary(53, 7, 60, 2), 2).text == "53 ± 7 (2)"
    assert interval_cell(Interval(0.5, -0.25, 1)).text == "0.50 [−0.25, 1.00]"
    assert [counted(number, "run") for number in (0, 1, 1200)] == ["0 runs", "1 run", "1,200 runs"]
    assert game_title("ms_pacman") == "Ms Pacman"
    assert game_title("grid:key-door") == "grid:key-door"


def test_the_papers_second_table_comes_out_as_printed():
    wins = published_wins("paper_ablation_wins.csv")
    names = list(dict.fromkeys(row for row, _ in wins))
    rows = texts(wins_table("Table 2", names, wins))
    assert rows[0] == ["rollout-iw", "–", "8", "10", "7", "4", "6", "4"]
    assert rows[3] == ["vae-iw-ttts", "38 (+31)", "20 (+7)", "10 (+5)", "–", "6", "5", "3"]
    assert rows[5][3:6] == ["7 (±0)", "7 (+2)", "6 (+2)"]
    assert rows[6] == ["portfolio", "38 (+34)", "26 (+16)", "10 (+6)", "9 (+6)", "–", "–", "–"]


def test_the_papers_first_table_comes_out_as_printed():
    wins = published_wins("paper_bandit_wins.csv")
    names = list(dict.fromkeys(row for row, _ in wins))
    rows = texts(wins_table("Table 1", names, wins))
    assert rows[1] == ["vae-iw-max", "5 (−4)", "–", "4", "2"]
    assert rows[3] == ["vae-iw-ttts", "10 (+5)", "9 (+7)", "2 (−4)", "–"]


def test_ablation_with_a_portfolio(tmp_path):
    low, high = [1, 2, 3, 4, 5], [11, 12, 13, 14, 15]
    for game, passive, active in (
        ("pong", high, low),
        ("breakout", low, high),
        ("qbert", low, low),
    ):
        write_run(tmp_path, [6, 7, 8, 9, 10], game=game, algorithm="rollout-iw")
        write_run(tmp_path, passive, game=game, algorithm="olive-passive")
        write_run(tmp_path, active, game=game, algorithm="olive")
    table = ablation_table(groups_of(tmp_path))
    assert table.columns == ("win \\ loss", "rollout-iw", "olive-passive", "olive", "portfolio")
    assert texts(table) == [
        ["rollout-iw", "–", "2", "2", "1"],
        ["olive-passive", "1 (−1)", "–", "1", "–"],
        ["olive", "1 (−1)", "1 (±0)", "–", "–"],
        ["portfolio", "2 (+1)", "–", "–", "–"],
    ]
    assert "of 3 games" in table.notes[0]


def test_variants_are_never_pooled_nor_joined_in_a_portfolio(tmp_path):
    write_run(tmp_path, [1, 2])
    write_run(tmp_path, [11, 12], settings={"width": 2})
    write_run(tmp_path, [21, 22], algorithm="olive-passive")
    write_run(tmp_path, [31, 32], algorithm="rollout-iw", training_calls=0)
    labels = ("rollout-iw", "olive-passive", "olive", "olive, width=2")
    groups = groups_of(tmp_path)
    assert scores_table(groups).columns[1:] == labels
    assert ablation_table(groups).columns[1:] == labels  # which of the two would it be?
    assert texts(maxima_table(groups)) == [["Breakout", "32", "22", "2", "12"]]


def test_systems_without_a_common_game_have_nothing_to_count(tmp_path):
    write_run(tmp_path, [1, 2], game="pong", algorithm="rollout-iw")
    write_run(tmp_path, [1, 2], game="qbert", algorithm="olive")
    groups = groups_of(tmp_path)
    assert texts(ablation_table(groups)) == [["rollout-iw", "–", "–"], ["olive", "–", "–"]]
    assert not any("Best of the games" in note for note in scores_table(groups).notes)


def test_bandit_table_needs_two_bandits(tmp_path):
    write_run(tmp_path, [1], algorithm="vae-iw-ttts")
    assert bandit_table(groups_of(tmp_path)) is None
    write_run(tmp_path, [2], algorithm="vae-iw-ucb1")
    write_run(tmp_path, [2], algorithm="olive")
    assert bandit_table(groups_of(tmp_path)).columns[1:] == ("vae-iw-ucb1", "vae-iw-ttts")


def test_scores_with_missing_cells_and_published_ones_beside(tmp_path):
    write_run(tmp_path, [50, 60], game="breakout")
    write_run(tmp_path, [70], game="breakout", algorithm="rollout-iw")
    write_run(tmp_path, [3, 3], game="grid:corridor")
    table = scores_table(groups_of(tmp_path), [published("olive"), published("efficientzero")])
    assert texts(table) == [
        ["Breakout", "70 (1)", "55 ± 5 (2)", "53 ± 7", "406.5"],
        ["grid:corridor", "–", "3 ± 0 (2)", "–", "–"],
    ]
    assert table.rows[0][1].bold
    assert not table.rows[0][2].bold
    notes = " ".join(table.notes)
    assert "100,000 calls; planning: 100 calls per action" in notes
    assert "50 simulations" in notes
    assert "Planners use the simulator" in notes


def test_maxima(tmp_path):
    write_run(tmp_path, [50, 60])
    assert texts(maxima_table(groups_of(tmp_path))) == [["Breakout", "60"]]


def test_a_short_game_does_not_stand_beside_the_papers_means_without_a_word(tmp_path):
    write_run(tmp_path, [50, 60], max_actions=20)
    beside = [published(name) for name in ("olive", "vae-iw", "n-cpl", "dqn")]
    notes = scores_table(groups_of(tmp_path), beside).notes
    assert notes[0].startswith("Caps of an episode differ")
    assert ": 20 actions in olive; 18,000 actions in Olive (paper), VAE-IW (paper);" in notes[0]
    assert "1,200 actions in N-CPL" in notes[0]
    assert "not known in DQN" in notes[0]
    write_run(tmp_path / "long", [50, 60], max_actions=18_000)
    notes = scores_table(groups_of(tmp_path / "long"), [published("olive")]).notes
    assert not any("Caps of an episode" in note for note in notes)


def test_a_win_depends_on_the_significance(tmp_path):
    write_run(tmp_path, [5, 6, 7], algorithm="rollout-iw")
    write_run(tmp_path, [1, 2, 3, 4])  # p = 2 / C(7, 3) = 0.057
    assert texts(ablation_table(groups_of(tmp_path)))[0] == ["rollout-iw", "–", "0"]
    table = ablation_table(groups_of(tmp_path), significance=0.10)
    assert texts(table)[0] == ["rollout-iw", "–", "1"]
    assert "two-sided p < 0.1," in table.notes[0]


def test_aggregates_by_hand(tmp_path):
    # Random 1.7 and human 30.5 in Breakout: a mean of 16.1 is half way.
    write_run(tmp_path, [16.1], game="breakout")
    write_run(tmp_path, [1], game="grid:corridor")
    table = aggregates_table(groups_of(tmp_path), samples=20)
    # One run has no interval.
    assert texts(table) == [["olive", "0.50", "0.50", "0.50", "0.50", "1"]]
    assert "left out: grid:corridor" in table.notes[1]


def test_no_interval_of_an_optimality_gap_reaches_below_zero(tmp_path):
    for seed, score in enumerate((10, 40, 50)):  # human: 30.5
        write_run(tmp_path, [score], game="breakout", seed=seed)
    (system,) = groups_of(tmp_path)
    assert aggregates_of(system)["optimality gap"].low == 0.0
    scores, metric = normalised(system), METRICS["optimality gap"]
    assert bootstrap_interval(scores, metric, generator(0)).low < 0.0, "widened too far"


def test_aggregates_without_any_reference_are_none(tmp_path):
    write_run(tmp_path, [1], game="grid:corridor")
    assert aggregates_table(groups_of(tmp_path)) is None


def test_probability_of_improvement(tmp_path):
    write_run(tmp_path, [5], algorithm="olive")
    assert improvement_table(groups_of(tmp_path)) is None
    write_run(tmp_path, [1], algorithm="rollout-iw")
    table = improvement_table(groups_of(tmp_path), samples=20)
    assert texts(table)[0] == ["rollout-iw", "–", "0.00"]
    assert texts(table)[1] == ["olive", "1.00", "–"]


SMALL = Table(
    "Scores & more",
    ("game", "a_b"),
    [[Cell("Q*bert"), Cell("1 ± 2", 1.0, bold=True)], [Cell("π|x"), Cell("–")]],
    ("100% <sure>.",),
)


def test_text():
    lines = SMALL.as_text(60).splitlines()
    assert lines[0] == "Scores & more"
    assert any("Q*bert" in line and line.endswith("1 ± 2") for line in lines)
    assert lines[-1] == "100% <sure>."
    assert "\x1b" not in SMALL.as_text()
    assert "\x1b[1m" in SMALL.as_text(colour=True)


def test_text_keeps_every_row_and_stays_within_its_width():
    table = Table("T", ("game", "s"), [[Cell(f"game {i}"), Cell("1")] for i in range(200)])
    text = table.as_text(40)
    assert all(f"game {i} " in text for i in range(200))
    assert max(map(len, text.splitlines())) <= 40


def test_markdown():
    assert SMALL.as_markdown() == (
        "### Scores & more\n\n"
        "| game | a\\_b |\n| :--- | ---: |\n"
        "| Q\\*bert | **1 ± 2** |\n| π\\|x | – |\n"
        "\n100% \\<sure>.\n"
    )


def test_names_of_strangers_are_text_only():
    name = "[bold]$x$ <b>\x1b[31m[a](b)\n|"
    table = Table(name, (name,), [[Cell(name)]], (name,))
    assert "\x1b" not in table.as_text()
    assert "[bold]" in table.as_text()
    assert "](" not in table.as_markdown()
    assert "<b>" not in table.as_markdown().replace("\\<b>", "")
    assert "<b>" not in templates().get_template("table.html").render(table=table)
    assert "$x$" not in table.as_latex()


def test_latex():
    assert SMALL.as_latex().splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"game & a\_b \\",
        r"\midrule",
        r"Q*bert & \textbf{1 $\pm$ 2} \\",
        r"$\pi$|x & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\caption{Scores \& more. 100\% <sure>.}",
        r"\end{table}",
    ]


def test_html():
    html = templates().get_template("table.html").render(table=SMALL)
    assert 'aria-label="Scores &amp; more"' in html
    assert '<td class="number" data-sort="1.0"><strong>1 ± 2</strong></td>' in html
    assert "100% &lt;sure&gt;." in html
    assert html.count("<tr>") == 3


def test_the_papers_own_wins_are_shown_of_what_was_run(tmp_path):
    for algorithm in ("rollout-iw", "olive", "vae-iw-annealed", "vae-iw-max", "patch-iw"):
        write_run(tmp_path, [1.0, 2.0], algorithm=algorithm)
    ablation, bandits = printed_wins(systems(read_results([tmp_path]))).values()
    assert ablation.columns == (
        "win \\ loss",
        *("rollout-iw", "vae-iw-annealed", "olive", "portfolio"),
    )
    assert [cell.text for cell in ablation.rows[2]] == ["olive", "35 (+29)", "7 (±0)", "–", "–"]
    assert bandits.columns[1:] == ("vae-iw-annealed", "vae-iw-max")


def test_a_single_algorithm_has_no_wins_in_the_paper(tmp_path):
    write_run(tmp_path, [1.0], algorithm="olive")
    assert printed_wins(systems(read_results([tmp_path]))) == {}
