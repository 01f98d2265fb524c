"""Run folders with made-up scores, as docs/formats.md describes them, to test what reads them."""

import json

from olive_iw.algorithms import ALGORITHMS, make_spec
from olive_iw.runs.config import RunConfig, to_toml

VERSIONS = {"olive-iw": "0.1.0", "ale-py": "0.12.1", "numpy": "2.0", "python": "3.11"}


def write_episode(folder, phase, number, points, **more):
    record = {
        "format": 1,
        "game": "breakout",
        "algorithm": "olive",
        "profile": "laptop",
        "seed": 0,
        "phase": phase,
        "episode": number,
        "frame_skip": 15,
        "simulator_options": {},
        "actions": [0, 1],
        "rewards": [0.0, float(points)],
        "score": float(points),
        "calls": 50,
        "seconds": 0.5,
        "rollouts": number,  # no two episodes are equal in everything
        "versions": VERSIONS,
        **more,
    }
    path = folder / "episodes" / f"{phase}-{number:04}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return path


def write_run(
    root,
    scores,
    *,
    game="breakout",
    algorithm="olive",
    profile="laptop",
    seed=0,
    training=(),
    settings=None,
    **budget,
):
    """A finished run folder as the format describes it; scores are made up."""
    named = make_spec(
        algorithm if algorithm in ALGORITHMS else "olive",
        profile,
        seed,
        calls_per_action=budget.get("calls_per_action", 100),
        **(settings or {}),
    )
    label = named.label.replace(named.algorithm, algorithm, 1)
    folder = root / game.replace(":", "-") / label / f"seed-{seed}"
    identity = {"game": game, "algorithm": algorithm, "profile": profile, "seed": seed}
    for number, score in enumerate(scores):
        write_episode(folder, "evaluation", number, score, **identity)
    for number, score in enumerate(training):
        write_episode(folder, "training", number, score, **identity)
    result = {
        "format": 1,
        **identity,
        "scores": list(map(float, scores)),
        "training_calls": 1000,
        "calls_per_action": 100,
        "max_actions": 200,
        "seconds_per_action": 0.25,
        "versions": VERSIONS,
        **budget,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(result))
    config = RunConfig(
        game,
        named,
        training_calls=max(1, result["training_calls"]),
        episodes=len(scores),
        max_actions=result["max_actions"],
    )
    fields = config.to_dict() | {"algorithm": algorithm, "versions": VERSIONS}
    (folder / "config.toml").write_text(to_toml(fields))
    return folder
