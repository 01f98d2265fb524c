"""Engines: where the runs of a sweep are done."""

from collections.abc import Callable

from olive_iw.registry import Registry
from olive_iw.sweeps.engines.base import Engine as Engine
from olive_iw.sweeps.engines.base import Job as Job
from olive_iw.sweeps.engines.base import RunError as RunError
from olive_iw.sweeps.engines.base import Work as Work
from olive_iw.sweeps.engines.local import InlineEngine as InlineEngine
from olive_iw.sweeps.engines.local import LocalEngine as LocalEngine
from olive_iw.sweeps.engines.ray import RayEngine
from olive_iw.sweeps.options import EngineOptions as EngineOptions

ENGINES: Registry[Callable[[EngineOptions], Engine]] = Registry(
    "engine",
    "olive_iw.engines",
    {"inline": InlineEngine, "local": LocalEngine, "ray": RayEngine},
)


def make_engine(engine: str | Engine, options: EngineOptions | None = None) -> Engine:
    """Make an engine by name, such as inline, local or ray; an object is returned as it is."""
    if not isinstance(engine, str):
        return engine
    return ENGINES[engine](options or EngineOptions())
