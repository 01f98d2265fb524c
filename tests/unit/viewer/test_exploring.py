"""What the page is told of the rule Explore is what the rule knows."""

import numpy as np

from olive_iw.algorithms import make_agent
from olive_iw.rules.explore import COLOURS, IN_TILES, Explore, shown
from olive_iw.search.tree import ROOT
from olive_iw.simulators.base import grey_levels
from olive_iw.viewer.page_messages import Explored
from olive_iw.viewer.run_library import live_source
from olive_iw.viewer.shown_episode import shown_of


def opened(**settings):
    agent = make_agent("patch-iw", calls_per_action=40, look_further=0.5, **settings)
    return shown_of(live_source("grid:key-door", agent), lambda: None)


def told(shown):
    return next((it for it in shown.frame() if isinstance(it, Explored)), None)


def test_nothing_is_told_without_the_rule():
    shown = opened()
    shown.decide()
    assert told(shown) is None


def test_the_map_and_the_target_are_the_rules():
    shown_episode = opened(explore=True)
    simulator, targets, screens = shown_episode.source.simulator, 0, []
    for decision in range(6):
        tree = shown_episode._planner.tree
        screens.append(shown(tree.seen[ROOT].step.screen, grey_levels(simulator)))
        before = told(shown_episode)
        assert (before.path, before.target, before.steps) == ([], None, decision)
        shown_episode.decide()
        found, rule = told(shown_episode), None
        tree, planner = shown_episode._planner.tree, shown_episode._planner
        rule = next(it for it in planner.rules if isinstance(it, Explore))
        assert told(shown_episode) is None  # once
        assert found.steps == decision + 1
        assert found.cells == len({screen[screen >= IN_TILES][0] for screen in screens})
        met = np.unique(np.concatenate(screens))
        tiles = found.rows * found.columns
        colours = np.bincount(met[met < IN_TILES] // COLOURS, minlength=tiles)
        assert found.colours == colours.tolist()
        earlier = np.concatenate([np.zeros(0, np.int32), *screens[:-1]])
        for tile, rare in enumerate(found.rare):
            here = screens[-1][screens[-1] < IN_TILES]
            times = [np.count_nonzero(earlier == atom) for atom in here[here // COLOURS == tile]]
            always = 1 / (1 + decision) ** 2
            assert abs(rare - max(0, 1 / (1 + min(times)) ** 2 - always)) < 1e-3
        if shown_episode.made.ties > 1 and rule.way:
            targets += 1
            assert [int(tree.action[node]) for node in found.path[1:]] == rule.way
            assert found.path[1] == tree.children[ROOT, shown_episode.made.action]
            assert found.target.startswith("data:image/png")
            assert len(found.target_rare) == tiles
        else:
            assert (found.path, found.target) == ([], None)
        shown_episode.advance()
    assert targets > 2
    shown_episode.return_before(2)
    shown_episode.decide()
    assert told(shown_episode) is not None  # the tree is another one
    shown_episode.close()
