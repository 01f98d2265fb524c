"""Engines: where the runs of a sweep are done."""

from collections.abc import Callable

from olive_iw.registry import Registry
from olive_iw.sweeps.engines.base import Engine, Job, RunError, Work
from olive_iw.sweeps.engines.local import InlineEngine, LocalEngine
from olive_iw.sweeps.options import EngineOptions

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
    """Does every job as a task of a Ray cluster."""  # noqa: D401
    from olive_iw.sweeps.engines.ray import RayEngine

    return RayEngine(options)


ENGINES: Registry[Callable[[EngineOptions], Engine]] = Registry(
    "engine",
    "olive_iw.engines",
    {"inline": InlineEngine, "local": LocalEngine, "ray": _make_ray},
)


def make_engine(engine: str | Engine, options: EngineOptions | None = None) -> Engine:
    """Make an engine by name, such as inline, local or ray; an object is returned as it is."""
    if not isinstance(engine, str):
        return engine
    return ENGINES[engine](options or EngineOptions())
