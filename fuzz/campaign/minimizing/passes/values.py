"""Simplify the values themselves: 0, 1, -inf, small integers, fewer digits."""

from collections import Counter

import numpy as np

from kfuzz.campaign.minimizing.subject import PATIENCE, Candidates, Subject, simpler_values, stretch_starts
from kfuzz.cases.case import Values, bits_in, element_in

WORTH = 70


def candidates(subject: Subject) -> Candidates:
    """Each value at all its places, then each stretch of one value by itself, until many of that value are refused."""
    for role, values in subject.literals().items():
        element = element_in(values)
        for bits in np.unique(bits_in(values)).tolist():
            where = bits_in(subject.literals()[role]) == bits
            for other in simpler_values(bits, element):
                candidate = subject.put(role, set_where(subject.literals()[role], where, other))
                if (yield candidate):
                    subject = candidate
                    break
        refused = Counter[int]()
        numbers = np.cumsum(stretch_starts(subject.literals()[role])).reshape(values.shape)
        for number in range(1, int(numbers.max()) + 1):
            where = numbers == number
            bits = int(bits_in(subject.literals()[role])[where][0])
            if refused[bits] >= PATIENCE:
                continue
            refused[bits] += 1
            for other in simpler_values(bits, element):
                candidate = subject.put(role, set_where(subject.literals()[role], where, other))
                if (yield candidate):
                    subject = candidate
                    refused[bits] = 0
                    break


def set_where(values: Values, where: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], bits: int) -> Values:
    """A copy of the array with these bits where the mask is true."""
    result = values.copy()
    bits_in(result)[where] = bits
    return result
