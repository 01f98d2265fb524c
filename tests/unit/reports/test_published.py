"""The shipped figures say what the paper says of them."""

import dataclasses

import pytest

from olive_iw.errors import InputError
from olive_iw.reports.published import (
    PAPER_SYSTEMS,
    human_scores,
    published,
    published_names,
    published_wins,
    random_scores,
)
from olive_iw.stats import best_in_group, tally_by_mean


@pytest.mark.parametrize(
    ("winner", "opponent", "wins", "losses"),
    [
        ("olive", "rollout-iw", 42, 11),
        ("olive", "vae-iw", 32, 20),
        ("olive", "pi-iw", 30, 22),
        ("olive", "dqn", 31, 17),
        ("olive", "efficientzero", 18, 7),
        ("vae-iw", "efficientzero", 15, 10),
    ],
)
def test_wins_by_mean_are_those_of_the_paper(winner, opponent, wins, losses):
    tally = tally_by_mean(published(winner).mean, published(opponent).mean)
    assert (tally.wins, tally.losses) == (wins, losses)


def test_best_in_group_is_that_of_the_paper():
    group = {name: published(name).mean for name in ("rollout-iw", "vae-iw", "olive")}
    assert best_in_group(group)["olive"] == 30


def test_mean_seconds_of_olive_are_those_of_the_paper():
    seconds = published("olive").seconds_per_100_calls
    assert len(seconds) == 55
    assert round(sum(seconds.values()) / 55, 2) == 0.38


@pytest.mark.parametrize("name", published_names())
def test_every_system_has_scores_a_source_and_budgets(name):
    system = published(name)
    assert len(system.mean) >= 20
    for field in ("label", "source", "training_budget", "planning_budget"):
        assert getattr(system, field).strip()
    assert set(system.standard_error) <= set(system.mean)
    assert "training: " in system.budgets
    assert "planning: " in system.budgets


def test_planners_use_the_simulator_and_learned_agents_do_not():
    without = {name for name in published_names() if not published(name).uses_simulator}
    assert without == {"dqn", "efficientzero", "human", "human-normalisation"}


def test_maxima_are_at_least_the_means():
    for name in PAPER_SYSTEMS:
        system = published(name)
        assert set(system.maximum) == set(system.mean)
        assert all(system.maximum[game] >= system.mean[game] - 0.5 for game in system.mean)


def test_only_the_papers_own_episodes_are_of_18_000_actions():
    caps = {name: published(name).budget.max_actions for name in published_names()}
    assert {name for name, cap in caps.items() if cap == 18_000} == set(PAPER_SYSTEMS)
    assert caps["pi-iw"] == caps["n-cpl"] == caps["rollout-iw-aaai18-half-second"] == 1_200


def test_the_columns_of_2018_say_what_they_are():
    for name in published_names():
        if "aaai18" in name:
            system = published(name)
            assert "18 actions, discount 1" in system.planning_budget
            subtables = name.startswith("rollout") and "-ra-" not in name
            assert ("novelty subtables" in system.planning_budget) == subtables


def test_missing_scores_are_absent_not_zero():
    assert "berzerk" not in published("dqn").mean
    assert published("rollout-iw").mean["venture"] == 0.0


def test_random_and_human_references_cover_all_but_one_of_the_papers_games():
    missing = set(published("olive").mean) - set(human_scores())
    assert missing == {"elevator_action"}
    assert set(random_scores()) == set(human_scores())
    assert random_scores()["breakout"] == 1.7


def test_published_wins_of_the_portfolio_are_no_less_than_its_members():
    wins = published_wins("paper_ablation_wins.csv")
    for opponent in ("rollout-iw", "vae-iw", "vae-iw-annealed", "vae-iw-ttts"):
        members = (wins["olive", opponent], wins["olive-passive", opponent])
        assert wins["portfolio", opponent] >= max(members)
    assert ("olive", "portfolio") not in wins
    assert published_wins("paper_bandit_wins.csv")["vae-iw-ttts", "vae-iw-annealed"] == 10


def test_unknown_system_is_refused_with_a_hint():
    with pytest.raises(InputError, match="did you mean olive"):
        published("oliv")


def test_published_scores_cannot_be_changed():
    system = published("olive")
    with pytest.raises(TypeError):
        system.mean["pong"] = 21.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        system.label = "mine"
