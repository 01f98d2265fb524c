"""Who plays: an agent that was trained and saved or shipped, or an algorithm without training."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from olive_iw.agents import Agent
from olive_iw.agents.agent import SPEC
from olive_iw.algorithms import build_agent, load_agent, make_spec
from olive_iw.errors import InputError
from olive_iw.runs import pretrained
from olive_iw.runs.folder import RunFolder
from olive_iw.simulators import game_name

NO_TRAINING = "patch-iw"
"""The algorithm that plays if none is named and no agent is shipped for the game."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """An agent, and the game that it is to play."""

    game: str
    agent: Agent
    max_actions: int = 18_000
    """Of an episode, as its run has it."""
    shipped: str = ""
    """If the agent is one that the package ships: what it is."""


def pairing_of(
    what: str, algorithm: str | None, agent: Path | None, seed: int | None, **options: Any
) -> Pairing:
    """Find who plays: a run's agent for its folder; for a game, a saved agent or an algorithm.

    If a game alone is given, it is the agent that is shipped for it, where there is one. `options`
    take the place of the run's, the agent's or the algorithm's own, and so does the seed.
    """
    player = _player(what, algorithm, agent, seed, options)
    player.agent.warn_of_another_game(player.game)
    if seed is not None:
        player.agent.spec = replace(player.agent.spec, seed=seed)
    return player


def _player(
    what: str,
    algorithm: str | None,
    agent: Path | None,
    seed: int | None,
    options: dict[str, Any],
) -> Pairing:
    folder = folder_of(what)
    if folder is None:
        what = game_name(what)
        if agent is not None:
            return Pairing(what, saved_agent(agent, **options))
        own_parts = algorithm or options.keys() & {"features", "planner"}
        if not own_parts and (found := pretrained.find(what)):
            made = found.load("cpu", **options)
            return Pairing(what, made, found.config.max_actions, found.description)
        spec = make_spec(algorithm or NO_TRAINING, seed=seed or 0, **options)
        if spec.learns:
            raise InputError(
                f"{algorithm} learns before it plays: train it with 'olive-iw run GAME "
                f"--algorithm {algorithm}' and give the run's folder, or a trained agent with "
                "--agent"
            )
        return Pairing(what, build_agent(spec, "cpu"))
    if agent is not None:
        raise InputError("--agent needs a game to play; a run's folder has its own agent")
    run = RunFolder(folder)
    if not run.begun:
        raise InputError(
            f"{folder} is not the folder of one run, such as runs/breakout/olive-laptop/seed-0; "
            "an agent saved elsewhere needs a game: olive-iw play GAME --agent FOLDER"
        )
    config = run.config()
    if algorithm not in (None, config.spec.algorithm):
        raise InputError(f"{folder} is a run of {config.spec.algorithm}, not of {algorithm}")
    return Pairing(config.game, saved_agent(folder, **options), config.max_actions)


def folder_of(what: str) -> Path | None:
    """Return the folder that an argument GAME|FOLDER names; None for a game."""
    if Path(what).is_dir():
        return Path(what)
    if "/" in what and ":" not in what:
        raise InputError(f"{what} is not a folder; give a run's folder, or a game")
    return None


def saved_agent(folder: Path, **options: Any) -> Agent:
    """Read the agent of a run's folder, or one that `agent.save` wrote, as far as it has come.

    It may be a file too, that `olive-iw pretrained add` made. `options` take the place of those it
    was made with.
    """
    if folder.is_file():
        return pretrained.load_pretrained(folder, "cpu", **options)
    run = RunFolder(folder)
    if run.begun:
        spec = run.config().spec
        if not spec.learns:
            return build_agent(spec.changed(**options), "cpu")
    path = run.checkpoint() if run.begun or run.checkpoint_path.is_dir() else folder
    if not (path / SPEC).exists():
        raise InputError(f"{folder} is not a saved agent, nor the folder of a run")
    agent = load_agent(path, "cpu", **options)
    agent.trained_on = run.config().game if run.begun else None
    return agent
