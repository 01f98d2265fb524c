"""Numbers and names as they are printed in every table and plot."""

import math

MINUS = "−"


def plain(value: float) -> str:
    """Print a score or mean: thousands separated, about four digits, a real minus sign."""
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    size = abs(value)
    digits = 0 if size >= 1000 or value == round(value) else 1 if size >= 10 else 2
    return f"{value:,.{digits}f}".replace("-", MINUS)


def with_error(mean: float, error: float | None) -> str:
    """Mean ± standard error; the mean alone where the error is not known."""
    if error is None or math.isnan(error):
        return plain(mean)
    return f"{plain(mean)} ± {plain(error)}"


def signed(value: float) -> str:
    """Print a difference with its sign, as the paper does: +3, −2, ±0."""
    return "±0" if value == 0 else f"{'+' if value > 0 else ''}{plain(value)}"


def interval(point: float, low: float, high: float) -> str:
    """Point estimate and its interval, two decimals; the point alone where there is no width."""
    around = "" if low == high else f" [{low:.2f}, {high:.2f}]"
    return f"{point:.2f}{around}".replace("-", MINUS)


def counted(number: int, one: str, many: str = "") -> str:
    """Print a number of things: `1 run`, `1,200 runs`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def game_title(game: str) -> str:
    """Turn a game's name into one for people: `ms_pacman` -> `Ms Pacman`."""
    return game if ":" in game else game.replace("_", " ").title()
