"""Which part of a sweep is done, and in what order."""

from collections import Counter

import pytest

from olive_iw.errors import InputError
from olive_iw.sweeps.file import parse_sweep
from olive_iw.sweeps.sweep import _chosen, _ordered

TEXT = """
games = ["alien", "breakout", "pong", "qbert"]
algorithms = ["rollout-iw", "patch-iw"]
seeds = [0, 1]
"""


@pytest.fixture
def jobs(tmp_path):
    return parse_sweep(TEXT, tmp_path)


def names(jobs):
    return [(job.config.game, job.config.spec.algorithm, job.config.spec.seed) for job in jobs]


def test_rounds_have_every_game_once_and_go_on_in_the_files_order(jobs):
    done = names(_ordered(list(jobs), jobs, "rounds", 0))
    rounds = [done[place : place + 4] for place in range(0, 16, 4)]
    assert [{one[1:] for one in each} for each in rounds] == [
        {("rollout-iw", 0)},
        {("rollout-iw", 1)},
        {("patch-iw", 0)},
        {("patch-iw", 1)},
    ]
    games = [[game for game, *_ in each] for each in rounds]
    assert Counter(games[0]) == Counter(["alien", "breakout", "pong", "qbert"])
    assert games == [games[0]] * 4, "wherever it stops, systems have played the same games"


def test_rounds_keep_their_order_whatever_is_done_already(jobs):
    whole = names(_ordered(list(jobs), jobs, "rounds", 3))
    left = [job for job in jobs if job.config.game != "pong"]
    assert names(_ordered(left, jobs, "rounds", 3)) == [one for one in whole if one[0] != "pong"]


def test_the_order_of_games_and_of_runs_is_that_of_the_seed(jobs):
    for order in ("rounds", "shuffled"):
        assert names(_ordered(list(jobs), jobs, order, 1)) == names(
            _ordered(list(jobs), jobs, order, 1)
        )
        orders = {tuple(names(_ordered(list(jobs), jobs, order, seed))) for seed in range(6)}
        assert len(orders) > 1


def test_a_part_is_chosen_by_algorithms_and_games(jobs):
    assert _chosen(jobs, ()) == jobs
    assert {one[1] for one in names(_chosen(jobs, ["patch-iw"]))} == {"patch-iw"}
    assert names(_chosen(jobs, ["pong", "patch-iw", "alien"])) == [
        *(("alien", "patch-iw", 0), ("alien", "patch-iw", 1)),
        *(("pong", "patch-iw", 0), ("pong", "patch-iw", 1)),
    ]
    with pytest.raises(InputError, match="did you mean patch-iw"):
        _chosen(jobs, ["patch-iv"])
