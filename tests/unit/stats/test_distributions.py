"""Student's t, Mann and Whitney's U and coins: the same as scipy's."""

import math

import numpy as np
import pytest
from scipy.special import ndtri, stdtrit
from scipy.stats import binomtest, mannwhitneyu

from olive_iw.stats.distributions import coin_p, mann_whitney_p, student_quantile


@pytest.mark.parametrize("freedom", [1.0, 1.37, 2.0, 3.5, 9.0, 30.0, 123.4, 5e3, 1e6])
@pytest.mark.parametrize("share", [0.001, 0.2, 0.5, 0.6, 0.95, 0.975, 0.9995])
def test_quantiles_are_students(share: float, freedom: float) -> None:
    expected = stdtrit(freedom, share)
    assert student_quantile(share, freedom) == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_quantiles_of_no_doubt_are_normal() -> None:
    assert student_quantile(0.975) == pytest.approx(ndtri(0.975), rel=1e-14)
    assert student_quantile(0.975, 1e9) == pytest.approx(ndtri(0.975), rel=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_p_of_samples_of_all_sizes_is_scipys(seed: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 9 if seed % 2 else 40, size=2)
    for spread in (3, 30, 1e6):  # many ties, few and none
        a, b = (np.round(random.normal(shift, 1, n) * spread) for shift, n in enumerate(sizes))
        if np.ptp(np.concatenate([a, b])):
            expected = mannwhitneyu(a, b, alternative="two-sided").pvalue
            assert mann_whitney_p(a, b) == pytest.approx(expected, rel=1e-10)


def test_p_of_few_against_many_is_exact() -> None:
    few, many = np.array([0.5, 7.5]), np.arange(900.0)
    assert mann_whitney_p(few, many) == pytest.approx(
        mannwhitneyu(few, many, method="exact").pvalue, rel=1e-9
    )
    assert mann_whitney_p(np.array([-1.0]), np.array([1.0, 2.0])) == pytest.approx(2 / 3)


def test_coins_are_binomial() -> None:
    for tosses in (1, 2, 7, 20, 55, 1100):
        for wins in {0, 1, tosses // 3, tosses // 2, tosses}:
            expected = binomtest(wins, tosses).pvalue
            assert math.isclose(coin_p(wins, tosses - wins), expected, rel_tol=1e-9)
    assert coin_p(0, 0) == 1.0
