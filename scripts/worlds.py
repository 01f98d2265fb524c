"""Play `value-iw` in environments that Gymnasium and MiniGrid bring: `python scripts/worlds.py`.

Every episode is played with at most 100 calls an action, within the time limit that the registry
has, beside random play in the same episodes. `--out` keeps what was played, one line of JSON an
episode: called again, the rest is played. The table goes into docs/library.md.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import gymnasium
import minigrid
import numpy as np

import olive_iw as olive
from olive_iw.errors import AdviceWarning
from olive_iw.simulators.gymnasium import GymnasiumSimulator

CALLS = 100
RANDOM_PLAYS = 20
"""Of every episode."""
FEW = 10
"""Episodes whose least and greatest score are shown."""


@dataclass(frozen=True)
class World:
    """An environment, how it is played, and what its scores are measured by."""

    name: str
    episodes: int
    settings: dict[str, Any] = field(default_factory=dict)
    cap: int = 0
    """Most actions; 0: as in Gymnasium's registry."""
    ppo: float | None = None
    """Mean score of the trained PPO agent in the benchmark of RL Baselines3 Zoo."""
    policy: Callable[[Any], int] | None = None
    """Another published policy, of the environment's observations, which is played here."""

    @property
    def actions(self) -> int:
        """Most actions of an episode."""
        return self.cap or gymnasium.spec(self.name).max_episode_steps or 1000

    def simulator(self, seed: int) -> GymnasiumSimulator:
        """Make an episode."""
        levels = self.settings.get("action_levels")
        return GymnasiumSimulator(self.name, seed=seed, screen="none", action_levels=levels)


def basic_strategy(observation: tuple[int, int, int]) -> int:
    """Hit or stick as card players do (Baldwin et al. 1956): 1 or 0."""
    total, dealer, usable_ace = observation
    if usable_ace:
        return int(total <= 17 or (total == 18 and dealer in (9, 10, 1)))
    if total <= 11 or total >= 17:
        return int(total <= 11)
    return int(dealer not in ((4, 5, 6) if total == 12 else (2, 3, 4, 5, 6)))


CHANCE = {"reseed_search": True}
WORLDS = (
    World("CartPole-v1", 3, ppo=500.0),
    World("Acrobot-v1", 3, ppo=-73.506),
    World("MountainCar-v0", 3, {"persistence": 0.9}, ppo=-110.423),
    World("Taxi-v4", 5),
    World("LunarLander-v3", 1, ppo=242.119),  # in LunarLander-v2
    World("MiniGrid-DoorKey-5x5-v0", 3, cap=250),
    World("FrozenLake-v1", 40, CHANCE),
    World("Blackjack-v1", 200, CHANCE, cap=20, policy=basic_strategy),
    World("Pendulum-v1", 2, {"action_levels": 5}, ppo=-172.225),
    World("MountainCarContinuous-v0", 2, {"action_levels": 3}, ppo=88.343),
)


def play(world: World, seed: int) -> dict[str, Any]:
    """Play an episode by planning, and some at random; return the scores."""
    warnings.simplefilter("ignore", AdviceWarning)
    simulator = world.simulator(seed)
    agent = olive.make_agent("value-iw", seed=seed, calls_per_action=CALLS, **world.settings)
    episode = agent.play(simulator, world.actions)
    random = [at_random(simulator, world.actions, (seed, number)) for number in range(RANDOM_PLAYS)]
    return {
        "world": world.name,
        "seed": seed,
        "score": episode.score,
        "actions": len(episode.actions),
        "seconds": episode.seconds,
        "random": fmean(random),
    }


def at_random(simulator: GymnasiumSimulator, actions: int, seed: tuple[int, int]) -> float:
    """Score of random actions, whose chance is another one each time."""
    generator, score, step = np.random.default_rng(seed), 0.0, simulator.reset()
    simulator.reseed(int(generator.integers(2**62)))
    for _ in range(actions):
        step = simulator.step(int(generator.integers(simulator.action_count)))
        score += step.reward
        if step.terminal:
            break
    return score


def by_policy(world: World, episodes: int = 20_000) -> float:
    """Mean score of a world's published policy."""
    assert world.policy is not None
    env, total = gymnasium.make(world.name), 0.0
    for seed in range(episodes):
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            observation, reward, over, _, _ = env.step(world.policy(observation))
            total += float(reward)
    return total / episodes


def table(lines: list[dict[str, Any]]) -> str:
    """Markdown table of what was played."""
    rows = [
        "| environment | episodes, actions | at random | `value-iw` | solved | published policy |",
        "|---|---|---|---|---|---|",
    ]
    for world in WORLDS:
        played = [line for line in lines if line["world"] == world.name]
        if not played:
            continue
        threshold = gymnasium.spec(world.name).reward_threshold
        solved = "–" if threshold is None else f"{threshold:g}"
        published = "–" if world.ppo is None else f"{world.ppo:.3g}, PPO"
        if world.policy is not None:
            published = f"{by_policy(world):.2f}, basic strategy"
        scores = [line["score"] for line in played]
        spread = f"{fmean(scores):.3g}"
        if min(scores) < max(scores) and len(scores) < FEW:
            spread += f" ({min(scores):.3g} to {max(scores):.3g})"
        random = fmean(line["random"] for line in played)
        given = (
            f"{name}={it:g}" if it is not True else name for name, it in world.settings.items()
        )
        words = ", ".join(f"`{setting}`" for setting in given)
        name = f"{world.name} ({words})" if words else world.name
        rows.append(
            f"| {name} | {len(played)}, {world.actions} | {random:.3g} | {spread} "
            f"| {solved} | {published} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Play what is not played yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="file that keeps what was played")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--episodes", type=int, help="at most so many in each environment")
    parser.add_argument("--only", nargs="*", help="environments, by their ids; all if none")
    given = parser.parse_args()
    gymnasium.register_envs(minigrid)
    known = given.out is not None and given.out.exists()
    lines = [json.loads(line) for line in given.out.read_text().splitlines()] if known else []
    done = {(line["world"], line["seed"]) for line in lines}
    wanted = [
        (world, seed)
        for world in WORLDS
        if not given.only or world.name in given.only
        for seed in range(min(world.episodes, given.episodes or world.episodes))
        if (world.name, seed) not in done
    ]
    with ProcessPoolExecutor(given.workers) as pool:
        for line in pool.map(play, *zip(*wanted, strict=True)) if wanted else ():
            lines.append(line)
            if given.out is not None:
                with given.out.open("a") as file:
                    file.write(json.dumps(line) + "\n")
    print(table(sorted(lines, key=lambda line: line["seed"])))


if __name__ == "__main__":
    main()
