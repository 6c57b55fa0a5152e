"""The sequential test of draws: its expectation under every null, and what it sees."""

import itertools
import math

import numpy as np
import pytest

from kfuzz.oracle.numbers.evidence import LOG_LEVEL, Chances, equal_bits, log_evidence, log_evidence_of_all

BOUNDS = [
    ((0.5, 0.5), (0.5, 0.5)),
    ((0.2, 0.3, 0.1), (0.5, 0.6, 0.4)),
    ((0.0, 0.9), (0.1, 1.0)),
    ((0.0, 0.0, 0.0), (1.0, 1.0, 0.0)),
]
DRAWS = 6


def corners(lo: tuple[float, ...], hi: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Distributions within the bounds of which all but one probability lie at an end."""
    found = []
    for free in range(len(lo)):
        for ends in itertools.product(
            *((a, b) for place, (a, b) in enumerate(zip(lo, hi, strict=True)) if place != free)
        ):
            rest = 1 - sum(ends)
            if lo[free] - 1e-12 <= rest <= hi[free] + 1e-12:
                found.append((*ends[:free], rest, *ends[free:]))
    return found


def expectation(p: tuple[float, ...], chances: Chances) -> float:
    """The expectation of the evidence after DRAWS draws from p, over all that may come."""
    total = 0.0
    for counts in itertools.product(range(DRAWS + 1), repeat=len(p)):
        if sum(counts) == DRAWS:
            chance = math.factorial(DRAWS) * math.prod(q**n / math.factorial(n) for q, n in zip(p, counts, strict=True))
            if chance > 0:
                total += chance * math.exp(float(log_evidence(np.array([counts], float), chances)[0]))
    return total


def chances(lo: tuple[float, ...], hi: tuple[float, ...]) -> Chances:
    return Chances(np.array([lo]), np.array([hi]))


@pytest.mark.parametrize(("lo", "hi"), BOUNDS)
def test_the_evidence_has_an_expectation_of_at_most_one_at_every_corner_of_the_bounds(
    lo: tuple[float, ...], hi: tuple[float, ...]
) -> None:
    every = corners(lo, hi)
    assert every
    assert max(expectation(p, chances(lo, hi)) for p in every) <= 1 + 1e-12


def test_evidence_against_the_lower_bounds_would_be_none() -> None:
    lo, hi = BOUNDS[1]
    assert max(expectation(p, chances(lo, lo)) for p in corners(lo, hi)) > 2


def test_a_category_without_a_chance_is_proof() -> None:
    assert log_evidence(np.array([[3.0, 1.0]]), chances((1.0, 0.0), (1.0, 0.0)))[0] == math.inf


def test_a_frequency_beyond_its_bounds_is_seen_and_one_within_is_not() -> None:
    known = chances((0.09, 0.89), (0.11, 0.91))
    assert log_evidence(np.array([[1100.0, 8900.0]]), known)[0] < 0
    assert log_evidence(np.array([[2000.0, 8000.0]]), known)[0] > LOG_LEVEL
    assert log_evidence(np.array([[0.0, 10000.0]]), known)[0] > LOG_LEVEL


def test_one_quantity_of_many_that_is_off_is_seen() -> None:
    half = np.full((100, 2), 0.5)
    counts = np.full((100, 2), 100.0)
    assert log_evidence_of_all(counts, Chances(half, half)) < 0
    counts[7] = (200.0, 0.0)
    assert log_evidence_of_all(counts, Chances(half, half)) > LOG_LEVEL


def test_equal_draws_are_as_improbable_as_the_product_of_their_chances() -> None:
    half = np.full((30, 2), 0.5)
    assert equal_bits(Chances(half, half)) == 30
    assert equal_bits(chances((0.1, 0.7), (0.3, 0.9))) == pytest.approx(-math.log2(0.9))
    assert equal_bits(Chances(np.full((1, 4), 0.2), np.full((1, 4), 0.3))) == pytest.approx(-math.log2(0.3))
