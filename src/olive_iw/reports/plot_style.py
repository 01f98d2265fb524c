"""One style for all plots: colour-blind safe, quiet, and the same bytes for the same numbers."""

import io
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK = "#24292f"
"""Colour of all text and lines that are not data; the page replaces it by its own text colour."""
GRID = "#8c959f"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F")
"""Okabe and Ito's colours, without the ones that vanish on a white or a black page."""
PHONE_WIDTH = 3.6
"""Inches: 346 of a phone's 390 pixels, the rest is margin."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_INKED = ("axes.edgecolor", "axes.labelcolor", "legend.labelcolor", "text.color")
STYLE: Mapping[Any, object] = MappingProxyType(
    {
        **dict.fromkeys((*_INKED, "xtick.color", "ytick.color"), INK),
        **dict.fromkeys(("axes.spines.right", "axes.spines.top", "legend.frameon"), False),
        **dict.fromkeys(("axes.facecolor", "figure.facecolor", "savefig.facecolor"), "none"),
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.labelsize": 10,
        "font.family": "DejaVu Sans",
        "font.size": 9.5,
        "pdf.fonttype": 42,  # letters that a reader can search and a journal accepts
        "grid.alpha": 0.35,
        "grid.color": GRID,
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.8,
        "lines.markersize": 5.5,
        "svg.hashsalt": "olive-iw",
        # A game's name may hold dollar signs, which are no formula here.
        "text.parse_math": False,
    }
)


_FOR_PHONE: ContextVar[bool] = ContextVar("for a phone", default=False)


@contextmanager
def styled(phone: bool = False) -> Iterator[None]:
    """Draw in the one style, whatever the user's own settings are.

    For a `phone`, panels are below each other and no wider than it is, and labels are broken.
    """
    before = _FOR_PHONE.set(phone)
    try:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(STYLE)
            yield
    finally:
        _FOR_PHONE.reset(before)


def colour(index: int) -> str:
    """Colour of the system with this index."""
    return COLOURS[index % len(COLOURS)]


def marker(index: int) -> str:
    """Marker of the system with this index: tells apart what shares a colour."""
    return MARKERS[index % len(MARKERS)]


def short_number(value: float, _position: float = 0.0) -> str:
    """Print the number of an axis: 7500 as 7.5k, 1200000 as 1.2M."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def broken(label: str) -> str:
    """Break a long label of a row into lines, so that the plot keeps its room."""
    words = label.replace(",", ", ").split()
    return "\n".join(textwrap.wrap(" ".join(words), 16 if _FOR_PHONE.get() else 24))


def row_height(labels: Sequence[str]) -> float:
    """Inches that a row of a plot needs for its label."""
    return 0.13 + 0.14 * max(label.count("\n") + 1 for label in labels)


def panels(
    count: int,
    columns: int,
    panel_size: tuple[float, float],
    share_y: bool = False,
) -> tuple[Figure, Sequence[Axes]]:
    """Make a figure with `count` panels in rows of `columns`, four in a square; sizes in inches."""
    phone, (width, height) = _FOR_PHONE.get(), panel_size
    columns = 1 if phone else min(columns, 2 if count == 4 else count)
    width = min(width, PHONE_WIDTH) if phone else width
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=share_y).ravel()
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, list(axes[:count])


KINDS: Mapping[str, Mapping[str, Any]] = {
    "png": {"dpi": 160, "facecolor": "white", "metadata": {"Software": "olive-iw"}},
    "svg": {"metadata": {"Creator": "olive-iw", "Date": None}},
    "pdf": {"metadata": {"Creator": "olive-iw", "Producer": None, "CreationDate": None}},
}
"""Kinds of files, and what each needs for the same figure always to give the same bytes."""


def as_file(figure: Figure, kind: str) -> bytes:
    """Content of a figure's file of one of the `KINDS`."""
    out = io.BytesIO()
    with styled():
        figure.savefig(out, format=kind, **KINDS[kind])
    return out.getvalue()


def as_svg(figure: Figure) -> str:
    """SVG text of a figure."""
    return as_file(figure, "svg").decode("utf-8")
