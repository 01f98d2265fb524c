"""The page of results says what the runs give: for all of them, for some, and for none."""

import json
import re

import pytest
from made_up_evidence import COMMIT, write_results
from made_up_runs import write_run

from olive_iw.errors import InputError
from results_page import page_text, read_evidence, write_evidence
from results_page.gather import DEVELOPED, MOST, capped, log_ratios, mean_scores
from results_page.pictures import make_pictures
from results_page.words import by_calls as by_calls_of
from results_page.words import figures, verdict
from olive_iw.reports.published import published
from olive_iw.runs.compact import copy_runs
from olive_iw.simulators import PAPER_GAMES
from olive_iw.stats import Tally, Verdict

LENGTHS = {"max_actions": 1_200, "training_calls": 0}
OTHER = "f" * 40


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return write_results(tmp_path_factory.mktemp("whole"), PAPER_GAMES)


def section(text, title):
    return re.split(r"^##+ ", text.partition(f" {title}\n")[2], flags=re.MULTILINE)[0]


def rows(text, title):
    lines = [line for line in section(text, title).splitlines() if line.startswith("| ")]
    table = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]
    return table[0], {row[0]: dict(zip(table[0], row, strict=True)) for row in table[2:]}


def plain(scores):
    """Runs of patch-iw and rollout-iw with given scores."""

    def make(tmp_path):
        for algorithm, games in scores.items():
            for game, score in games.items():
                write_run(tmp_path / "runs", [score], game=game, algorithm=algorithm, **LENGTHS)
        copy_runs(tmp_path / "runs", tmp_path / "five-minute", COMMIT)
        return read_evidence(tmp_path / "five-minute")

    return make


def test_all_games_and_systems_with_caps_episodes_and_published_scores(whole):
    text = page_text(read_evidence(whole), [])
    columns, scores = rows(text, "Scores by game")
    assert columns[1:5] == ["rollout-iw", "patch-iw", "olive", "olive-plus"]
    assert len(scores) == 2 + 55
    caps = scores["cap of an episode, actions"]
    assert caps["olive"] == caps["N-CPL, classic novelty, after training"] == "1,200"
    assert caps["Olive (paper)"] == "18,000"
    assert scores["episodes a game"]["olive"] == "1"
    assert scores["Breakout"]["Olive (paper)"] == "53 ± 7"
    assert scores["Breakout"]["N-CPL, classic novelty, after training"].startswith("286.4")
    written = json.loads(
        (whole / "breakout/olive-laptop/seed-0/result.json").read_text(encoding="utf-8")
    )
    assert scores["Breakout"]["olive"] == f"{written['scores'][0]:g}"
    assert "`olive-plus` 55" in text
    for question in ("Does Olive beat Rollout-IW here?", "Does learning alone beat", "why?"):
        assert question in text
    assert "higher in 42 of 55 games and lower in 11" in text, "what the paper's means give"


def test_wins_and_words_are_those_of_the_scores(tmp_path):
    games = ("alien", "amidar", "assault", "asterix", "breakout", "pong", "qbert")
    ours = {game: 10.0 + place for place, game in enumerate(games)}
    theirs = ours | {"alien": 11.0, "amidar": 3.0, "assault": 4.0, "asterix": 5.0}
    del theirs["qbert"]
    evidence = plain({"patch-iw": ours, "rollout-iw": theirs})(tmp_path)
    text = page_text(evidence, [])
    _, wins = rows(text, "Wins by mean")
    assert wins["patch-iw"]["rollout-iw"] == "3–1–2"
    assert wins["rollout-iw"]["patch-iw"] == "1–3–2"
    _, pairs = rows(text, "Pairs, on the games that both have")
    assert pairs["patch-iw / rollout-iw"]["games of both"] == "6"
    assert "Not known yet: there are no runs of both." in text
    _, aggregates = rows(text, "Human-normalised scores")
    assert aggregates["patch-iw"]["games"] == "7"


@pytest.mark.parametrize(
    ("wins", "losses", "said"),
    [
        (40, 10, "Yes, in more games"),
        (10, 40, "No."),
        (12, 9, "Not shown: ahead in more"),
        (9, 12, "Not shown: ahead in fewer"),
        (3, 3, "Neither is ahead."),
    ],
)
def test_verdicts_claim_no_more_than_the_sign_test_allows(wins, losses, said):
    verdicts = [Verdict.WIN] * wins + [Verdict.LOSS] * losses
    tally = Tally({str(place): each for place, each in enumerate(verdicts)})
    assert verdict(tally).startswith(said)


def test_ratios_are_of_scores_above_random_play(tmp_path):
    # Random play scores 1.7 in Breakout, the paper's Olive 53; -20.7 and 21 would be Pong's.
    breakout = 1.7 + 2 * (53 - 1.7)
    scores = {"breakout": breakout, "pong": -20.7, "private_eye": 0.0}
    evidence = plain({"patch-iw": scores})(tmp_path)
    ratios = log_ratios(evidence.shown[0], published("olive"))
    assert ratios["breakout"] == pytest.approx(1.0)
    assert ratios["pong"] == -MOST
    assert max(map(abs, ratios.values())) <= MOST


def test_versions_are_never_mixed(tmp_path):
    results = write_results(tmp_path, ["alien", "breakout", "pong"], ("patch-iw",))
    write_results(tmp_path, ["qbert", "venture"], ("patch-iw",), OTHER)
    evidence = read_evidence(results)
    assert [version.commit for version in evidence.versions] == [COMMIT, OTHER]
    (shown,) = evidence.shown
    assert sorted(shown.run_means) == ["alien", "breakout", "pong"]
    text = page_text(evidence, [])
    assert "Qbert" not in section(text, "Scores by game")
    assert COMMIT[:10] in text
    assert OTHER[:10] in text


def test_versions_that_play_alike_are_one(tmp_path):
    results = write_results(tmp_path, ["alien", "breakout"], ("patch-iw",))
    write_results(tmp_path, ["qbert", "venture", "pong"], ("patch-iw",), OTHER)
    (results / "same-play.toml").write_text(
        f'[{OTHER}]\nplays_as = "{COMMIT}"\nwhy = "A comment was added."\n', encoding="utf-8"
    )
    evidence = read_evidence(results)
    (version,) = evidence.versions
    assert (version.commit, version.made_with) == (COMMIT, sorted([COMMIT, OTHER]))
    assert len(evidence.shown[0].run_means) == 5
    text = page_text(evidence, [])
    assert f"{OTHER[:10]} plays as {COMMIT[:10]}: A comment was added." in text
    assert "Qbert" in section(text, "Scores by game")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (f'{OTHER} = "{COMMIT}"', "needs plays_as"),
        (f'[{OTHER}]\nplays_as = "{COMMIT}"', "needs plays_as"),
        (
            f'[{OTHER}]\nplays_as = "{COMMIT}"\nwhy = ""\n'
            f'[{COMMIT}]\nplays_as = "{OTHER}"\nwhy = ""',
            "must name the first",
        ),
        ("[", "same-play.toml"),
    ],
)
def test_a_file_of_same_play_that_says_nothing_is_refused(tmp_path, written, said):
    results = write_results(tmp_path, ["alien"], ("patch-iw",))
    (results / "same-play.toml").write_text(written, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_evidence(results)


def test_other_calls_per_action_are_in_their_picture_alone(tmp_path):
    games = ["breakout", "pong"]
    results = write_results(tmp_path, games, ("patch-iw",))
    assert "results-calls" not in make_pictures(read_evidence(results))
    write_results(tmp_path, games, ("patch-iw",), calls_per_action=30)
    evidence = read_evidence(results)
    assert len(evidence.shown) == 1
    assert len(evidence.versions) == 2
    pictures = make_pictures(evidence)
    assert "results-calls" in pictures
    told = section(page_text(evidence, pictures), "What more calls give")
    assert "At most 1 episode a point, 1 at 100 calls" in told
    assert "is higher than" not in told, "there is nothing to compare"


def test_what_more_calls_give_is_told_of_games_that_all_have(tmp_path):
    ours = {100: {"breakout": 5.0, "pong": 1.0, "alien": 9.0}, 300: {"breakout": 5.0, "pong": 3.0}}
    theirs = {
        100: {"breakout": 4.0, "pong": 2.0, "alien": 1.0},
        300: {"breakout": 4.0, "pong": 2.0},
    }
    for algorithm, by_calls in (("patch-iw", ours), ("rollout-iw", theirs)):
        for calls, games in by_calls.items():
            for game, score in games.items():
                own = {"game": game, "algorithm": algorithm, "calls_per_action": calls}
                write_run(tmp_path / "runs", [score], **own, **LENGTHS)
    copy_runs(tmp_path / "runs", tmp_path / "five-minute", COMMIT)
    (told,) = by_calls_of(read_evidence(tmp_path / "five-minute"))
    wanted = "`patch-iw` is higher than `rollout-iw` in 1 with 100, 2 with 300 calls an action."
    assert told == f"Of 2 games, {wanted}"


def test_algorithms_that_played_the_three_games_alone_are_in_the_survey_alone(tmp_path):
    three = {"breakout": 4.0, "freeway": 5.0}
    settings = {"frame_skip": 15, "action_set": "minimal"}
    write_run(
        tmp_path / "runs",
        [0.0],
        game="freeway",
        algorithm="racing-p-iw",
        settings=settings,
        **LENGTHS,
    )
    scores = {"patch-iw": three | {"pong": 1.0}, "rollout-iw": three, "uct": {"freeway": 7.0}}
    evidence = plain(scores)(tmp_path)
    assert {system.algorithm for system in evidence.shown} == {"patch-iw", "rollout-iw"}
    text = page_text(evidence, [])
    assert "uct" not in section(text, "Scores by game")
    columns, survey = rows(text, "All our systems, on three games")
    assert columns[2:] == ["Breakout", "Freeway", "Ms Pacman"]
    assert [*survey["uct"].values()] == ["uct", "1,200", "–", "7 (1)", "–"]
    assert survey["patch-iw"]["Breakout"] == "4 (1)"
    (racing,) = (row for name, row in survey.items() if "racing" in name)
    assert racing["system"].startswith("racing-p-iw (reconstruction), ")
    assert racing["Freeway"] == "0 (1)"
    assert survey["Olive (paper)"]["Freeway"].startswith("7")
    _, versions = rows(text, "Versions")
    assert versions["uct"]["in the tables"] == "yes"


def test_games_that_rules_were_chosen_on_are_told_apart(tmp_path):
    results = write_results(tmp_path, ["breakout", "pong", "alien"], ("patch-iw", "olive-plus"))
    evidence = read_evidence(results)
    ours, theirs = (mean_scores(evidence.named(name)) for name in ("olive-plus", "patch-iw"))
    others = sum(ours[game] > theirs[game] for game in ("pong", "alien"))
    told = f"against patch-iw {int(ours['breakout'] > theirs['breakout'])} of 1 and {others} of 2;"
    assert told in page_text(evidence, [])
    alone = plain({"patch-iw": {"pong": 1.0}})(tmp_path / "alone")
    assert "were chosen on" not in page_text(alone, [])


def test_games_that_ours_was_chosen_on_are_counted_and_are_no_test(tmp_path):
    chosen = dict.fromkeys(DEVELOPED, 5.0)
    others = dict.fromkeys(("pong", "alien", "venture"), 0.0)
    worse = dict.fromkeys(chosen | others, 1.0)
    only = plain({"uct": chosen, "patch-iw": worse})(tmp_path / "only")
    told = figures(only.named("uct"), only.named("patch-iw"))
    assert told.startswith("Not known yet: ")
    assert "in 12 of 12 games, lower in 0, the same in 0. Human" in told
    both = plain({"uct": chosen | others, "patch-iw": worse})(tmp_path / "both")
    told = figures(both.named("uct"), both.named("patch-iw"))
    assert told.startswith("Not shown: ahead in fewer games")
    assert "in 12 of 15 games, lower in 3, the same in 0; in those" in told
    assert "not chosen on 0, 3 and 0 of 3 (sign test over these: p = 0.25)" in told


def test_whether_the_cap_cut_an_episode_off(tmp_path):
    def make(game, actions, score):
        folder = write_run(tmp_path / "runs", [score], game=game, algorithm="patch-iw", **LENGTHS)
        path = folder / "episodes" / "evaluation-0000.json"
        record = json.loads(path.read_text())
        record |= {"actions": [0] * actions, "rewards": [score] + [0.0] * (actions - 1)}
        path.write_text(json.dumps(record))

    make("breakout", 1_200, 4.0)
    make("pong", 1_199, 4.0)
    copy_runs(tmp_path / "runs", tmp_path / "five-minute", COMMIT)
    evidence = read_evidence(tmp_path / "five-minute")
    assert capped(evidence.shown[0]) == {"breakout": True, "pong": False}
    text = page_text(evidence, [])
    _, uncapped = rows(text, "Wins by mean where the game was over before the cap")
    assert uncapped["patch-iw"]["games"] == "1"
    _, behind = rows(text, "Where patch-iw is furthest behind Olive (paper)")
    assert behind["Breakout"]["our episode"] == "at the cap"
    assert "In 1 of these our episode was still going on" in text


def test_the_lead_has_played_enough_games(tmp_path):
    results = write_results(tmp_path, ["alien", "breakout", "pong"], ("patch-iw", "olive"))
    write_results(tmp_path, ["alien"], ("olive-plus",), OTHER)
    lead = read_evidence(results).lead
    assert lead is not None
    assert lead.algorithm == "olive"


def test_no_runs_are_evidence_of_nothing(tmp_path):
    evidence = read_evidence(tmp_path / "five-minute")
    assert evidence.lead is None
    assert make_pictures(evidence) == {}
    assert "There are no finished runs with 100 calls an action yet." in page_text(evidence, [])


def test_the_same_data_give_the_same_page_and_pictures(whole, tmp_path):
    files = [write_evidence(whole, tmp_path / name / "results.md") for name in ("one", "two")]
    for first, second in zip(*files, strict=True):
        assert first.read_bytes() == second.read_bytes()
    names = [path.name for path in files[0]]
    assert names == [
        *("results-lead.svg", "results-ratios.svg", "results-learning.svg", "results.md")
    ]
    page = files[0][-1].read_text(encoding="utf-8")
    assert set(re.findall(r"images/([\w.-]+)", page)) == set(names[:-1])
    digest = read_evidence(whole).digest
    for picture in files[0][:-1]:
        svg = picture.read_text(encoding="utf-8")
        assert f"<!-- evidence {digest} -->" in svg
        assert "prefers-color-scheme: dark" in svg


def test_pictures_without_data_do_not_stay(whole, tmp_path):
    page = tmp_path / "docs" / "results.md"
    write_evidence(whole, page)
    (tmp_path / "docs" / "images" / "breakout.gif").write_bytes(b"")
    write_evidence(tmp_path / "five-minute", page)
    assert [path.name for path in (page.parent / "images").iterdir()] == ["breakout.gif"]


def test_evidence_that_is_not_whole_is_refused(tmp_path):
    results = write_results(tmp_path, ["breakout", "pong"], ("patch-iw",))
    run = results / "breakout" / "patch-iw-laptop" / "seed-0"
    digest = read_evidence(results).digest
    text = (run / "result.json").read_text()
    (run / "result.json").write_text(text + " ")
    with pytest.raises(InputError, match="is not what was copied"):
        read_evidence(results)
    (run / "result.json").unlink()
    with pytest.raises(InputError, match="is not finished"):
        read_evidence(results)
    (run / "result.json").write_text(text)
    episode = run / "episodes" / "evaluation-0000.json"
    record = json.loads(episode.read_text())
    episode.write_text(json.dumps(record | {"rollouts": 3}))
    assert read_evidence(results).digest != digest
    episode.write_text(json.dumps(record | {"score": 1e6}))
    with pytest.raises(InputError, match="contradicts"):
        read_evidence(results)
