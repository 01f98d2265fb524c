"""Files as version 0.2.0 wrote them, in format 1: all options of all algorithms in one table."""

from typing import Any

from olive_iw.agents import Spec
from olive_iw.agents.format1 import OF_0_2
from olive_iw.runs.config import RunConfig
from olive_iw.settings import by_name, settings_of


def of_spec(spec: Spec) -> dict[str, Any]:
    """Fields of a specification."""
    features = "vae" if spec.parts.learns_features else "none"
    fixed = {"features": features, "planner": spec.options.get("planner", "none")}
    tables = {"network": {}, "training": {}, **spec.options.to_tables()}
    if not spec.parts.trains_network:
        configs = zip(("network", "training"), spec.parts.profile(spec.profile), strict=False)
        tables |= {table: plain(vars_of(config)) for table, config in configs}
    own = {name: it for name, it in spec.settings().items() if name in OF_0_2}
    return {
        "format": 1,
        "algorithm": spec.algorithm,
        "profile": spec.profile,
        "seed": spec.seed,
        "options": plain({**OF_0_2, **fixed, **own}),
        "network": tables["network"],
        "training": tables["training"],
    }


def of_run(config: RunConfig) -> dict[str, Any]:
    """Fields of a run's configuration."""
    now = config.to_dict()
    tables = {name for name, it in now.items() if isinstance(it, dict)} - {"versions"}
    return {name: it for name, it in now.items() if name not in tables} | of_spec(config.spec)


def vars_of(config: Any) -> dict[str, Any]:
    return {name: getattr(config, name) for name in settings_of(type(config))}


def plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: by_name(value) for name, value in values.items() if value is not None}
