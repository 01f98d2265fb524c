"""The sentences of the page: questions, and answers made from the scores."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from statistics import median

from olive_iw import stats
from olive_iw.reports.evidence.gather import (
    DEVELOPED,
    Evidence,
    capped,
    log_ratios,
    mean_scores,
)
from olive_iw.reports.evidence.tables import SHOWN_FIGURES, compared
from olive_iw.reports.layout import MINUS, counted, plain
from olive_iw.reports.published import PublishedScores, Scored, published
from olive_iw.reports.results import System
from olive_iw.reports.run_tables import call_figures
from olive_iw.stats import SIGNIFICANCE, Tally

PAPER_EPISODES = 50


def tally_of(one: Scored, other: Scored, without: Collection[str] = ()) -> Tally:
    """Wins and losses by mean, in all games but some."""
    means = mean_scores(one)
    own = {game: mean for game, mean in means.items() if game not in without}
    return stats.tally_by_mean(own, mean_scores(other))


def verdict(tally: Tally) -> str:
    """Say who is ahead in more games, and whether a coin could have done it."""
    if not tally.games:
        return "Not known yet: both have only played games that ours was chosen on."
    if tally.wins == tally.losses:
        return "Neither is ahead."
    p = stats.sign_test_p(tally)
    if p >= SIGNIFICANCE:
        side = "more" if tally.wins > tally.losses else "fewer"
        return f"Not shown: ahead in {side} games than not, but chance alone could do that."
    return "Yes, in more games than chance would give." if tally.wins > tally.losses else "No."


def figures(one: Scored, other: Scored) -> str:
    """Tell games won and lost, the sign test, and the interquartile means of a pair.

    Games that ours were chosen on are counted, but are no test.
    """
    tally, tested = tally_of(one, other), tally_of(one, other, DEVELOPED)
    if not tally.games:
        return f"{_code(one)} and {_code(other)} have no game in common yet."
    text = (
        f"{verdict(tested)} {_code(one)} scores higher than {_code(other)} in {tally.wins} of "
        f"{counted(tally.games, 'game')}, lower in {tally.losses}, the same in {tally.ties}"
    )
    if tested.games:
        p = stats.sign_test_p(tested)
        chance = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
        if tested.games < tally.games:
            text += f"; in those that ours was not chosen on {tested.wins}, {tested.losses} and "
            text += f"{tested.ties} of {tested.games}"
        text += f" (sign test over {'these' if tested.games < tally.games else 'games'}: {chance})"
    text += "."
    pair = compared(one, other)
    if pair is None:
        return text
    gap = pair.difference
    told = f"{pair.first:.2f} against {pair.second:.2f}, 95% of the difference over games "
    told += f"{gap.low:.2f} to {gap.high:.2f}"
    games = counted(len(pair.games), "game")
    return f"{text} Human-normalised interquartile mean of {games}: {told.replace('-', MINUS)}."


def _code(system: Scored) -> str:
    return system.label if isinstance(system, PublishedScores) else f"`{system.label}`"


def answer(
    question: str, pairs: Sequence[tuple[System | None, Scored | None]], more: str = ""
) -> str:
    """Put a question, and answer it by each pair that was run: the first against the second."""
    told = [figures(one, other) for one, other in pairs if one and other]
    if not told:
        return f"**{question}** Not known yet: there are no runs of both."
    if len(told) == 1:
        return f"**{question}** {told[0]}{more}"
    return "\n\n".join([f"**{question}**", "\n".join(f"- {line}" for line in told)])


def headline(evidence: Evidence) -> list[str]:
    """Answer the questions of the page."""
    rollout, patches, olive, plus = map(
        evidence.named, ("rollout-iw", "patch-iw", "olive", "olive-plus")
    )
    printed = tally_of(published("olive"), published("rollout-iw"))
    paper = (
        f" In the paper, with a larger network, 18,000 actions and {PAPER_EPISODES} episodes a "
        f"game, Olive is higher in {printed.wins} of {printed.games} games and lower in "
        f"{printed.losses}."
    )
    parts = " What is owed to which: [better planning](better-planning.md), on twelve games."
    answers = [
        answer("Does Olive beat Rollout-IW here?", [(olive, rollout)], paper),
        answer("Does learning alone beat `patch-iw`, which learns nothing?", [(olive, patches)]),
        answer("Do learning and the rules of `olive-plus` together?", [(plus, patches)], parts),
        answer("Does `olive-plus`, our own, beat Olive?", [(plus, olive)]),
    ]
    if lead := evidence.lead:
        question = f"Does {_code(lead)} beat what others published at the same cap?"
        answers.append(answer(question, [(lead, one) for one in evidence.same_cap]))
        answers.append(where_behind(lead, published("olive")))
    return answers


def where_behind(system: System, theirs: PublishedScores) -> str:
    """Say where a system is behind, and what its planning looks like there and elsewhere."""
    question = f"**Where is {_code(system)} behind {theirs.label}, and why?**"
    ratios, cut = log_ratios(system, theirs), capped(system)
    behind = [game for game in ratios if ratios[game] < 0.0]
    ahead = [game for game in ratios if ratios[game] >= 0.0]
    if not behind:
        return f"{question} In none of the {counted(len(ratios), 'game')} that both have."
    at_cap = sum(cut[game] for game in behind)
    text = (
        f"{question} It is behind in {len(behind)} of {counted(len(ratios), 'game')} (those in "
        f"which either is better than random play). In {at_cap} of these our episode was still "
        f"going on at the cap, {system.budget.max_actions:,} actions, where the paper's went on "
        f"for up to {theirs.budget.max_actions:,}: the cap "
        f"alone may explain it. In the other {len(behind) - at_cap} the game was over before."
    )
    if not ahead:
        return text
    found = call_figures(system)
    parts = []
    for name in SHOWN_FIGURES:
        sides = [
            [value for game in games if (value := found[game][name]) is not None]
            for games in (behind, ahead)
        ]
        if all(sides):
            share = name in ("unused", "twins", "tied")
            shown = [f"{median(side):.0%}" if share else plain(median(side)) for side in sides]
            parts.append(f"{name} {shown[0]} against {shown[1]}")
    return (
        f"{text} Where the calls went, medians over the games behind against the others: "
        f"{', '.join(parts)}."
    )


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
        told = [
            f"{sum(own[calls][game] > theirs[calls][game] for game in games)} with {calls}"
            for calls in several
        ]
        sentences.append(
            f"Of {counted(len(games), 'game')}, `{lead}` is higher than `{label}` in "
            f"{', '.join(told)} calls an action."
        )
    return sentences


def limits(evidence: Evidence) -> str:
    """Say what so few episodes can and cannot show, by how the paper's own episodes vary."""
    olive = published("olive")
    spreads = [
        olive.standard_error[game] * PAPER_EPISODES**0.5 / abs(mean)
        for game, mean in olive.mean.items()
        if mean and game in olive.standard_error
    ]
    spread = median(spreads)
    counts = {summary.count for one in evidence.shown for summary in one.summaries.values()}
    most = max(counts, default=0)
    seeds = max((runs.size for one in evidence.shown for runs in one.run_means.values()), default=0)
    n = "One episode" if most <= 1 else f"At most {most} episodes"
    return (
        f"{n} a game. Episodes of the paper's Olive vary by {spread:.0%} of their mean (standard "
        f"deviation, median over {len(spreads)} games, from the printed standard errors), so two "
        f"equal players commonly differ by {spread * 2**0.5:.0%} of it in one episode each: a "
        "single game shows little, and none is called won or lost with significance here. Over "
        "many games luck evens out: how many games are won, and aggregates over them, can be "
        "trusted as far as their tests and intervals say. Each test stands for itself: of twenty, "
        "one is below 0.05 by chance. They take the games as drawn at random; with "
        f"{'at most ' * (seeds > 1)}{counted(seeds, 'seed')} a game, "
        f"{'nothing' if seeds <= 1 else 'little'} here tells how another seed would have trained."
    )
