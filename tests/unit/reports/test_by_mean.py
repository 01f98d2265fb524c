"""Wins by mean: what is published, and what two of ours come to on equal terms."""

import pytest
from made_up_runs import write_episode, write_run

from olive_iw.reports.by_mean import (
    at_shorter_length,
    best_table,
    means_at,
    met_cap,
    per_action,
    published_table,
    terms_table,
)
from olive_iw.reports.published import published
from olive_iw.reports.results import read_results, systems


def play(root, algorithm, game, *episodes, max_actions=200):
    """A run of episodes with these rewards, an action each."""
    named = {"algorithm": algorithm, "game": game}
    scores = [sum(rewards) for rewards in episodes]
    folder = write_run(root, scores, training_calls=0, max_actions=max_actions, **named)
    for number, rewards in enumerate(episodes):
        moves = {"actions": [0] * len(rewards), "rewards": [float(one) for one in rewards]}
        write_episode(folder, "evaluation", number, sum(rewards), **named, **moves)


def read(root):
    return {one.algorithm: one for one in systems(read_results([root]))}


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_earning_and_surviving_are_told_apart(tmp_path):
    # One earns fast and dies, the other earns little and lives on to the cap.
    play(tmp_path, "rollout-iw", "breakout", [0, 5, 0])
    play(tmp_path, "olive", "breakout", [1] * 8, max_actions=8)
    found = read(tmp_path)
    fast, slow = found["rollout-iw"], found["olive"]
    assert fast.episodes[0].score_after(1) == 0.0
    assert fast.episodes[0].score_after(2) == fast.episodes[0].score_after(99) == 5.0
    assert at_shorter_length(fast, slow).wins == 1
    assert at_shorter_length(slow, fast).losses == 1
    assert (per_action(fast), per_action(slow)) == ({"breakout": 5 / 3}, {"breakout": 1.0})
    assert (met_cap(fast), met_cap(slow)) == (set(), {"breakout"})
    (row,) = texts(terms_table([fast, slow]))
    assert row == ["rollout-iw", "olive", "0–1–0", "1–0–0", "1–0–0", "–", "0–1–0"]


def test_every_two_episodes_are_compared_at_the_shorter_ones_length(tmp_path):
    play(tmp_path, "rollout-iw", "pong", [1, 1, 1, 1], [0])
    play(tmp_path, "olive", "pong", [0, 0, 9], [0, 0])
    found = read(tmp_path)
    # Of four pairs: 3 against 9, 2 against 0, and twice 0 against 0.
    assert at_shorter_length(found["olive"], found["rollout-iw"]).wins == 1


def test_a_longer_play_is_also_compared_where_a_shorter_cap_would_have_ended_it(tmp_path):
    play(tmp_path, "rollout-iw", "pong", [0] * 299 + [4] + [0] * 100, max_actions=400)
    play(tmp_path, "olive", "pong", [0] * 300 + [5] + [0] * 99, max_actions=400)
    found = read(tmp_path)
    assert means_at(found["rollout-iw"], 299) == {"pong": 0.0}
    assert means_at(found["rollout-iw"], 300) == {"pong": 4.0}
    table = terms_table([found["olive"], found["rollout-iw"]])
    assert table.columns[-1] == "after 300"
    assert texts(table)[0][2:] == ["1–0–0", "1–0–0", "1–0–0", "–", "0–1–0"]


@pytest.mark.parametrize("points", [1, 100])
def test_every_published_column_stands_beside_ours(tmp_path, points):
    play(tmp_path, "olive", "breakout", [points])
    (group,) = systems(read_results([tmp_path]))
    rows = {row[0]: row[1:] for row in texts(published_table([group]))}
    wins = "1–0–0" if points > published("n-cpl-none").mean["breakout"] else "0–1–0"
    assert rows["N-CPL without novelty, first 100,000 calls"] == ["1,200", wins, "1"]
    assert rows["EfficientZero (Atari 100k)"] == ["–", "0–1–0", "1"]
    assert "human testers, as the paper prints them" in rows


def test_the_papers_three_and_one_of_ours_are_a_group(tmp_path):
    play(tmp_path, "olive", "breakout", [55], [61])
    (group,) = systems(read_results([tmp_path]))
    # The paper's VAE-IW has a mean of 58, and its Olive a maximum of 350.
    assert texts(best_table([group])) == [
        ["olive, mean", "1", "0", "1", "0"],
        ["olive, maximum", "0", "0", "0", "1"],
    ]


def test_a_world_of_ones_own_is_beside_nothing_published(tmp_path):
    play(tmp_path, "olive", "grid:corridor", [1])
    groups = systems(read_results([tmp_path]))
    assert (published_table(groups), best_table(groups), terms_table(groups)) == (None, None, None)
