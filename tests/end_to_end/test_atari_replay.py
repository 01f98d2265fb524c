"""What planning found, playing finds: every restore of the emulator was exact.

A planner restores a saved state for nearly every rollout. If any restore were inexact, the chosen
actions, played from a reset without any restore, would meet other rewards, lives or screens.
"""

import numpy as np
import pytest

from olive_iw.planners import UCT, BreadthFirst, RolloutIW
from olive_iw.simulators import AtariSimulator

ACTIONS = 12
CALLS = 15

GAMES = {
    "alien": "ram",
    "amidar": "bprost",
    "breakout": "bprost",
    "boxing": "ram",
    "freeway": "bprost",
    "montezuma_revenge": "ram",
    "ms_pacman": "bprost",
    "pong": "ram",
    "qbert": "bprost",
    "seaquest": "ram",
    "skiing": "ram",
    "space_invaders": "bprost",
}


def played(planner, simulator, seed=0):
    """Actions of an episode's beginning, and the steps that the planner met in it."""
    steps, actions = [planner.start(simulator, seed)], []
    while not planner.over and len(actions) < ACTIONS:
        actions.append(planner.decide(CALLS).action)
        steps.append(planner.advance(actions[-1]))
    return actions, steps


def check_replay(game, actions, steps):
    simulator = AtariSimulator(game)
    replayed = [simulator.reset(), *(simulator.step(action) for action in actions)]
    for found, step in zip(replayed, steps, strict=True):
        assert (found.reward, found.terminal, found.lives) == (
            step.reward,
            step.terminal,
            step.lives,
        )
        assert np.array_equal(found.screen, step.screen)
        assert np.array_equal(found.ram, step.ram)


@pytest.mark.parametrize("game", GAMES)
def test_chosen_actions_replay_to_the_same_rewards_and_screens(game):
    planner = RolloutIW(GAMES[game])
    actions, steps = played(planner, AtariSimulator(game))
    assert planner.ledger.calls > ACTIONS  # there was planning, hence restoring
    check_replay(game, actions, steps)


@pytest.mark.parametrize("make", [UCT, BreadthFirst])
def test_so_do_those_of_other_planners(make):
    actions, steps = played(make(), AtariSimulator("qbert"))
    check_replay("qbert", actions, steps)


def test_a_used_simulator_gives_the_same_episode_as_a_new_one():
    planner = RolloutIW("bprost")
    used = AtariSimulator("qbert")
    first, _ = played(planner, used)
    second, _ = played(planner, used)
    third, _ = played(RolloutIW("bprost"), AtariSimulator("qbert"))
    assert first == second == third
