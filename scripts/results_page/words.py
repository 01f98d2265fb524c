"""The sentences of the pages: questions, and answers made from the scores.

An answer comes first and is short; no paragraph has more than three numbers.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import median

from olive_iw import stats
from olive_iw.reports.by_mean import at_shorter_length, met_cap
from olive_iw.reports.layout import game_title
from olive_iw.reports.published import PublishedScores, Scored, published
from olive_iw.reports.results import System
from olive_iw.stats import SIGNIFICANCE, Tally, Verdict
from olive_iw.tables import counted, signed
from results_page.gather import DEVELOPED, LOOK_UP, Evidence
from results_page.measures import (
    capped,
    keeps_pace,
    log_ratios,
    mean_scores,
    tally_of,
    within,
)

PAPER_EPISODES = 50
FEWEST = 10
"""Runs with several episodes from which something is said of the first ones' luck."""


def code(system: Scored) -> str:
    """Name a system: ours as one types it."""
    return system.label if isinstance(system, PublishedScores) else f"`{system.label}`"


def verdict(tally: Tally) -> str:
    """Say whether one side is ahead in more games, and a coin could not have done it."""
    if not tally.games:
        return "Not known yet"
    if tally.wins == tally.losses:
        return "Neither is ahead"
    if stats.sign_test_p(tally) >= SIGNIFICANCE:
        return "Not shown"
    return "Yes" if tally.wins > tally.losses else "No"


def figures(one: Scored, other: Scored) -> str:
    """Answer by the games that ours were not chosen on: how many were won, and what that shows."""
    tally, tested = tally_of(one, other), tally_of(one, other, DEVELOPED)
    if not tally.games:
        return f"Not known yet: {code(one)} and {code(other)} have no game in common."
    found = verdict(tested)
    if not tested.games:
        return f"{found}: both have only played games that ours was chosen on."
    text = (
        f"{found}. {code(one)} scores higher than {code(other)} in {tested.wins} of "
        f"{counted(tested.games, 'game')} and lower in {tested.losses}."
    )
    return f"{text} Chance alone could do that." if found == "Not shown" else text


def answer(question: str, one: Scored | None, other: Scored | None) -> str:
    """Put a question, and answer it by a pair if both were run."""
    told = figures(one, other) if one and other else "Not known yet: there are no runs of both."
    return f"- **{question}** {told}"


def headline(evidence: Evidence) -> list[str]:
    """Answer the questions of the page, one line each."""
    rollout, patches, olive, plus = map(
        evidence.named, ("rollout-iw", "patch-iw", "olive", "olive-plus")
    )
    answers = []
    if lead := evidence.lead:
        answers += [
            answer(f"Does {code(lead)} beat the paper's Olive?", lead, published("olive"))
            + f" The paper's episodes may be {_times(lead, published('olive'))} times as long.",
            same_cap(lead, evidence.same_cap),
            others(lead),
        ]
    answers += [
        answer("Does `olive-plus`, our own, beat `olive`?", plus, olive),
        answer("Does Olive beat Rollout-IW here, as in the paper?", olive, rollout),
        answer("Does learning alone beat `patch-iw`, which learns nothing?", olive, patches),
        answer("Do learning and our rules together?", plus, patches),
    ]
    if still := evidence.named("olive", "fit=none"):
        answers.append(answer("Does noise while it plans make `olive` better?", olive, still))
    if found := LookUp.of(evidence):
        asked = "Does the authors' look-up of pixels explain their baseline?"
        answers.append(f"- **{asked}** {found.answer}")
    return ["\n".join(answers)]


def _times(ours: System, theirs: PublishedScores) -> str:
    ratio = (theirs.budget.max_actions or 0) / (ours.budget.max_actions or 1)
    return {15.0: "fifteen"}.get(ratio, f"{ratio:g}")


def same_cap(lead: System, others: Sequence[PublishedScores]) -> str:
    """Say which of the systems with a cap like ours the lead beats."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for other in others:
        found[verdict(tally_of(lead, other, DEVELOPED))].append(other.label)
    told = " ".join(f"{name}: {'; '.join(labels)}." for name, labels in found.items())
    return f"- **Does {code(lead)} beat what others published at the same cap?** {told}"


def others(lead: System) -> str:
    """Say which of the learners that the paper compares itself with the lead beats."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for other in map(published, ("pi-iw", "dqn", "efficientzero")):
        found[verdict(tally_of(lead, other, DEVELOPED))].append(other.label)
    told = " ".join(f"{name}: {'; '.join(labels)}." for name, labels in found.items())
    return f"- **Does {code(lead)} beat the learners that the paper compares itself with?** {told}"


def where_behind(system: System, theirs: PublishedScores) -> list[str]:
    """Say where a system is behind, and in how many games the cap alone may explain it."""
    ratios, cut, pace = log_ratios(system, theirs), capped(system), keeps_pace(system, theirs)
    behind = [game for game in ratios if ratios[game] < 0.0]
    if not behind:
        return [f"In none of the {counted(len(ratios), 'game')} that both have."]
    at_cap = [game for game in behind if cut[game]]
    slow = sorted(game for game in at_cap if game not in pace)
    text = [
        f"{code(system)} is behind in {len(behind)} of {counted(len(ratios), 'game')}. "
        f"In {len(at_cap)} of these our episode was still going on when the cap ended it."
    ]
    if at_cap:
        text.append(
            f"In {len(at_cap) - len(slow)} of these {len(at_cap)} we earn at least as much per "
            "action of the cap as the paper's Olive does. There the shorter cap alone may explain "
            f"the difference.{_not_in(slow)}"
        )
    over = len(behind) - len(at_cap)
    if over:
        text.append(
            f"In the other {over} the game was over before the cap: there we play worse, or had "
            f"bad luck. [Scores by game](results-by-game.md) has the {code(system)} games that "
            "are furthest behind."
        )
    return text


@dataclass(frozen=True, slots=True)
class LookUp:
    """Rollout-IW with the right pixels and with those of the authors' code, on the same games."""

    games: Collection[str]
    sees: System
    blind: System
    olive: System | None

    @classmethod
    def of(cls, evidence: Evidence) -> "LookUp | None":
        """Return both, if there are runs of both."""
        blind, sees = evidence.named("rollout-iw", LOOK_UP), evidence.named("rollout-iw")
        if blind is None or sees is None:
            return None
        games = blind.run_means.keys() & sees.run_means.keys()
        olive = evidence.named("olive")
        olive = within(olive, games) if olive else None
        return cls(games, within(sees, games), within(blind, games), olive)

    @property
    def answer(self) -> str:
        """Say whether theirs is the weaker baseline."""
        found = verdict(tally_of(self.sees, self.blind))
        return {
            "Yes": "In part it may: with their pixels Rollout-IW is weaker.",
            "No": "No: with their pixels Rollout-IW is even stronger.",
        }.get(found, "Not shown: with their pixels Rollout-IW is not clearly weaker.")

    @property
    def pairs(self) -> list[tuple[Scored, Scored]]:
        """Who is compared with whom."""
        papers = [
            replace(one, mean={game: one.mean[game] for game in one.mean if game in self.games})
            for one in (published("olive"), published("rollout-iw"))
        ]
        pairs: list[tuple[Scored, Scored]] = [(self.sees, self.blind)]
        if self.olive:
            pairs += [(self.olive, self.sees), (self.olive, self.blind)]
        return [*pairs, (papers[0], papers[1])]


def look_up(found: LookUp) -> list[str]:
    """Say what the wrong pixels cost Rollout-IW, and what they change for Olive beside it."""
    gain = tally_of(found.sees, found.blind)
    text = [
        f"**{found.answer}** The authors' code reads its pixels at row · column, which are the "
        f"wrong ones. We let Rollout-IW play {counted(gain.games, 'game')} with their look-up and "
        f"with the right one, all else the same. The right one is higher in {gain.wins} and lower "
        f"in {gain.losses}."
    ]
    if found.olive:
        seen, blind = (tally_of(found.olive, one).wins for one in (found.sees, found.blind))
        paper = tally_of(*found.pairs[-1]).wins
        text.append(
            f"Our `olive` is above the one that reads the right pixels in {seen} games, and above "
            f"the other in {blind}. In {paper} of these games the paper's Olive is above its "
            "Rollout-IW."
        )
    return text


def nearer(found: LookUp) -> str | None:
    """Say which look-up comes nearer to the paper's Rollout-IW where no cap ended an episode."""
    cut = met_cap(found.sees) | met_cap(found.blind)
    sides = [log_ratios(one, published("rollout-iw")) for one in (found.sees, found.blind)]
    games = [game for game in sides[0].keys() & sides[1].keys() if game not in cut]
    if not games:
        return None
    closer = Tally({g: Verdict.of(abs(sides[1][g]), abs(sides[0][g])) for g in games})
    return (
        f"In {counted(len(games), 'game')} both were over before the cap, so a longer one would "
        f"change nothing. There the wrong pixels come nearer to the paper's Rollout-IW in "
        f"{closer.losses}, the right ones in {closer.wins}."
    )


def earns_or_survives(one: System, other: System) -> str:
    """Say whether a lead by score is one in what is earned, or in how long it lives."""
    whole, equal = tally_of(one, other), at_shorter_length(one, other)
    found = "earns more" if verdict(equal) == "Yes" else "mostly lives longer"
    return (
        f"**{code(one)} {found} than {code(other)}.** Games won less games lost are "
        f"{signed(whole.wins - whole.losses)} by score, and {signed(equal.wins - equal.losses)} "
        "after the actions of the shorter episode."
    )


def second_episodes(system: System) -> str | None:
    """Say what later episodes come to, beside the first, where there are several."""
    ratios = []
    for run in system.runs:
        first, *later = (row.score for row in sorted(run.episodes, key=lambda row: row.episode))
        if later and first > 0:
            ratios.append(sum(later) / len(later) / first)
    if len(ratios) < FEWEST:
        return None
    return (
        f"How lucky were the first episodes? Of {counted(len(ratios), 'run')} of {code(system)} "
        f"with several, the later ones come to {median(ratios):.0%} of the first (median)."
    )


def _not_in(games: Sequence[str]) -> str:
    if not games:
        return ""
    *most, last = map(game_title, games)
    before = f"{', '.join(most)} and " if most else ""
    return f" It does not in {before}{last}."


def by_calls(evidence: Evidence) -> list[str]:
    """Say in how many games the lead is higher than each other system, for all calls per action."""
    means: defaultdict[str, dict[int, dict[str, float]]] = defaultdict(dict)
    for version in evidence.versions:  # of each system the version with most games comes first
        system = version.system
        means[system.label].setdefault(system.budget.calls_per_action or 0, mean_scores(system))
    lead = evidence.lead.label if evidence.lead else ""
    own, sentences = means.pop(lead, {}), []
    for label, theirs in means.items():
        several = sorted(own.keys() & theirs.keys())
        if len(several) < 2:
            continue
        games = set.intersection(*({*own[calls]} & {*theirs[calls]} for calls in several))
        won = {c: sum(own[c][game] > theirs[c][game] for game in games) for c in several}
        sentences.append(
            f"Of {counted(len(games), 'game')}, `{lead}` is higher than `{label}` in:\n\n"
            f"| calls an action | {' | '.join(map(str, several))} |\n"
            f"| :--- | {' | '.join(['---:'] * len(several))} |\n"
            f"| games | {' | '.join(str(won[calls]) for calls in several)} |"
        )
    return sentences


def trained_with(evidence: Evidence) -> list[str]:
    """Say of runs with other calls per action what their training spent, where not all of it."""
    protocol, sentences = evidence.protocol, []
    for version in evidence.versions:
        calls = version.system.budget.calls_per_action
        spent = [one for one in version.spent.values() if one.calls < protocol.training_calls]
        if calls == protocol.calls_per_action or not spent:
            continue
        episodes = sorted({one.episodes for one in spent})
        least, most = (round(edge(one.calls for one in spent), -3) for edge in (min, max))
        stopped = " or ".join(map(str, episodes))
        sentences.append(
            f"With {calls} calls an action `{version.system.label}` did not spend them all. Its "
            f"training stopped at {stopped} episodes, after "
            + (f"{least:,}" if least == most else f"{least:,} to {most:,}")
            + " calls."
        )
    return sentences


def limits(evidence: Evidence) -> list[str]:
    """Say what so few episodes can and cannot show, by how the paper's own episodes vary."""
    olive = published("olive")
    spreads = [
        olive.standard_error[game] * PAPER_EPISODES**0.5 / abs(mean)
        for game, mean in olive.mean.items()
        if mean and game in olive.standard_error
    ]
    spread = median(spreads)
    lucky = second_episodes(evidence.lead) if evidence.lead else None
    counts = {summary.count for one in evidence.shown for summary in one.summaries.values()}
    most = max(counts, default=0)
    seeds = max((runs.size for one in evidence.shown for runs in one.run_means.values()), default=0)
    n = "one episode" if most <= 1 else f"at most {most} episodes"
    return [
        f"Little about one game, more about many. We played {n} a game. Episodes of the paper's "
        f"Olive vary by {spread:.0%} of their mean. So two equal players commonly differ by "
        f"{spread * 2**0.5:.0%} in one episode each.",
        "We therefore call no single game won or lost. Over many games luck evens out: how many "
        "games are won can be trusted as far as its test says. Each test stands for itself: of "
        "twenty, chance makes one look significant.",
        f"We trained with {'at most ' * (seeds > 1)}{counted(seeds, 'seed')} a game. So "
        f"{'nothing' if seeds <= 1 else 'little'} here tells how another seed would have trained.",
        *([lucky] if lucky else []),
    ]
