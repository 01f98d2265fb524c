"""Reports: tables, plots, a page, comparisons, verification and videos of finished runs.

What is named here is what the command line calls; each function returns what it found, so that a
notebook can use it as well. The parts are imported when they are first asked for: plots and films
bring large packages along.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from olive_iw.reports.build import Report, report
    from olive_iw.reports.comparison import compare_runs as compare
    from olive_iw.reports.film import write_gif as gif
    from olive_iw.reports.film import write_video as video
    from olive_iw.runs.verification import verify_folder as verify

__all__ = ["Report", "compare", "gif", "report", "verify", "video"]

_PLACES = {
    "Report": ("reports.build", "Report"),
    "compare": ("reports.comparison", "compare_runs"),
    "gif": ("reports.film", "write_gif"),
    "report": ("reports.build", "report"),
    "verify": ("runs.verification", "verify_folder"),
    "video": ("reports.film", "write_video"),
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(f"olive_iw.{module}"), attribute)
