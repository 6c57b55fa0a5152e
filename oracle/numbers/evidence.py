"""Evidence that draws do not follow a distribution whose probabilities are known within bounds: a sequential test.

The evidence is a supermartingale under every distribution within the bounds, so that it exceeds 1 / alpha with a
probability of at most alpha, however long the test goes on and whenever it stops. Knows counts and bounds; knows no op.
docs/numerics.md#evidence
"""

import math
from dataclasses import dataclass

import numpy as np

from kfuzz.oracle.numbers.enclosure import Doubles

LOG_LEVEL = 70 * math.log(2)
"""A test accuses where its evidence exceeds 2^70: by chance once in 2^70 tests at most, whatever was tested before."""
LEAST_BITS = 70
"""Draws that are equal with a probability of at most 2^-70 count as evidence by themselves."""


@dataclass(frozen=True)
class Chances:
    """The probabilities of the categories of some quantities, each with the least and the greatest possible one.

    `lo`, `hi`: [quantities, categories]. Each draw of a quantity falls into one of its categories.
    """

    lo: Doubles
    hi: Doubles


def log_evidence(counts: Doubles, chances: Chances) -> Doubles:
    """The logarithm of the evidence of each quantity: [quantities, categories] counts of independent draws."""
    categories = counts.shape[-1]
    each = _each_category(counts, chances)
    of_one = np.logaddexp.reduce(each, axis=-1) - math.log(categories)
    return np.asarray(np.logaddexp(_all_categories(counts, chances), of_one) - math.log(2))


def log_evidence_of_all(counts: Doubles, chances: Chances) -> float:
    """The logarithm of the mean of two pieces of evidence: of the quantities one by one, and of those that are alike
    together."""
    if not len(counts):
        return 0.0
    ends = np.concatenate([chances.lo, chances.hi], axis=-1)
    _, first, group = np.unique(ends, axis=0, return_index=True, return_inverse=True)
    together = np.zeros((len(first), counts.shape[-1]))
    np.add.at(together, group.reshape(-1), counts)
    alone = _log_mean(log_evidence(counts, chances))
    return float(
        np.logaddexp(alone, _log_mean(log_evidence(together, Chances(chances.lo[first], chances.hi[first]))))
    ) - math.log(2)


def log_evidence_of_pairs(counts: Doubles, logs: Doubles) -> float:
    """The logarithm of the mean evidence of some series of pairs that their draws agree too often, or too seldom.

    counts: [series, 2], the pairs that agree and those that differ. logs: the sums of the logarithms of the greatest
    probability to agree, over the pairs that do, and of 1 minus the least, over those that differ.
    """
    mixture = _log_rising(counts, 0.5).sum(axis=-1) - _log_rising(counts.sum(axis=-1), 1.0)
    return _log_mean(mixture - logs.sum(axis=-1))


def _log_mean(logs: Doubles) -> float:
    return float(np.logaddexp.reduce(logs)) - math.log(len(logs))


def _all_categories(counts: Doubles, chances: Chances) -> Doubles:
    """A bet on all frequencies at once: the Krichevsky-Trofimov mixture over the greatest probabilities."""
    total, categories = counts.sum(axis=-1), counts.shape[-1]
    mixture = _log_rising(counts, 0.5).sum(axis=-1) - _log_rising(total, categories / 2)
    return np.asarray(mixture - _log_product(counts, chances.hi).sum(axis=-1))


def _each_category(counts: Doubles, chances: Chances) -> Doubles:
    """For each category a bet on its own frequency, against that of all others together."""
    others = counts.sum(axis=-1, keepdims=True) - counts
    mixture = _log_rising(counts, 0.5) + _log_rising(others, 0.5) - _log_rising(counts + others, 1.0)
    return np.asarray(mixture - _log_product(counts, chances.hi) - _log_product(others, 1 - chances.lo))


def _log_product(counts: Doubles, chances: Doubles) -> Doubles:
    """counts log(chances), where what has no chance and did not come counts nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(counts > 0, counts * np.log(np.minimum(chances, 1.0)), 0.0)


def _log_rising(counts: Doubles, first: float) -> Doubles:
    """log of first (first + 1) ... (first + count - 1), for each count."""
    most = int(counts.max(initial=0))
    table = np.concatenate([[0.0], np.cumsum(np.log(first + np.arange(most)))])
    return np.asarray(table[counts.astype(np.int64)])


def equal_bits(chances: Chances) -> float:
    """At least how many bits improbable it is that one more draw of each quantity equals a given one: -log2."""
    likeliest = np.minimum(chances.hi.max(axis=-1, initial=0.0), 1.0)
    both = np.minimum(likeliest, (np.minimum(chances.hi, 1.0) ** 2).sum(axis=-1))
    return float(-np.log2(both).sum()) if both.size else 0.0
