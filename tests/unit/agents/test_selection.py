import dataclasses

import numpy as np
import pytest
from scipy.stats import chisquare

from olive_iw.agents.selection import SELECTIONS, Scorer
from olive_iw.agents.selection import _highest as highest
from olive_iw.errors import InputError
from olive_iw.features.vae import LAPTOP_TRAINING, make_vae


class FixedScores:
    """Scores given beforehand: of image i, whatever the images."""

    def __init__(self, elbo, error, entropy):
        self.scores = [np.array(values, dtype=np.float64) for values in (elbo, error, entropy)]

    def elbo(self, images):
        return self.scores[0]

    def reconstruction_error(self, images):
        return self.scores[1]

    def latent_entropy(self, images):
        return self.scores[2]


IMAGES = np.zeros((4, 128, 128), np.uint8)
SCORES = FixedScores(elbo=[-5, -9, -1, -7], error=[3, 1, 4, 2], entropy=[0.1, 0.4, 0.2, 0.3])


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("elbo", [1, 3, 0]), ("reconstruction", [2, 0, 3]), ("entropy", [1, 3, 2])],
)
def test_rules_pick_by_their_score_most_wanted_first(name, expected):
    assert isinstance(SCORES, Scorer)
    assert SELECTIONS[name](IMAGES, SCORES, 3, rng()).tolist() == expected


def test_ties_are_broken_by_the_generator_evenly():
    generator, counts = rng(), np.zeros(5)
    for _ in range(1000):
        picked = highest(np.array([1.0, 2.0, 1.0, 1.0, 0.0]), 2, generator)
        assert picked[0] == 1
        counts[picked[1]] += 1
    assert counts[[1, 4]].tolist() == [0, 0]
    assert chisquare(counts[[0, 2, 3]]).pvalue > 0.01


def test_random_is_uniform_without_replacement():
    generator, counts = rng(), np.zeros(4)
    for _ in range(1000):
        picked = SELECTIONS["random"](IMAGES, SCORES, 2, generator)
        assert len(set(picked.tolist())) == 2
        counts[picked] += 1
    assert chisquare(counts).pvalue > 0.01


def test_scores_that_are_no_number_come_last():
    assert highest(np.array([np.nan, 1.0, np.inf]), 2, rng()).tolist() == [2, 1]


def test_negative_counts_are_refused():
    for name in SELECTIONS:
        with pytest.raises(InputError, match="negative"):
            SELECTIONS[name](IMAGES, SCORES, -1, rng())


def test_unknown_rule_names_its_neighbours():
    with pytest.raises(InputError, match="did you mean entropy"):
        SELECTIONS["entropi"]


def test_active_picks_what_the_network_has_not_learned():
    """A network that knows one sprite finds screens with another one least likely."""
    known = np.zeros((40, 128, 128), np.uint8)
    for n, pixels in enumerate(known):
        pixels[2 * n : 2 * n + 8, 40:48] = 255
    foreign = np.zeros((3, 128, 128), np.uint8)
    foreign[:, 60:90, 60:90] = rng().integers(256, size=(3, 30, 30))
    vae = make_vae("laptop", 0)
    vae.train(known, dataclasses.replace(LAPTOP_TRAINING, steps=60), rng())
    candidates = np.concatenate([known[:10], foreign, known[10:20]])
    for name in ("elbo", "reconstruction"):
        picked = SELECTIONS[name](candidates, vae, 3, rng())
        assert sorted(picked.tolist()) == [10, 11, 12]
    lowest = SELECTIONS["elbo"](candidates, vae, len(candidates), rng())
    assert np.all(np.diff(vae.elbo(candidates)[lowest]) >= 0)
