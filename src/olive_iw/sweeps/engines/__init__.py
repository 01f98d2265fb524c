"""Engines: where the runs of a sweep are done."""

from collections.abc import Callable

from olive_iw.registry import Registry
from olive_iw.sweeps.engines.base import Engine, EngineOptions, Job, RunError, Work
from olive_iw.sweeps.engines.inline import InlineEngine
from olive_iw.sweeps.engines.local import LocalEngine

__all__ = [
    "ENGINES",
    "Engine",
    "EngineOptions",
    "InlineEngine",
    "Job",
    "LocalEngine",
    "RunError",
    "Work",
    "make_engine",
]


def _make_ray(options: EngineOptions) -> Engine:
    from olive_iw.sweeps.engines.ray import RayEngine

    return RayEngine(options)


ENGINES: Registry[Callable[[EngineOptions], Engine]] = Registry(
    "engine",
    "olive_iw.engines",
    {"inline": InlineEngine, "local": LocalEngine, "ray": _make_ray},
)


def make_engine(name: str, options: EngineOptions | None = None) -> Engine:
    """Make an engine by name: inline, local or ray."""
    return ENGINES[name](options or EngineOptions())
