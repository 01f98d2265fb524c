"""The cases whose traces are kept, by group; see `traces.py`."""

from collections.abc import Iterator, Mapping
from typing import Any

from traces import Case

GRIDS = "grid:collect", "grid:lava"
GAMES = "breakout", "seaquest", "ms_pacman"

PATCHES = {"features": "patches"}
NOT_LEARNING: Mapping[str, Mapping[str, Any]] = {
    "breadth-first": {},
    "iw-1": PATCHES,
    "iw-2": PATCHES,
    "iw-1-ram": PATCHES,
    "2bfs": PATCHES,
    "p-iw": PATCHES,
    "racing-p-iw": PATCHES,
    "dasa": {**PATCHES, "prune_after": 1},
    "uct": {},
    "rollout-iw": PATCHES,
    "rollout-iw-ram": PATCHES,
    "rollout-iw-2018": PATCHES,
    "patch-iw": {},
}
"""Algorithms that search and learn nothing; with the settings they have on grids."""
SHORT = ("iw-1-ram", "2bfs", "p-iw", "racing-p-iw", "dasa")
"""Those among them whose calls are of 5 frames."""


def _on_grid(world: str) -> Iterator[Case]:
    for name, settings in NOT_LEARNING.items():
        yield Case(world, name, settings, decisions=6)
    for name in ("patch-iw", "rollout-iw"):
        yield Case(world, name, {**NOT_LEARNING[name], "search_workers": 2}, decisions=4)
    yield Case(world, "brute", {"training_actions": 100}, decisions=8, training=1_200)


def _in_game(world: str) -> Iterator[Case]:
    for name in NOT_LEARNING:
        if name in SHORT:
            few = {"prune_after": 1} if name == "dasa" else {}
            yield Case(world, name, {**few, "action_set": "minimal"}, decisions=4, calls=80)
        else:
            yield Case(world, name)
    yield Case(world, "patch-iw", {"search_workers": 2})
    yield Case(world, "brute", {"training_actions": 40}, decisions=8, training=400)


def _patch_iw() -> Iterator[Case]:
    """Options of Rollout-IW, and our own rules, one by one, on features that are given."""
    rules: list[dict[str, Any]] = [
        {"ties": "longest"},
        {"avoid_twins": True},
        {"safe_steps": 8},
        {"persistence": 0.5},
        {"persistence": 1.0},
        {"look_further": 0.5},
        {"fit": "grain", "wanted_depth": 5.0},
        {"ties": "longest", "avoid_twins": True, "safe_steps": 3, "persistence": 0.3}
        | {"look_further": 0.25, "fit": "grain"},
    ]
    numbers: list[dict[str, Any]] = [
        *({"bandit": it} for it in ("thompson", "max", "ucb1", "ucb1-normalised")),
        *({"bandit": it} for it in ("successive-halving", "policy")),
        {"width": 2},
        {"discount": 0.8},
        {"depth_limit": 4},
        {"risk_averse": False},
    ]
    for settings in (*rules, *numbers):
        for world in GRIDS:
            yield Case(world, "patch-iw", settings, decisions=6)
        yield Case("breakout", "patch-iw", settings, decisions=4)
    games: list[dict[str, Any]] = [
        *({"features": it} for it in ("bprost", "bprost-authors", "pixels", "ram")),
        {"frame_skip": 5, "action_set": "full"},
    ]
    for settings in (*games, *rules):
        yield Case("seaquest", "patch-iw", settings)
    for settings in (rules[1], rules[-1]):
        for world in ("grid:lava", "breakout"):
            yield Case(world, "patch-iw", {**settings, "search_workers": 2})


def _where_little_is_earned() -> Iterator[Case]:
    """Exploring, with pictures and with numbers."""
    for world in (*GRIDS, "breakout", "seaquest"):
        yield Case(world, "patch-iw", {"explore": True, "look_further": 0.5}, decisions=6)
    apart = {"recall": False}
    for settings in ({}, {"outlook": False}, {"beyond_usual": False}, {"search_workers": 2}):
        yield Case("gym:CliffWalking-v1", "value-iw", {**apart, **settings}, decisions=12)
    yield Case("gym:Taxi-v4", "value-iw", apart, decisions=12)
    yield Case("gym:Taxi-v4", "value-iw", decisions=12)
    yield Case("gym:FrozenLake-v1", "value-iw", {"reseed_search": True}, decisions=12)


def _surveyed() -> Iterator[Case]:
    """Mechanisms of surveyed systems, with other values, in the algorithms that have them."""
    of_2018: list[dict[str, Any]] = [
        {"reward_strata": False},
        {"ties": "random"},
        *({"kept_nodes": it} for it in ("judged", "free", "first", "retested")),
        {"root_in_table": True},
        {"over_in_table": True},
        {"untried_value": "none"},
        {"max_repeats": 0},
        {"max_repeats": 1},
        {"life_replaces": False},
    ]
    for settings in of_2018:
        for world in GRIDS:
            yield Case(world, "rollout-iw-2018", {**PATCHES, **settings}, decisions=6)
        yield Case("breakout", "rollout-iw-2018", {"action_set": "minimal", **settings})
    others: list[tuple[str, dict[str, Any]]] = [
        ("iw-1-ram", {"kept_nodes": "judged"}),
        ("iw-1-ram", {"kept_nodes": "free"}),
        ("iw-1-ram", {"risk_averse": True}),
        ("2bfs", {"queues": "one"}),
        ("p-iw", {"order": "reward"}),
        ("dasa", {"prune_actions": "dasp", "prune_after": 1}),
        ("dasa", {"prune_after": 3}),
    ]
    for name, settings in others:
        for world in GRIDS:
            yield Case(world, name, {**PATCHES, **settings}, decisions=6)
        short = {"action_set": "minimal", **settings}
        yield Case("breakout", name, short, decisions=4, calls=80)
    for bandit in ("max", "ttts"):
        yield Case("grid:collect", "uct", {"bandit": bandit})
    yield Case("ms_pacman", "uct", {"depth_limit": 5})


OWN_RULES: Mapping[str, Any] = {
    "fit": "none",
    "ties": "random",
    "avoid_twins": False,
    "safe_steps": 0,
    "persistence": 0.0,
    "look_further": 0.0,
}
"""The rules of `olive-plus`, each as it is where it is left out."""
READINGS: tuple[Mapping[str, Any], ...] = (
    {"fit": "none"},
    {"fit": "none", "grain": 5},
    {"fit": "none", "noise": 0.1},
    {"fit": "noise", "wanted_depth": 40.0},
    {"fit": "grain", "grain": 4, "wanted_depth": 3.0},
)
"""How learned bits are read, besides the profile's own way."""


def _shipped() -> Iterator[Case]:
    """Learned features that are the same everywhere: the shipped networks' bits."""
    for game in GAMES:
        yield Case(game, "olive-plus", weights="own", decisions=6)
        yield Case(game, "olive", weights=game)
        yield Case("grid:lava", "olive", weights=game, decisions=25, calls=20)
        yield Case("grid:collect", "olive-plus", weights=game, decisions=25, calls=20)
    for name, neutral in OWN_RULES.items():
        yield Case("grid:lava", "olive-plus", {name: neutral}, 10, weights="breakout")
        yield Case("seaquest", "olive-plus", {name: neutral}, weights="seaquest")
    for reading in READINGS:
        yield Case("grid:collect", "olive", reading, 25, 30, weights="breakout")
        yield Case("ms_pacman", "vae-iw", reading, weights="ms_pacman")
    for name in ("olive", "olive-plus"):
        for world in ("grid:collect", "breakout"):
            yield Case(world, name, {"search_workers": 2}, weights="breakout")


QUICK: Mapping[str, Any] = {
    "calls_per_action": 10,
    "training_actions": 12,
    "screens_per_episode": 10,
    "screen_limit": 60,
}
TINY: Mapping[str, Any] = {"profile": "paper", "channels": 2, "bits": 4, "epochs": 2}
"""The paper's network and its training, made small."""
GUIDED = {**QUICK, "channels": 2, "hidden": 16, "warm_up": 10, "batch": 4}
del GUIDED["screens_per_episode"], GUIDED["screen_limit"]


def _learning() -> Iterator[Case]:
    """Algorithms that learn while they are traced, briefly: torch's numbers are a processor's."""

    def case(world: str, name: str, settings: Mapping[str, Any], training: int = 400) -> Case:
        return Case(world, name, settings, training=training, exact=False)

    names = ("olive", "olive-passive", "olive-plus", "vae-iw", "vae-iw-annealed", "vae-iw-ttts")
    for name in (*names, "vae-iw-max", "vae-iw-ucb1"):
        yield case("grid:collect", name, {**QUICK, "steps": 20})
    for name in ("olive", "vae-iw"):
        yield case("grid:lava", name, {**QUICK, **TINY})
        yield case("grid:lava", name, {**QUICK, **TINY, "training_mode": True})
        yield case("grid:lava", name, {**QUICK, "steps": 20, "search_workers": 2})
    schedule = {"update_every": 12, "target_every": 10, "every": 4}
    for name in ("pi-iw", "pi-iw-plus", "hiw", "n-cpl"):
        own = GUIDED | (schedule if name == "n-cpl" else {})
        yield case("grid:collect", name, own, 200)
        yield case("grid:lava", name, {**own, "width": 2 if name.startswith("pi-iw") else 1}, 200)
    for settings in ({"high_width": "tiles"}, {"visit_temperature": 0.5, "tile_rows": 4}):
        yield case("grid:collect", "hiw", {**GUIDED, **settings}, 200)
    plus: list[dict[str, Any]] = [{"action_temperature": 0.0}, {"size_temperature": 0.0}]
    plus += [{"value_everywhere": False}, {"over_in_table": True}, {"kept_nodes": "judged"}]
    for settings in plus:
        yield case("grid:collect", "pi-iw-plus", {**GUIDED, **settings}, 200)


GROUPS: dict[str, list[Case]] = {
    **{world.replace(":", "-"): list(_on_grid(world)) for world in GRIDS},
    **{world: list(_in_game(world)) for world in GAMES},
    "patch-iw": list(_patch_iw()),
    "little-earned": list(_where_little_is_earned()),
    "surveyed": list(_surveyed()),
    "shipped": list(_shipped()),
    "local-learning": list(_learning()),
}
