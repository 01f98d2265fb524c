"""Simulators: what can be reset, stepped, saved and restored, and how each is called by name."""

import inspect
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from olive_iw.errors import InputError, SimulatorError, unknown_name
from olive_iw.registry import Registry
from olive_iw.simulators.atari import PAPER_GAMES, AtariSimulator, all_games, game_name, is_game
from olive_iw.simulators.base import (
    NO_SCREEN,
    HasChance,
    HasFrames,
    HasGreyLevels,
    HasPalette,
    Screen,
    Simulator,
    Step,
    missing_members,
)
from olive_iw.simulators.check import (
    CheckReport,
    check_simulator,
    foresees_chance,
    warn_of_chance,
)
from olive_iw.simulators.grid import WORLDS, GridWorld
from olive_iw.simulators.limited import LimitedSimulator
from olive_iw.simulators.retro import RetroSimulator

if TYPE_CHECKING:
    from olive_iw.simulators.gymnasium import GymnasiumSimulator
    from olive_iw.simulators.gymnasium_states import Environment

GAMES: tuple[str, ...]
"""Every game that can be played; found when first asked for, because it reads every ROM."""

__all__ = [
    "GAMES",
    "NO_SCREEN",
    "PAPER_GAMES",
    "SIMULATORS",
    "AtariSimulator",
    "CheckReport",
    "GridWorld",
    "GymnasiumSimulator",
    "HasChance",
    "HasFrames",
    "HasGreyLevels",
    "HasPalette",
    "LimitedSimulator",
    "RetroSimulator",
    "Screen",
    "Simulator",
    "SimulatorError",
    "Step",
    "check_name",
    "check_simulator",
    "foresees_chance",
    "game_name",
    "is_environment",
    "make_simulator",
    "simulator_names",
    "warn_of_chance",
]


def _make_gymnasium(name: "str | Environment", **options: Any) -> Simulator:
    """Gymnasium environments that can be copied, by their id: `gym:ALE/Breakout-v5`."""
    from olive_iw.simulators.gymnasium import GymnasiumSimulator

    return GymnasiumSimulator(name, **options)


SIMULATORS: Registry[Callable[..., Simulator]] = Registry(
    "kind of simulator",
    "olive_iw.simulators",
    {
        "atari": AtariSimulator,
        "grid": GridWorld,
        "gym": _make_gymnasium,
        "retro": RetroSimulator,
    },
)
"""Kinds of simulator by prefix: `grid:corridor` is `SIMULATORS["grid"]("corridor")`."""


def is_environment(thing: Any) -> TypeGuard["Environment"]:
    """Whether something is a Gymnasium environment; found without importing Gymnasium."""
    gymnasium = sys.modules.get("gymnasium")
    return gymnasium is not None and isinstance(thing, gymnasium.Env)


def make_simulator(name: "str | Simulator | Environment", **options: Any) -> Simulator:
    """Make a simulator by name: a game such as `breakout`, or `gym:`, `grid:`, `retro:<name>`.

    A name without a prefix is an Atari game. Options go to the simulator's class. A Gymnasium
    environment becomes a `GymnasiumSimulator`, which resets it; an object that is a simulator
    already is returned as it is.
    """
    if is_environment(name):
        return _make_gymnasium(name, **options)
    if not isinstance(name, str):
        if missing := missing_members(name):
            raise InputError(f"{type(name).__name__} is no simulator: it has no {missing[0]}")
        if options:
            raise InputError(f"options {', '.join(options)} are for names, not for simulators")
        return cast(Simulator, name)
    kind, colon, rest = name.partition(":")
    if not colon:
        kind, rest = "atari", game_name(name)
        if not is_game(rest):
            raise unknown_name("game", name, (*simulator_names(), *_environments(name)))
    maker = SIMULATORS[kind]
    try:
        inspect.signature(maker).bind(rest, **options)
    except TypeError as error:
        raise InputError(f"{name}: {error}") from error
    return maker(rest, **options)


def _environments(name: str) -> list[str]:
    """Names of Gymnasium's environments that may be meant.

    All of them, where the name looks like one: it ends in a version. One of a package that is not
    installed is taken as it is. Otherwise those that have this name, but for case and version.
    """
    import gymnasium

    from olive_iw.simulators.gymnasium import import_package

    plain = name.casefold()
    if re.search(r"-v\d+$", name) is None:
        return [f"gym:{each}" for each in gymnasium.registry if _unversioned(each) == plain]
    try:
        import_package(name)
    except InputError:
        return [f"gym:{name}"]
    return [f"gym:{each}" for each in gymnasium.registry]


def _unversioned(identifier: str) -> str:
    return re.sub(r"-v\d+$", "", identifier).casefold()


def check_name(game: str) -> None:
    """Refuse a simulator's name from a file that would load code, such as `gym:module:Env-v0`.

    Modules that were imported already may be named, and plug-ins that were loaded.
    """
    kind, colon, rest = game.partition(":")
    if colon:
        SIMULATORS.known(kind)
    module, colon, _ = rest.partition(":")
    if colon and module not in sys.modules:
        raise InputError(
            f"{game!r} names a module, which a file cannot load; if you trust it, "
            f"give 'olive-iw --import {module}' before the command"
        )


def simulator_names() -> tuple[str, ...]:
    """Every name that can be listed: all games and grid worlds (Gymnasium has its own list)."""
    return (*all_games(), *(f"grid:{world}" for world in WORLDS))


def __getattr__(name: str) -> Any:
    # Listing the games reads every ROM, and Gymnasium is slow to import: only when asked for.
    if name == "GAMES":
        return all_games()
    if name == "GymnasiumSimulator":
        from olive_iw.simulators.gymnasium import GymnasiumSimulator

        return GymnasiumSimulator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
