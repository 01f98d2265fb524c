"""The three pages in Markdown, and the writing of them: answers, scores by game, and calls."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from olive_iw.files import write_text
from olive_iw.reports.by_mean import best_table, published_table, terms_table
from olive_iw.reports.published import PAPER_SYSTEMS, published
from olive_iw.tables import Table, counted
from results_page import tables, words
from results_page.gather import LEADS, LONGER, SAME_PLAY, Evidence, read_evidence
from results_page.numbers import csv_files
from results_page.pictures import make_pictures

IMAGES = "images"
"""Folder of the pictures, beside the pages."""
ANSWERS, BY_GAME, CALLS = "results.md", "results-by-game.md", "results-calls.md"
SWEEPS = (
    *("five-minute", "development-games", "calls", "survey-scores"),
    *("fitted-grain", "fitted-grain-second-seed", "fitted-grain-survey", "authors-look-up"),
)
"""Names of the sweep files whose runs the pages are made from, in the order of their worth."""
PICTURES = {
    "results-lead": "Score above random play of every game, over that of the paper's Olive, sorted",
    "results-ratios": "The same of each of our systems",
    "results-calls": "Score against calls per action",
    "results-learning": "Score of training episodes against training calls",
}
"""Name of a picture's file -> what it shows."""
MADE = "<!-- Made by `make results` from results/: what is changed here by hand is lost. -->"
Section = tuple[str, Sequence[str | None]]
"""A question, and paragraphs; None is one that there is no data for."""


def write_pages(folder: Path, docs: Path, numbers: Path | None = None) -> list[Path]:
    """Make the pages of all runs below a folder, their pictures, and the files of numbers.

    The files of numbers go into `numbers`, by default `tables` beside the folder. Returns the files
    written. Pictures of earlier pages that these have no data for are removed.
    """
    evidence = read_evidence(folder)
    pictures, numbers = make_pictures(evidence), numbers or folder.parent / "tables"
    link = Path(os.path.relpath(numbers, docs)).as_posix()
    texts = {numbers / name: text for name, text in csv_files(evidence).items()}
    for name in PICTURES.keys() - pictures.keys():
        (docs / IMAGES / f"{name}.svg").unlink(missing_ok=True)
    texts |= {docs / IMAGES / f"{name}.svg": svg for name, svg in pictures.items()}
    texts |= {docs / name: text for name, text in page_texts(evidence, pictures, link).items()}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return list(texts)


def page_texts(
    evidence: Evidence, pictures: Collection[str], numbers: str = "../results/tables"
) -> dict[str, str]:
    """Name of every page -> its text; `pictures` are those there are, `numbers` a link."""
    if not evidence.shown:
        calls = evidence.protocol.calls_per_action
        none = [f"There are no finished runs with {calls} calls an action yet."]
        return {name: _page(name, none, []) for name in (ANSWERS, BY_GAME, CALLS)}
    return {
        ANSWERS: _answers(evidence, pictures, numbers),
        BY_GAME: _by_game(evidence, pictures, numbers),
        CALLS: _calls(evidence, pictures, numbers),
    }


_TITLES = {
    ANSWERS: "How good is it?",
    BY_GAME: "What did each game give?",
    CALLS: "Where did the calls go?",
}


def _page(name: str, head: Sequence[str | None], sections: Sequence[Section]) -> str:
    parts = [MADE, f"# {_TITLES[name]}", *head]
    for title, paragraphs in sections:
        if any(paragraphs):
            parts += [f"## {title}", *paragraphs]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _picture(name: str, pictures: Collection[str]) -> str | None:
    return f"![{PICTURES[name]}]({IMAGES}/{name}.svg)" if name in pictures else None


def _bare(table: Table | None) -> str | None:
    """Markdown of a table without its heading: here the question above it is the heading."""
    return None if table is None else table.as_markdown().partition("\n\n")[2]


def _answers(evidence: Evidence, pictures: Collection[str], numbers: str) -> str:
    lead, olive, protocol = evidence.lead, published("olive"), evidence.protocol
    assert lead is not None, "there are systems"
    head = [
        *words.headline(evidence),
        "We chose the rules of `olive-plus`, and how `olive` reads its bits, on twelve games. So "
        "the answers count only the other games, on which nothing was chosen.",
        "`rollout-iw` and `olive` are the paper's algorithms, run here. `patch-iw` is our planner "
        "that learns nothing, and `olive-plus` is Olive with rules of ours.",
        _picture("results-lead", pictures),
        _bars_note() if "results-lead" in pictures else None,
        f"Our episodes end after {protocol.max_actions:,} actions: five minutes of play. An action "
        f"may use {protocol.calls_per_action} simulator calls. What learns has "
        f"{protocol.training_calls:,} calls to learn with.",
    ]
    sections: list[Section] = [
        (
            "Who wins how many games?",
            [
                _bare(tables.questions_table(evidence)),
                "*All games* and *other games* count games in which the system's mean is "
                "higher–lower–equal. The other games are those that nothing was chosen on. *p* is "
                "the chance that a coin would be so one-sided there (in all games, for a system of "
                "the paper).",
                "*Normalised* is the interquartile mean of both sides: 0 is random play, 1 is a "
                f"human tester. [pairs.csv]({numbers}/pairs.csv) has all pairs, with intervals.",
            ],
        ),
        (
            "How good is that beside a human?",
            [
                _bare(tables.systems_table(evidence)),
                "In brackets: 95% by a bootstrap over games, with 20,000 samples. It says how much "
                "a figure depends on which games were played, not how much on luck in an episode.",
                "The cap is the most actions of an episode. Under a longer cap the same play "
                "scores more, where points are never lost.",
            ],
        ),
        ("Does the authors' look-up of pixels explain their baseline?", _look_up(evidence)),
        ("Does the better system earn more, or live longer?", _equal_terms(evidence)),
        ("What if episodes may be as long as the paper's?", _longer(evidence)),
        (
            f"Where is {words.code(lead)} behind the paper's Olive, and why?",
            words.where_behind(lead, olive),
        ),
        ("What can so few episodes show?", words.limits(evidence)),
        ("What is ours, and not the paper's?", OURS),
        ("How can I check a score?", _check(evidence, numbers)),
    ]
    return _page(ANSWERS, head, sections)


def _look_up(evidence: Evidence) -> Sequence[str | None]:
    found = words.LookUp.of(evidence)
    if found is None:
        return []
    return [
        *words.look_up(found),
        _bare(tables.look_up_table(found.pairs)),
        "The next question says what the columns after *p* mean.",
        words.nearer(found),
        "Not shown: whether this look-up was in the code that made the paper's scores. The paper's "
        "other differences remain, above all the noise that its network plans with, the network "
        "itself, and the longer cap. We played one episode of each game.",
    ]


def _longer(evidence: Evidence) -> Sequence[str | None]:
    if not evidence.long:
        return []
    return [
        *(
            words.figures(one, published(one.algorithm))
            for one in evidence.long
            if one.algorithm in PAPER_SYSTEMS
        ),
        _bare(tables.caps_table(evidence)),
        "Games won–lost–equal by mean, as if the same play had been ended after so many actions. "
        "The paper's own scores are always those of its whole episodes.",
    ]


def _equal_terms(evidence: Evidence) -> Sequence[str | None]:
    ours = [one for name in LEADS if (one := evidence.named(name))]
    pairs = [
        map(evidence.named, pair) for pair in (("olive-plus", "olive"), ("olive", "rollout-iw"))
    ]
    return [
        *(words.earns_or_survives(one, other) for one, other in pairs if one and other),
        _bare(terms_table(ours)),
    ]


OURS = (
    "The network: the profile `laptop` has a small one, which trains on a CPU in seconds. The "
    "paper's needs a GPU.",
    "A rule in `olive`: under `laptop` it plans with fitted noise. Where rollouts end early and "
    "many decisions are ties, it flips a learned bit now and then. The paper has no such rule, and "
    "`--fit none` switches it off.",
    "The rules of `olive-plus`: [better planning](better-planning.md) says what each gives. One of "
    "them, `avoid_twins`, reads more than the screen: it compares the emulator's RAM to see "
    "whether two siblings are the same state.",
)


def _bars_note() -> str:
    return (
        "One bar is one game. A bar marked r: one side is no better than random play, or 64 times "
        "behind. Games in which both are no better have no bar."
    )


def _check(evidence: Evidence, numbers: str) -> list[str]:
    protocol = evidence.protocol.name
    runs = f"runs/{protocol}"
    commands = [f"olive-iw sweep sweeps/{name}.toml --out {runs} --order rounds" for name in SWEEPS]
    commands.append(f"python scripts/copy_results.py {runs} results/{protocol} --commit COMMIT")
    if evidence.long:
        longer = f"runs/{LONGER}"
        commands.append(f"olive-iw sweep sweeps/paper-cap.toml --out {longer} --order rounds")
        commands.append(f"python scripts/copy_results.py {longer} results/{LONGER} --commit COMMIT")
    alike = f"`results/{protocol}/{SAME_PLAY}` says which do, and how that is known."
    return [
        f"Replay it. Every episode is in `results/{protocol}` with all its actions. "
        "`olive-iw verify results` plays them in a fresh emulator and confirms each reward.",
        "These commands made the runs. COMMIT is what they were made with:",
        "\n".join(["```", *commands, "```"]),
        "Each line goes on where it was stopped. `make results` then replays all episodes and "
        "makes these pages. A test fails when the pages are not what the runs give.",
        "The same versions of the packages on the same kind of machine repeat a run exactly. "
        "Elsewhere the last digits of a network may differ, and then the play. What was played "
        "replays everywhere.",
        f"[versions.csv]({numbers}/versions.csv) has commit and packages of every run. Runs "
        "of two commits are not taken together, unless they play alike. "
        + alike
        * bool(evidence.alike),
    ]


def _by_game(evidence: Evidence, pictures: Collection[str], numbers: str) -> str:
    lead, olive = evidence.lead, published("olive")
    assert lead is not None, "there are systems"
    held = any("frame_skip" in system.variant for system in evidence.surveyed)
    head = [
        f"[The answers](results.md) come first. [scores.csv]({numbers}/scores.csv) has every "
        "figure of this page, and the number of episodes behind it.",
    ]
    sections: list[Section] = [
        (
            "What do our systems score?",
            [
                "Means; ± is the standard error, where there are several episodes. Bold is the "
                "best of ours.",
                _bare(tables.scores_table(evidence)),
            ],
        ),
        (
            "What did others score with the same cap?",
            [_bare(tables.same_cap_table(evidence)), *_sources(evidence)],
        ),
        (
            "And against everything else that is published?",
            [
                _bare(published_table([lead])),
                "The twelve games that rules were chosen on count here.",
                _bare(best_table([lead])),
            ],
        ),
        (
            "What do two caps give?",
            [_bare(tables.two_caps_table(evidence))] if evidence.long else [],
        ),
        (
            "Who wins where the cap ended nothing?",
            [
                "Games in which all our episodes were over before the cap: "
                "higher–lower–equal by mean.",
                _bare(tables.uncapped_table(evidence)),
            ],
        ),
        (
            f"Where is {words.code(lead)} furthest behind the paper's Olive?",
            [
                _bare(tables.behind_table(lead, olive)),
                "The ratio is that of the scores above random play, or above 0 where that is not "
                "known.",
            ],
        ),
        ("Is that so for all our systems?", [_picture("results-ratios", pictures)]),
        (
            "How do all our algorithms play three games?",
            [
                f"Ours have a cap of {evidence.protocol.max_actions:,} actions, the paper's "
                "three of 18,000.",
                _bare(tables.survey_table(evidence)),
                "Others made many of these for larger budgets, so this table does not say how good "
                "they are at their own. π-IW, HIW and N-CPL trained with 20 to 40 million calls. "
                "The planners of 2015 to 2017 had some 30,000 nodes a decision.",
                "Most systems from before 2018 held an action for 5 frames. Here all hold it for "
                "15 (`frame_skip=15`), so that the same calls look as far ahead."
                if held
                else None,
            ]
            if len(evidence.surveyed) > 1
            else [],
        ),
    ]
    return _page(BY_GAME, head, sections)


def _sources(evidence: Evidence) -> list[str]:
    lines = [
        f"- {one.label}. {one.source}. Training: {one.training_budget}. Planning: "
        f"{one.planning_budget}."
        for one in evidence.same_cap
    ]
    return ["\n".join(lines)]


def _calls(evidence: Evidence, pictures: Collection[str], numbers: str) -> str:
    lead = evidence.lead
    assert lead is not None, "there are systems"
    behind = tables.calls_behind_table(lead, published("olive"))
    head = [
        "An action may use a fixed number of simulator calls. This page says what they bought. "
        f"[calls.csv]({numbers}/calls.csv) has every game.",
    ]
    more = "results-calls" in pictures
    sections: list[Section] = [
        (
            "Are the calls well spent?",
            [
                _bare(tables.calls_table(evidence)),
                "Medians over games. *Calls*: made for a decision. *Depth*: where rollouts end, on "
                "average. *Unused*: calls that were left, because nothing new was in reach.",
                "*Twins*: calls that came to the state of a sibling. *Pruned*: calls that showed "
                "nothing new. *Tied*: decisions with several best actions.",
            ],
        ),
        (
            f"Does {words.code(lead)} search otherwise where it is behind?",
            [_bare(behind), "Behind or ahead of the paper's Olive, by the score of the game."]
            if behind
            else [],
        ),
        (
            "What do more calls give?",
            [_picture("results-calls", pictures), *_calls_notes(evidence)] if more else [],
        ),
        ("How does training go?", [_picture("results-learning", pictures)]),
    ]
    return _page(CALLS, head, sections)


def _calls_notes(evidence: Evidence) -> list[str]:
    """Say how many episodes a point of the picture of calls has, and what was trained with."""
    usual = evidence.protocol.calls_per_action
    most = [0, 0]  # with other calls per action, and with those of the tables
    for version in evidence.versions:
        system = version.system
        place = system.budget.calls_per_action == usual
        most[place] = max([most[place], *(one.count for one in system.summaries.values())])
    return [
        f"A point has at most {counted(most[0], 'episode')}, and {most[1]} at {usual} calls. So a "
        "curve that turns down may be luck.",
        *words.by_calls(evidence),
        "What learns is trained with as many calls an action as it plays with. It may spend "
        f"{evidence.protocol.training_calls:,} in all.",
        *words.trained_with(evidence),
    ]
