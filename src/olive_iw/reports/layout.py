"""Scores as cells of tables, and games by names for people."""

import math
from collections.abc import Mapping, Sequence

from olive_iw.stats import Interval, Summary, Tally, sign_test_p
from olive_iw.tables import EMPTY, MINUS, Cell, Table, number_cell, plain


def game_title(game: str) -> str:
    """Turn a game's name into one for people: `ms_pacman` -> `Ms Pacman`."""
    return game if ":" in game else game.replace("_", " ").title()


def score_cell(summary: Summary | None, episodes: int = 0, bold: bool = False) -> Cell:
    """Print mean ± standard error, as far as known, and the `episodes` where a number is given."""
    if summary is None:
        return EMPTY
    error = "" if math.isnan(summary.standard_error) else f" ± {plain(summary.standard_error)}"
    count = f" ({episodes})" if episodes else ""
    return Cell(f"{plain(summary.mean)}{error}{count}", summary.mean, bold)


def interval_cell(found: Interval) -> Cell:
    """Print a point and its interval, two decimals; the point alone where there is no width."""
    around = "" if found.low == found.high else f" [{found.low:.2f}, {found.high:.2f}]"
    return Cell(f"{found.point:.2f}{around}".replace("-", MINUS), found.point)


def tally_cell(tally: Tally) -> Cell:
    """Print games won–lost–equal."""
    if not tally.games:
        return EMPTY
    return Cell(f"{tally.wins}–{tally.losses}–{tally.ties}", tally.wins - tally.losses)


def chance_cell(tally: Tally) -> Cell:
    """Print the p of the sign test of games won and lost."""
    if not tally.games:
        return EMPTY
    chance = sign_test_p(tally)
    return Cell("< 0.001" if chance < 0.001 else f"{chance:.2g}", chance)


def per_game_table(
    title: str,
    games: Sequence[str],
    columns: Mapping[str, Mapping[str, float]],
    notes: Sequence[str] = (),
) -> Table:
    """Lay out the numbers of every column by game."""
    rows = [
        [Cell(game_title(game)), *(number_cell(numbers.get(game)) for numbers in columns.values())]
        for game in games
    ]
    return Table(title, ("game", *columns), rows, notes)
