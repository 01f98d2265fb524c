"""The study behind docs/better-planning.md: ways to plan, compared on the same trained encoders.

    python examples/planning_study.py train                  # an Olive per game and seed: hours
    python examples/planning_study.py play base ties=longest grain=4,ties=longest
    python examples/planning_study.py table                  # what the results say

Everything goes to --folder, and what is there already is not done again, so each command can be
stopped and repeated. An arm is `base` (Olive as in the paper) or its settings, with commas between;
`patch-iw`, alone or before settings, plays without anything learned; `plus` before settings plays
by the rules of `olive-plus`.
With --shipped the agents that come with the package play, by the paper's rules and the arm's: then
nothing need be trained.
Settings of training (`selection=entropy`) need agents of their own: `train selection=entropy`, then
`play` an arm that has this setting among others.
After `starts`, episodes begin at states spread over a game, and are of `play --episodes 0 1 2 3`:
many short ones tell more than a long one that may end early. `losses` finds such states shortly
before the lives were lost in published episodes: does an arm survive there?
Its own command line is made with tyro: pip install tyro.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypeAlias

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

import olive_iw as olive
from olive_iw.agents.episode import play_episode
from olive_iw.reports.published import human_scores, published, random_scores
from olive_iw.rules import RULES
from olive_iw.stats import Strata, human_normalised, interquartile_mean

GAMES = (
    *("breakout", "space_invaders", "freeway", "ms_pacman", "qbert", "amidar"),
    *("seaquest", "gravitar", "bank_heist", "jamesbond", "krull", "robotank"),
)
Key: TypeAlias = tuple[str, int, int]
"""Game, seed and episode."""
BASE = "base"
UNTRAINED = "patch-iw"
PLUS = "plus"
PAPER = {name: it for rule in RULES.values() if not rule.needs for name, it in rule.neutral.items()}
"""What makes an agent plan as in the paper."""
OF_TRAINING = ("selection",)
"""Settings that matter while an agent is trained, and not when it plays."""


@dataclass(frozen=True)
class Common:
    """What every command of the study needs."""

    folder: Path = Path("study")
    games: tuple[str, ...] = GAMES
    seeds: tuple[int, ...] = (0, 1)
    workers: int = 2
    shipped: bool = False
    """Play with the agents that come with the package, not with those that `train` made."""

    def agent(self, game: str, seed: int, arm: str = BASE) -> Path | None:
        """Folder of the agent trained on a game with a seed, as an arm wants it; None: shipped."""
        if self.shipped:
            return None
        differs = [f"{name}-{value}" for name, value in _settings(arm).items() if _trains(name)]
        return self.folder / "agents" / "-".join([game, str(seed), *differs])

    def can_play(self, game: str, seed: int, arm: str = BASE) -> bool:
        """Whether there is the agent that an arm needs."""
        folder = self.agent(game, seed, arm)
        return _untrained(arm) or folder is None or (folder / "progress.json").exists()

    @property
    def results(self) -> Path:
        """One line of JSON per episode played."""
        return self.folder / "results.jsonl"

    @property
    def starts_file(self) -> Path:
        """Actions that lead to the states at which episodes begin, by game."""
        return self.folder / "starts.json"

    def all_starts(self) -> dict[str, list[list[int]]]:
        """Return what the file of states has, by game."""
        return json.loads(self.starts_file.read_text()) if self.starts_file.exists() else {}

    def start(self, game: str, episode: int) -> list[int]:
        """Actions that lead to where an episode begins; none without a file of states."""
        known = self.all_starts().get(game)
        return known[episode] if known else []

    def has_start(self, game: str, episode: int) -> bool:
        """Whether there is a state that an episode begins at; without a file it is the reset."""
        known = self.all_starts()
        return not known or episode < len(known.get(game, ()))

    def rows(self) -> list[dict[str, Any]]:
        """All that was played so far."""
        lines = self.results.read_text("utf-8").splitlines() if self.results.exists() else []
        return [json.loads(line) for line in lines]


def train(
    common: tyro.conf.OmitArgPrefixes[Common],
    arms: tyro.conf.Positional[tuple[str, ...]] = (BASE,),
    calls: int = 100_000,
) -> None:
    """Train an Olive on every game with every seed, and save it."""
    todo = [
        (common.agent(game, seed, arm), arm, game, seed, calls)
        for arm, seed, game in product(arms, common.seeds, common.games)
        if not common.can_play(game, seed, arm)
    ]
    for _ in _each(_train, todo, common.workers, "training"):
        pass


def _train(folder: Path, arm: str, game: str, seed: int, calls: int) -> None:
    settings = {name: value for name, value in _settings(arm).items() if _trains(name)}
    agent = olive.make_agent("olive", seed=seed, device="cpu", **PAPER | settings)
    agent.train(olive.make_simulator(game), calls=calls)
    agent.save(folder)


def play(
    common: tyro.conf.OmitArgPrefixes[Common],
    arms: tyro.conf.Positional[tuple[str, ...]],
    actions: int = 300,
    episodes: tuple[int, ...] = (0,),
) -> None:
    """Play with the trained agents, planning in different ways: seeds and episodes are paired.

    Where `starts` has written states to begin at, episode n begins at the n-th of them.
    """
    done = {(row["arm"], row["game"], row["seed"], row["episode"]) for row in common.rows()}
    todo = [
        (
            common.agent(game, seed, arm),
            arm,
            game,
            seed,
            episode,
            actions,
            common.start(game, episode),
        )
        for arm, seed, episode, game in product(arms, common.seeds, episodes, common.games)
        if (arm, game, seed, episode) not in done
        if common.can_play(game, seed, arm) and common.has_start(game, episode)
    ]
    common.folder.mkdir(parents=True, exist_ok=True)
    for row in _each(_play, todo, common.workers, "playing"):
        with common.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _play(
    folder: Path | None,
    arm: str,
    game: str,
    seed: int,
    episode: int,
    actions: int,
    start: list[int],
) -> dict[str, Any]:
    """Play an episode; what it says beside the score is per decision, or a share."""
    settings = {name: value for name, value in _settings(arm).items() if not _trains(name)}
    if _untrained(arm):
        agent = olive.make_agent(UNTRAINED, seed=seed, **settings)
    else:
        agent = _load(folder, game, settings if _is_plus(arm) else PAPER | settings)
    simulator = olive.make_simulator(game)
    lives = _lives(simulator, start)
    played = play_episode(
        agent.planner,
        simulator,
        agent.spec.decisions,
        seed=replace(agent.spec, seed=seed).evaluation_seed(episode),
        max_actions=actions,
        start_actions=start,
    )
    counted = agent.planner.ledger.counters
    decisions = max(1, counted.decisions)
    return {
        **{"arm": arm, "game": game, "seed": seed, "episode": episode, "cap": actions},
        **{"score": played.score, "actions": len(played.actions), "ended": played.ended},
        **{"lost": lives - played.lives + (played.ended == "game over"), "seconds": played.seconds},
        "rollouts": round(counted.rollouts / decisions, 1),
        "depth": round(counted.rollout_depth / max(1, counted.rollouts), 1),
        "calls": round(played.calls / decisions, 1),
        "ties": round(counted.tied_decisions / decisions, 2),
        "twins": round(counted.twins / max(1, played.calls), 2),
        "pruned": round(counted.pruned_new / max(1, played.calls), 2),
    }


def _load(folder: Path | None, game: str, settings: dict[str, Any]) -> olive.Agent:
    """Agent of a folder, or the shipped one, with other settings."""
    if folder is None:
        return olive.load_pretrained(game, device="cpu", **settings)
    return olive.load_agent(folder, device="cpu", **settings)


def _lives(simulator: Any, start: list[int]) -> int:
    step = simulator.reset()
    for action in start:
        step = simulator.step(action)
    return int(step.lives)


def starts(
    common: tyro.conf.OmitArgPrefixes[Common],
    number: int = 4,
    actions: int = 400,
    calls_per_action: int = 30,
) -> None:
    """Find states to begin at: spread over a game that each trained agent plays with few calls."""
    todo = [
        (common.agent(game, 0), game, number, actions, calls_per_action)
        for game in common.games
        if common.can_play(game, 0) and game not in common.all_starts()
    ]
    common.folder.mkdir(parents=True, exist_ok=True)
    for found in _each(_starts, todo, common.workers, "starts"):
        known = common.all_starts() | found
        common.starts_file.write_text(json.dumps(known))


def _starts(
    folder: Path | None, game: str, number: int, actions: int, calls: int
) -> dict[str, Any]:
    rules = {"ties": "longest", "avoid_twins": True, "fit": "grain"}
    agent = _load(folder, game, PAPER | rules | {"calls_per_action": calls})
    played = agent.play(olive.make_simulator(game), actions, 1000)
    last = len(played.actions) - (40 if played.ended == "game over" else 0)
    places = np.linspace(20, max(last, 40), number).astype(int)
    return {game: [played.actions[:place] for place in places]}


def losses(
    common: tyro.conf.OmitArgPrefixes[Common],
    results: Path = Path("results/five-minute"),
    before: int = 20,
    most: int = 2,
) -> None:
    """Find states to begin at: some actions before published episodes of olive-plus lost a life."""
    common.folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(results.glob("*/olive-plus-laptop/seed-0/episodes/evaluation-0000.json")):
        episode = json.loads(path.read_text("utf-8"))
        if episode["game"] not in common.games:
            continue
        found = [at for at in _lost_at(episode["game"], episode["actions"]) if at >= 2 * before]
        if found:
            states = [episode["actions"][: at - before] for at in found[:most]]
            known = common.all_starts() | {episode["game"]: states}
            common.starts_file.write_text(json.dumps(known))


def _lost_at(game: str, actions: list[int]) -> list[int]:
    """Return the numbers of the actions that cost a life; games without lives have none."""
    simulator = olive.make_simulator(game)
    lives, found = simulator.reset().lives, []
    if not lives:
        return found
    for number, action in enumerate(actions):
        step = simulator.step(action)
        if step.lives < lives or step.terminal:
            found.append(number)
        lives = step.lives
    return found


def _settings(arm: str) -> dict[str, Any]:
    """Read what an arm says, by name."""
    pairs = [pair.split("=") for pair in arm.split(",") if pair not in (BASE, UNTRAINED, PLUS)]
    return {name: _value(text) for name, text in pairs}


def _untrained(arm: str) -> bool:
    return arm.split(",", 1)[0] == UNTRAINED


def _is_plus(arm: str) -> bool:
    return arm.split(",", 1)[0] == PLUS


def _trains(name: str) -> bool:
    return name in OF_TRAINING


def _value(text: str) -> Any:
    """Read a setting's value: true, false, a number, or a word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def table(
    common: tyro.conf.OmitArgPrefixes[Common], against: str = BASE, samples: int = 2000
) -> None:
    """Print what each arm gave: per game, and against one of them on the episodes both have."""
    rows = [row for row in common.rows() if row["game"] in common.games]
    rows.sort(key=lambda row: row["arm"] != against)
    scores: dict[str, dict[Key, float]] = {}
    for row in rows:
        scores.setdefault(row["arm"], {})[row["game"], row["seed"], row["episode"]] = row["score"]
    console, paper = Console(width=160), published("olive").summaries
    letters = dict(zip(scores, ascii_uppercase, strict=False))
    by_game = Table("game", *letters.values(), "the paper's Olive", title="Mean scores")
    for game in common.games:
        means = [_mean(scores[arm], game) for arm in letters]
        by_game.add_row(game, *means, f"{paper[game].mean:,.0f}" if game in paper else "–")
    console.print(by_game)
    columns = ("lost", "rollouts", "depth", "calls", "ties", "twins")
    names = (
        Column("arm", overflow="fold"),
        "games",
        "IQM",
        "ratio",
        "95%",
        "better",
        "worse",
        *columns,
    )
    summary = Table(*names, title=f"Against {against}, on the episodes that both have")
    floor = dict.fromkeys(common.games, 0.0) if common.all_starts() else random_scores()
    for arm, found in scores.items():
        pairs = {key: score for key, score in found.items() if key in scores.get(against, {})}
        shape = [row for row in rows if row["arm"] == arm]
        means = [f"{np.mean([row.get(name, math.nan) for row in shape]):.3g}" for name in columns]
        ratios = _ratios(pairs, scores.get(against, {}), floor)
        low, high = _bootstrap(ratios, samples)
        summary.add_row(
            *(
                f"{letters.get(arm, '')} {arm}",
                str(len(ratios)),
                "–" if common.all_starts() else f"{_iqm(found):.2f}",
            ),
            f"{math.exp(np.mean([*ratios.values()])):.2f}" if ratios else "–",
            f"{low:.2f} to {high:.2f}" if len(ratios) > 1 else "–",
            str(sum(ratio > 0 for ratio in ratios.values())),
            str(sum(ratio < 0 for ratio in ratios.values())),
            *means,
        )
    console.print(summary)


def _mean(found: dict[Key, float], game: str) -> str:
    values = [score for (name, _, _), score in found.items() if name == game]
    return f"{np.mean(values):,.0f}" if values else "–"


def _ratios(
    found: dict[Key, float], base: dict[Key, float], floor: Mapping[str, float]
) -> dict[str, float]:
    """Log of each game's ratio of mean scores above a floor; one point above it counts at least."""
    ratios = {}
    for game in sorted({name for name, _, _ in found}):
        keys = [key for key in found if key[0] == game]
        above = [
            max(np.mean([each[key] for key in keys]) - floor[game], 1.0) for each in (found, base)
        ]
        ratios[game] = math.log(above[0] / above[1])
    return ratios


def _iqm(found: dict[Key, float]) -> float:
    """Human-normalised interquartile mean of an arm's episodes."""
    scores: dict[str, list[float]] = {}
    for (game, _, _), score in found.items():
        scores.setdefault(game, []).append(score)
    normal = human_normalised(scores, random_scores(), human_scores())
    return float(interquartile_mean(Strata.of(normal))[0])


def _bootstrap(ratios: dict[str, float], samples: int) -> tuple[float, float]:
    """Interval of the mean ratio, games drawn again."""
    if not ratios:
        return math.nan, math.nan
    draw, values = np.random.default_rng(0), np.array([*ratios.values()])
    means = draw.choice(values, (samples, len(values))).mean(axis=1)
    low, high = np.exp(np.percentile(means, [2.5, 97.5]))
    return float(low), float(high)


def _each(
    work: Any, todo: Sequence[tuple[Any, ...]], workers: int, what: str
) -> Iterator[dict[str, Any]]:
    """Do the work in processes, with a bar; results come as they are ready."""
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(work, *job) for job in todo]
        for future in track(as_completed(futures), what, total=len(futures)):
            yield future.result()


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict(
        {"train": train, "starts": starts, "losses": losses, "play": play, "table": table}
    )
