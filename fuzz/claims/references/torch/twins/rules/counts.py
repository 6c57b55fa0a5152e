"""How many numbers lie in each of some bins: known but for those that lie at an edge."""

import torch

from kfuzz.claims.references.torch.twins.rules.shared import certain
from kfuzz.claims.references.torch.twins.sets import NumberSet, StepResult, has_few_bits
from kfuzz.claims.references.torch.twins.table import Operation, Roundings

ROUNDINGS = 4
"""Of the place of a number among the bins."""


def count_in_bins(run: Roundings, op: Operation) -> list[StepResult]:
    """torch.histc: a number at an edge may be in either bin, unless its place is computed without a rounding."""
    a, bins = op.args[0], int(op.option(1, "bins", 100))
    low, high = (float(op.option(*one, 0)) for one in ((2, "min"), (3, "max")))
    x = op.at(lambda one: one.number)[0]
    if low == high:  # the numbers' own ends are those of the bins
        if not a.is_exact or not a.x.numel():
            return [StepResult(x, torch.full(x.shape, torch.inf, dtype=torch.float64))]
        low, high = float(a.number.min()), float(a.number.max())
        low, high = (low - 1, high + 1) if low == high else (low, high)
    first, last = (place_of(a, sign, low, high, bins, run) for sign in (-1, 1))
    counted = ((last >= 0) & (first <= bins) & (first.floor() != last.floor())).reshape(-1)
    open_bins = torch.zeros(bins + 1, dtype=torch.float64)
    places = zip(first.reshape(-1)[counted].tolist(), last.reshape(-1)[counted].tolist(), strict=True)
    for one, other in places:
        open_bins[max(0, min(int(one), bins - 1)) : max(0, min(int(other), bins - 1)) + 1] += 1
    return [StepResult(x, open_bins[:bins] if bool(counted.any()) else None)]


def place_of(a: NumberSet, sign: int, low: float, high: float, bins: int, run: Roundings) -> torch.Tensor:
    """Where one end of each set lies among the bins, in bins, as far out as roundings may bring it."""
    place = (a.end(sign).double() - low) * (bins / (high - low))
    is_plain = (
        certain(a) & has_few_bits(a.number) & has_few_bits(place) & torch.tensor(has_plain_steps(low, high, bins))
    )
    lost = ROUNDINGS * run.fine * (a.size + abs(low)) * (bins / (high - low))
    at_top = a.number == high  # the last bin has both of its edges
    return torch.where(is_plain | certain(a) & at_top, place, place + sign * lost).nan_to_num(-1.0)


def has_plain_steps(low: float, high: float, bins: int) -> bool:
    """Whether a bin's width is a power of two, and its edges are short."""
    width = torch.tensor((high - low) / bins, dtype=torch.float64)
    return bool(torch.frexp(width).mantissa == 0.5) and bool(has_few_bits(torch.tensor(low, dtype=torch.float64)))


RULES = {"histc": count_in_bins}
