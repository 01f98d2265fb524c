"""A policy for the usual loop: the agent plans where the environment is, and leaves it as it is."""

import gymnasium
import minigrid

import olive_iw as olive

ACTIONS = 30
GAMES = {
    # ALE's actions stick by default, which nobody can plan for.
    "ALE/Breakout-v5": {"repeat_action_probability": 0.0, "frameskip": 15},
    "CartPole-v1": {},
    "MiniGrid-Empty-5x5-v0": {},
}


def play(name: str, **options: float) -> str:
    """Play a game of Gymnasium's in a loop of one's own; no picture need be rendered."""
    env = gymnasium.make(name, max_episode_steps=ACTIONS, **options)
    policy = olive.Policy(olive.make_agent("patch-iw", calls_per_action=40))
    env.reset(seed=0)
    done, score, actions = False, 0.0, 0
    while not done:
        _, reward, terminated, truncated, _ = env.step(policy.act(env))
        done = terminated or truncated
        score, actions = score + float(reward), actions + 1
    return f"{name}: score {score:.2f} in {actions} actions"


if __name__ == "__main__":
    gymnasium.register_envs(minigrid)
    olive.make_simulator("gym:ALE/Breakout-v5")  # registers ALE's games, and quiets them
    for game, chosen in GAMES.items():
        print(play(game, **chosen))
