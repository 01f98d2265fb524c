"""The page itself, in Markdown, and the writing of it."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from olive_iw.files import write_text
from olive_iw.reports.evidence import tables, words
from olive_iw.reports.evidence.gather import DEVELOPED, Evidence, mean_scores, read_evidence
from olive_iw.reports.evidence.pictures import make_pictures
from olive_iw.reports.layout import counted
from olive_iw.reports.published import published
from olive_iw.reports.run_tables import calls_table
from olive_iw.simulators import PAPER_GAMES

IMAGES = "images"
"""Folder of the pictures, beside the page."""
SWEEPS = (
    *("five-minute", "development-games", "calls", "survey-scores"),
    *("fitted-grain", "fitted-grain-second-seed", "fitted-grain-survey"),
)
"""Names of the sweep files whose runs the page is made from, in the order of their worth."""
PICTURES = {
    "results-lead": "Score above random play of every game, over that of the paper's Olive, sorted",
    "results-ratios": "The same of each of our systems",
    "results-calls": "Score against calls per action",
    "results-learning": "Score of training episodes against training calls",
}
"""Name of a picture's file -> what it shows."""


def write_evidence(folder: Path, page: Path) -> list[Path]:
    """Make the page of all runs below a folder, and its pictures; returns the files written.

    Pictures of an earlier page that this one has no data for are removed.
    """
    evidence = read_evidence(folder)
    pictures = make_pictures(evidence)
    images = page.parent / IMAGES
    images.mkdir(parents=True, exist_ok=True)
    for name in PICTURES.keys() - pictures.keys():
        (images / f"{name}.svg").unlink(missing_ok=True)
    written = []
    for name, svg in pictures.items():
        written.append(images / f"{name}.svg")
        write_text(written[-1], svg)
    write_text(page, page_text(evidence, pictures))
    return [*written, page]


def page_text(evidence: Evidence, pictures: Iterable[str]) -> str:
    """Text of the page; `pictures` are the names of those there are."""
    protocol = evidence.protocol
    shown = {name: f"![{PICTURES[name]}]({IMAGES}/{name}.svg)" for name in pictures}
    head = [
        "<!-- Made by `make results` from results/: what is changed here by hand is lost. -->",
        "# Measured scores",
        f"All scores on this page are of the protocol `{protocol.name}`: episodes of at most "
        f"{protocol.max_actions:,} actions of 15 frames ({_minutes(protocol.max_actions)} of "
        f"play), {protocol.calls_per_action} simulator calls an action, "
        f"{protocol.training_calls:,} training calls for algorithms that learn, profile `laptop`, "
        f"on a CPU. Every episode is in the folder `results/{protocol.name}` with all its actions; "
        "`olive-iw verify results` replays them in a fresh emulator and confirms each reward. The "
        "whole page is made from that folder, and a test says if it is not. Runs of other versions "
        "and lengths: [measured with version 0.1.0](results-0.1.md), "
        "[better planning](better-planning.md).",
        _coverage(evidence),
        _chosen_on(evidence),
    ]
    body = _body(evidence, shown) if evidence.shown else []
    return "\n\n".join([*filter(None, head), *body, *_foot(evidence)]).rstrip() + "\n"


def _minutes(actions: int) -> str:
    minutes = actions * 15 / 60 / 60
    return f"{counted(round(minutes), 'minute')}"


def _coverage(evidence: Evidence) -> str:
    if not evidence.shown:
        calls = evidence.protocol.calls_per_action
        return f"There are no finished runs with {calls} calls an action yet."
    parts = []
    for system in evidence.shown:
        inside = sum(game in PAPER_GAMES for game in system.run_means)
        parts.append(f"`{system.label}` {inside}")
    return f"Of the paper's {len(PAPER_GAMES)} games there are so far: {', '.join(parts)}."


def _chosen_on(evidence: Evidence) -> str:
    """Say which games are no test of `olive-plus`, because its rules were chosen on them."""
    ours = evidence.named("olive-plus")
    if ours is None:
        return ""
    own, parts = mean_scores(ours), []
    others = [evidence.named("patch-iw"), evidence.named("olive"), published("olive")]
    for other in others:
        if other is None:
            continue
        theirs = mean_scores(other)
        counts = []
        for chosen in (True, False):
            games = [game for game in own if game in theirs and (game in DEVELOPED) is chosen]
            won = sum(own[game] > theirs[game] for game in games)
            counts.append(f"{won} of {len(games)}" if games else "none played")
        parts.append(f"against {other.label} {' and '.join(counts)}")
    return (
        "**The rules of `olive-plus`, and how `olive` reads its bits, were chosen on twelve of "
        "these games** ([better planning](better-planning.md)), so what they gain there is no test "
        "of them: all tables below have both, the sign tests of the questions only the others. "
        "Higher means of `olive-plus` on those twelve and on the others: "
        f"{'; '.join(parts)}."
    )


def _body(evidence: Evidence, shown: Mapping[str, str]) -> list[str]:
    lead, olive = evidence.lead, published("olive")
    assert lead is not None, "there are systems"
    scores = [tables.scores_table(evidence), tables.survey_table(evidence)]
    wins = [tables.wins_table(evidence), tables.uncapped_table(evidence)]
    sections: dict[str, list[str | None]] = {
        "": [shown.get("results-lead"), _bars_note(evidence) if "results-lead" in shown else None],
        "The questions": [*words.headline(evidence)],
        "What so few episodes can and cannot show": [words.limits(evidence)],
        "Scores": [table.as_markdown() for table in scores if table is not None],
        "Who wins": [table.as_markdown() for table in wins if table is not None],
        "Human-normalised": [
            tables.aggregates_table(evidence).as_markdown(),
            tables.pairs_table(evidence).as_markdown(),
        ],
        "Where we are ahead, and behind": [
            shown.get("results-ratios"),
            *(
                table.as_markdown()
                for table in [tables.behind_table(lead, olive)]
                if table is not None
            ),
        ],
        "What more calls give": [
            shown.get("results-calls"),
            _calls_note(evidence) if "results-calls" in shown else None,
        ],
        "How they learn": [shown.get("results-learning")],
        "Where the calls went, game by game": [calls_table(evidence.shown).as_markdown()],
    }
    told = []
    for title, parts in sections.items():
        found = [part.strip() for part in parts if part]
        if found:
            told += [f"## {title}"] * bool(title) + found
    return told


def _bars_note(evidence: Evidence) -> str:
    return (
        "Ours at a cap of "
        f"{evidence.protocol.max_actions:,} actions, the paper's Olive at 18,000. A bar marked r: "
        "one side is no better than random play, or 64 times behind; games in which both are no "
        "better have no bar."
    )


def _calls_note(evidence: Evidence) -> str:
    """Say how many episodes a point of the picture of calls has, and what was trained with."""
    usual = evidence.protocol.calls_per_action
    most = [0, 0]  # with other calls per action, and with those of the tables
    for version in evidence.versions:
        system = version.system
        place = system.budget.calls_per_action == usual
        most[place] = max([most[place], *(one.count for one in system.summaries.values())])
    return (
        f"At most {counted(most[0], 'episode')} a point, {most[1]} at {usual} calls: a "
        "curve that turns down may be luck. What learns was trained with as many calls an action "
        f"as it plays with, {evidence.protocol.training_calls:,} in all."
        f"{''.join(f' {sentence}' for sentence in words.by_calls(evidence))}"
    )


def _foot(evidence: Evidence) -> list[str]:
    protocol = evidence.protocol.name
    parts = []
    if evidence.versions:
        parts = [
            "## Versions and commands",
            tables.versions_table(evidence).as_markdown().strip(),
        ]
    runs = f"runs/{protocol}"
    commands = [f"olive-iw sweep sweeps/{name}.toml --out {runs} --order rounds" for name in SWEEPS]
    commands.append(f"olive-iw export {runs} --results results/{protocol} --commit COMMIT")
    commands.append("make results")
    return [
        *parts,
        "Runs are made, copied, proved and shown by",
        "\n".join(["```", *commands, "```"]),
        "where COMMIT is what the runs were made with, and the sweeps are: one episode of every "
        "game; four of three systems in the twelve development games; other calls per action in "
        "six games; all algorithms on three; and learned bits read otherwise. Each line goes on "
        "where it was stopped, and copies what is new. A run is repeated exactly with the same "
        "versions of the packages on the same kind of machine; elsewhere the last digits of a "
        "network may differ, and then the play. What was played replays everywhere.",
    ]
