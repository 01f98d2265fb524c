"""The pages of results say what the runs give: for all of them, for some, and for none."""

import csv
import json
import re
from dataclasses import fields
from io import StringIO

import pytest
from made_up_evidence import COMMIT, write_results
from made_up_runs import write_episode, write_run

from olive_iw.errors import InputError
from olive_iw.reports.published import published
from olive_iw.runs.events import TrainingEpisodeDone
from olive_iw.runs.folder import RunFolder
from olive_iw.simulators import PAPER_GAMES
from olive_iw.stats import Tally, Verdict
from results_page import page_texts, read_evidence, write_pages
from results_page.copies import copy_runs
from results_page.gather import DEVELOPED, origin_of
from results_page.measures import MOST, capped, keeps_pace, log_ratios, mean_scores, tally_of
from results_page.numbers import csv_files
from results_page.pictures import make_pictures
from results_page.words import by_calls as by_calls_of
from results_page.words import figures, trained_with, verdict, where_behind

LENGTHS = {"max_actions": 1_200, "training_calls": 0}
OTHER = "f" * 40


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return read_evidence(write_results(tmp_path_factory.mktemp("whole"), PAPER_GAMES))


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    """Folder of runs of a few games."""
    return write_results(tmp_path_factory.mktemp("some"), PAPER_GAMES[::6])


SCORES, SAME_CAP = "What do our systems score?", "What did others score with the same cap?"
WINS, SURVEY = "Who wins how many games?", "How do all our algorithms play three games?"
NUMBER = re.compile(r"(?<![\w-])\d[\d,.]*(?![\w-])")


def by_game(evidence):
    return page_texts(evidence, [])["results-by-game.md"]


def answers(evidence):
    return page_texts(evidence, [])["results.md"]


def numbers(evidence, name):
    """Rows of a file of numbers."""
    return list(csv.DictReader(StringIO(csv_files(evidence)[name])))


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
                calls = 100_000 if algorithm.startswith("olive") else 0
                own = {"game": game, "algorithm": algorithm, "training_calls": calls}
                write_run(tmp_path / "runs", [score], max_actions=1_200, **own)
        copy_runs(tmp_path / "runs", tmp_path / "five-minute", COMMIT)
        return read_evidence(tmp_path / "five-minute")

    return make


def test_all_games_and_systems_with_caps_episodes_and_published_scores(whole):
    evidence = whole
    columns, scores = rows(by_game(evidence), SCORES)
    assert columns == ["game", "rollout-iw", "patch-iw", "olive", "olive-plus", "Olive (paper)"]
    assert len(scores) == 1 + 55
    caps = scores["cap, actions"]
    assert (caps["olive"], caps["Olive (paper)"]) == ("1,200", "18,000")
    assert scores["Breakout"]["Olive (paper)"] == "53"
    (run,) = (run for run in evidence.named("olive").runs if run.game == "breakout")
    written = json.loads((run.path / "result.json").read_text(encoding="utf-8"))
    assert scores["Breakout"]["olive"] == f"{written['scores'][0]:g}"
    columns, others = rows(by_game(evidence), SAME_CAP)
    assert columns[1] == "olive-plus"
    assert others["cap, actions"]["N-CPL, classic novelty, after training"] == "1,200"
    assert others["Breakout"]["N-CPL, classic novelty, after training"].startswith("286.4")
    known = {(row["system"], row["game"]): row for row in numbers(evidence, "scores.csv")}
    assert known["olive", "breakout"]["episodes"] == "1"
    assert known["Olive (paper)", "breakout"]["standard error"] == "7"
    text = answers(evidence)
    for question in ("Does Olive beat Rollout-IW here", "Does learning alone beat", "why?"):
        assert question in text
    (paper,) = (line for line in text.splitlines() if line.startswith("| Olive (paper) | Roll"))
    assert "| 42–11–2 |" in paper, "what the paper's means give"


def test_wins_and_words_are_those_of_the_scores(tmp_path):
    games = ("alien", "amidar", "assault", "asterix", "breakout", "pong", "qbert")
    ours = {game: 10.0 + place for place, game in enumerate(games)}
    theirs = ours | {"alien": 11.0, "amidar": 3.0, "assault": 4.0, "asterix": 5.0}
    del theirs["qbert"]
    evidence = plain({"olive": ours, "rollout-iw": theirs})(tmp_path)
    (asked,) = (
        line for line in section(answers(evidence), WINS).splitlines() if "| rollout-iw |" in line
    )
    assert asked.startswith("| olive | rollout-iw | 3–1–2 | 2–1–1 |")
    (pair,) = (row for row in numbers(evidence, "pairs.csv") if row["against"] == "rollout-iw")
    assert [pair[name] for name in ("system", "games", "higher", "lower", "equal")] == [
        *("olive", "6", "3", "1", "2")
    ]
    assert "Not known yet: there are no runs of both." in answers(evidence)
    _, aggregates = rows(answers(evidence), "How good is that beside a human?")
    assert aggregates["olive"]["games"] == "7"


def test_no_paragraph_of_the_answers_has_more_than_three_numbers(whole):
    for text in page_texts(whole, []).values():
        for paragraph in re.split(r"\n\n|\n- ", text):
            words = re.sub(r"\(.*?\)|`.*?`|2015 to 2017|95%", "", paragraph)
            if not paragraph.startswith(("|", "```", "Rollout-IW R", "N-CPL", "- Rollout")):
                assert len(NUMBER.findall(words)) <= 3, paragraph


@pytest.mark.parametrize(
    ("wins", "losses", "said"),
    [
        (40, 10, "Yes"),
        (10, 40, "No"),
        (12, 9, "Not shown"),
        (9, 12, "Not shown"),
        (3, 3, "Neither is ahead"),
        (0, 0, "Not known yet"),
    ],
)
def test_verdicts_claim_no_more_than_the_sign_test_allows(wins, losses, said):
    verdicts = [Verdict.WIN] * wins + [Verdict.LOSS] * losses
    tally = Tally({str(place): each for place, each in enumerate(verdicts)})
    assert verdict(tally) == said


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
    assert "Pong" in section(by_game(evidence), SCORES)
    assert "Qbert" not in section(by_game(evidence), SCORES)
    assert [row["commits"] for row in numbers(evidence, "versions.csv")] == [COMMIT, OTHER]


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
    assert evidence.alike[OTHER].why == "A comment was added."
    assert "`results/five-minute/same-play.toml` says which do" in answers(evidence)
    (row,) = numbers(evidence, "versions.csv")
    assert {*row["commits"].split()} == {COMMIT, OTHER}
    assert "Qbert" in section(by_game(evidence), SCORES)


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
        (f'[{OTHER}]\nplays_as = "<script>"\nwhy = ""', "is no commit"),
        (f'["<b>"]\nplays_as = "{COMMIT}"\nwhy = ""', "is no commit"),
        (f'[{OTHER}]\nplays_as = "{COMMIT}"\nwhy = 1979-05-27', "same-play.toml"),
        (f'[{OTHER}]\nplays_as = "{COMMIT}"\nwhy = 3', "same-play.toml"),
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
    told = section(page_texts(evidence, pictures)["results-calls.md"], "What do more calls give?")
    assert "A point has at most 1 episode, and 1 at 100 calls" in told
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
    assert told.startswith("Of 2 games, `patch-iw` is higher than `rollout-iw` in:")
    assert "| calls an action | 100 | 300 |" in told
    assert told.endswith("| games | 1 | 2 |")


def test_a_training_that_stopped_before_its_calls_were_spent_is_told(tmp_path):
    runs, results = tmp_path / "runs", tmp_path / "five-minute"
    trained = {"pong": (36_011, 30), "alien": (61_400, 30), "qbert": (100_000, 12)}
    for game, (calls, episodes) in trained.items():
        own = {"max_actions": 1_200, "training_calls": 100_000, "calls_per_action": 10}
        folder = write_run(runs, [1.0], game=game, algorithm="olive-plus", **own)
        done = made_up_training(number=episodes - 1, calls_spent=calls)
        (folder / "events.jsonl").write_text(json.dumps(done) + "\n")
    copy_runs(runs, results, COMMIT)
    (told,) = trained_with(read_evidence(results))
    assert told == (
        "With 10 calls an action `olive-plus` did not spend them all. Its training stopped at 30 "
        "episodes, after 36,000 to 61,000 calls."
    )


def made_up_training(**known):
    """Event of a training episode."""
    names = [field.name for field in fields(TrainingEpisodeDone) if field.name != "loss"]
    rest = dict.fromkeys(names, 1) | {"loss": None, "held_out_loss": None}
    return {"type": TrainingEpisodeDone.type, "time": 1.0, **rest, **known}


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
    text = by_game(evidence)
    assert "uct" not in section(text, SCORES)
    columns, survey = rows(text, SURVEY)
    assert columns[1:] == ["Breakout", "Freeway", "Ms Pacman"]
    assert [*survey["uct"].values()] == ["uct", "–", "7", "–"]
    assert survey["patch-iw"]["Breakout"] == "4"
    known = {(row["system"], row["game"]): row for row in numbers(evidence, "scores.csv")}
    assert [known["uct", "freeway"][name] for name in ("cap", "episodes")] == ["1200", "1"]
    (racing,) = (row for name, row in survey.items() if "racing" in name)
    assert racing["system"].startswith("racing-p-iw (reconstruction), ")
    assert racing["Freeway"] == "0"
    assert survey["Olive (paper)"]["Freeway"].startswith("7")
    assert "20 to 40 million calls" in section(text, SURVEY), "what others had"
    assert "uct" in {row["system"] for row in numbers(evidence, "versions.csv")}


def test_games_that_rules_were_chosen_on_are_told_apart(tmp_path):
    results = write_results(tmp_path, ["breakout", "pong", "alien"], ("patch-iw", "olive-plus"))
    evidence = read_evidence(results)
    ours, theirs = (mean_scores(evidence.named(name)) for name in ("olive-plus", "patch-iw"))
    won = [game for game in ours if ours[game] > theirs[game]]
    tested = len({"pong", "alien"}.intersection(won))
    (line,) = (
        line
        for line in section(answers(evidence), WINS).splitlines()
        if line.startswith("| olive-plus | patch-iw |")
    )
    assert f"| {len(won)}–{3 - len(won)}–0 | {tested}–{2 - tested}–0 |" in line
    assert f"`olive-plus` scores higher than `patch-iw` in {tested} of 2 games" in answers(evidence)


def test_games_that_ours_was_chosen_on_are_counted_and_are_no_test(tmp_path):
    chosen = dict.fromkeys(DEVELOPED, 5.0)
    others = dict.fromkeys(("pong", "alien", "venture"), 0.0)
    worse = dict.fromkeys(chosen | others, 1.0)
    only = plain({"uct": chosen, "patch-iw": worse})(tmp_path / "only")
    told = figures(only.named("uct"), only.named("patch-iw"))
    assert told == "Not known yet: both have only played games that ours was chosen on."
    assert tally_of(only.named("uct"), only.named("patch-iw")).wins == 12
    both = plain({"uct": chosen | others, "patch-iw": worse})(tmp_path / "both")
    told = figures(both.named("uct"), both.named("patch-iw"))
    assert told == (
        "Not shown. `uct` scores higher than `patch-iw` in 0 of 3 games and lower in 3. Chance "
        "alone could do that."
    )


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
    text = by_game(evidence)
    _, uncapped = rows(text, "Who wins where the cap ended nothing?")
    assert uncapped["patch-iw"]["games"] == "1"
    _, behind = rows(text, "Where is `patch-iw` furthest behind the paper's Olive?")
    assert behind["Breakout"]["our episode"] == "at the cap"
    assert "In 1 of these our episode was still going on" in answers(evidence)


def test_the_cap_explains_no_more_than_the_pace_allows(tmp_path):
    # The paper's Olive has 53 in 18,000 actions of Breakout, 41,213 of Asteroids: of 1,200 actions
    # a fifteenth is 3.5 and 2,748.
    made = {"breakout": 3.6, "asteroids": 2_740.0, "alien": 10_000.0}
    for game, score in made.items():
        folder = write_run(tmp_path / "runs", [score], game=game, algorithm="patch-iw", **LENGTHS)
        path = folder / "episodes" / "evaluation-0000.json"
        record = json.loads(path.read_text())
        record |= {"actions": [0] * 1_200, "rewards": [score] + [0.0] * 1_199}
        path.write_text(json.dumps(record))
    copy_runs(tmp_path / "runs", tmp_path / "five-minute", COMMIT)
    (shown,) = read_evidence(tmp_path / "five-minute").shown
    assert keeps_pace(shown, published("olive")) == {"breakout", "alien"}
    told = " ".join(where_behind(shown, published("olive")))
    assert "is behind in 2 of 3 games. In 2 of these our episode was still going on" in told
    assert "In 1 of these 2 we earn at least as much" in told
    assert "It does not in Asteroids." in told


def test_the_lead_has_played_enough_games(tmp_path):
    results = write_results(tmp_path, ["alien", "breakout", "pong"], ("patch-iw", "olive"))
    write_results(tmp_path, ["alien"], ("olive-plus",), OTHER)
    lead = read_evidence(results).lead
    assert lead is not None
    assert lead.algorithm == "olive"


def test_the_authors_look_up_is_told_of_the_games_that_both_played(tmp_path):
    games = ("alien", "amidar", "assault")
    write_results(tmp_path, games, ("rollout-iw", "olive"))
    runs, lengths = tmp_path / "blind", {"max_actions": 1_200, "training_calls": 0}
    for game, score in (("alien", 1.0), ("amidar", 1e6)):
        settings = {"features": "bprost-authors"}
        write_run(runs, [score], game=game, algorithm="rollout-iw", settings=settings, **lengths)
    copy_runs(runs, tmp_path / "five-minute", COMMIT)
    evidence = read_evidence(tmp_path / "five-minute")
    told = section(answers(evidence), "Does the authors' look-up of pixels explain their baseline?")
    assert told.startswith("\n**Not shown")
    assert "play 2 games" in told
    assert "The right one is higher in 1 and lower in 1." in told
    (_, table) = rows(
        answers(evidence), "Does the authors' look-up of pixels explain their baseline?"
    )
    assert table["rollout-iw"]["score"] == "1–1–0"
    assert table["Olive (paper)"]["score"] == "1–1–0"  # of those two games
    assert "Does the authors' look-up" in answers(evidence).partition("##")[0]


def test_runs_under_the_papers_cap_have_their_own_tables(tmp_path):
    write_results(tmp_path, ("alien", "amidar"), ("rollout-iw",))
    lengths = {"max_actions": 18_000, "training_calls": 0}
    moves = {"game": "alien", "algorithm": "rollout-iw"}
    folder = write_run(tmp_path / "long", [9_000], **moves, **lengths)
    rewards = [0.0] * 1_500 + [9_000.0]
    played = {"actions": [0] * 1_501, "rewards": rewards}
    write_episode(folder, "evaluation", 0, 9_000, **moves, **played)
    copy_runs(tmp_path / "long", tmp_path / "paper", COMMIT)
    evidence = read_evidence(tmp_path / "five-minute")
    (_, table) = rows(answers(evidence), "What if episodes may be as long as the paper's?")
    # The paper's Rollout-IW has 6,539 in Alien.
    assert table["rollout-iw"]["18,000"] == "1–0–0"
    (_, scores) = rows(by_game(evidence), "What do two caps give?")
    assert (scores["Alien"]["rollout-iw, 1,200"], scores["Alien"]["rollout-iw, 18,000"]) == (
        "0",
        "9,000",
    )
    assert evidence.digest != read_evidence(tmp_path / "paper").digest
    assert "sweeps/paper-cap.toml" in answers(evidence)


def test_a_lead_in_what_is_earned_is_told_from_one_in_how_long_it_lives(tmp_path):
    games = PAPER_GAMES[:20]
    write_results(tmp_path, games, ("rollout-iw",))
    lengths = {"max_actions": 1_200, "training_calls": 100_000}
    for game in games:
        named = {"game": game, "algorithm": "olive"}
        folder = write_run(tmp_path / "more", [1e9], **named, **lengths)
        moves = {"actions": [0, 0, 1], "rewards": [0.0, 0.0, 1e9]}  # the others have two actions
        write_episode(folder, "evaluation", 0, 1e9, **named, **moves)
    copy_runs(tmp_path / "more", tmp_path / "five-minute", COMMIT)
    told = section(
        answers(read_evidence(tmp_path / "five-minute")),
        "Does the better system earn more, or live longer?",
    )
    assert "`olive` mostly lives longer than `rollout-iw`" in told
    assert "+20 by score" in told


def test_no_runs_are_evidence_of_nothing(tmp_path):
    evidence = read_evidence(tmp_path / "five-minute")
    assert evidence.lead is None
    assert make_pictures(evidence) == {}
    for text in page_texts(evidence, []).values():
        assert "There are no finished runs with 100 calls an action yet." in text


def test_the_same_data_give_the_same_page_and_pictures(some, tmp_path):
    files = [
        write_pages(some, tmp_path / name / "docs", tmp_path / name / "tables")
        for name in ("one", "two")
    ]
    for first, second in zip(*files, strict=True):
        assert first.read_bytes() == second.read_bytes()
    kinds = {
        kind: [path for path in files[0] if path.suffix == kind] for kind in (".md", ".svg", ".csv")
    }
    assert sum(map(len, kinds.values())) == len(files[0]) == len({*files[0]}) == 10
    pages = [page.read_text(encoding="utf-8") for page in kinds[".md"]]
    shown = {name for page in pages for name in re.findall(r"images/([\w.-]+)", page)}
    assert shown == {path.name for path in kinds[".svg"]}
    linked = {link for page in pages for link in re.findall(r"\]\((\.\./[^)]+)\)", page)}
    assert linked == {f"../tables/{path.name}" for path in kinds[".csv"]}
    digest = read_evidence(some).digest
    for picture in kinds[".svg"]:
        svg = picture.read_text(encoding="utf-8")
        assert f"<!-- evidence {digest} -->" in svg
        assert "prefers-color-scheme: dark" in svg


def test_pictures_without_data_do_not_stay(some, tmp_path):
    docs, tables = tmp_path / "docs", tmp_path / "tables"
    write_pages(some, docs, tables)
    (docs / "images" / "breakout.gif").write_bytes(b"")
    write_pages(tmp_path / "five-minute", docs, tables)
    assert [path.name for path in (docs / "images").iterdir()] == ["breakout.gif"]


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


@pytest.fixture
def copy(tmp_path):
    """Folder of a run that was copied."""
    lengths = {"max_actions": 1_200, "training_calls": 100_000}
    write_run(tmp_path / "runs", [7.0], training=[1.0, 2.5], **lengths)
    (made,) = copy_runs(tmp_path / "runs", tmp_path / "five-minute", COMMIT).new
    return made


@pytest.mark.parametrize("name", ["result.json", "config.toml"])
def test_a_file_that_was_changed_since_is_noticed(copy, name):
    (copy / name).write_text((copy / name).read_text() + "\n")
    with pytest.raises(InputError, match=f"{name}: is not what was copied"):
        origin_of(RunFolder(copy))


def test_an_episode_that_was_added_or_removed_is_noticed(copy):
    added = write_episode(copy, "training", 2, 5.0)
    with pytest.raises(InputError, match="is not what was copied"):
        origin_of(RunFolder(copy))
    added.unlink()
    (copy / "episodes" / "training-0001.json").unlink()
    with pytest.raises(InputError, match="is not what was copied"):
        origin_of(RunFolder(copy))
    (copy / "origin.json").write_text(json.dumps({"commit": "x"}))
    with pytest.raises(InputError, match=r"has no origin\.json"):
        origin_of(RunFolder(copy))
