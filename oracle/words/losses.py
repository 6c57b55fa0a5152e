"""Losses of two arrays: the mean of all elements, their sum, or each. Knows words; it knows no number system."""

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.systems.absent import Absent
from kfuzz.oracle.systems.value import Operand, Quantity, System


def reduced(N: System, each: Quantity) -> Quantity:
    """The mean of all elements, or, as the sizes `each` and `summed` say, each element or their sum."""
    if N.size("each"):
        return each
    return N.sum(each, "loss") if N.size("summed") else N.mean(each, "loss")


def softplus(N: System, x: Quantity) -> Quantity:
    """log(1 + exp(x)), without overflow."""
    return N.maximum(x, 0.0) + N.log1p(N.exp(-abs(x)))


def bent(N: System, d: Quantity, beta: Operand) -> Quantity:
    """d^2 / 2 up to beta, and beta (|d| - beta / 2) above: c (|d| - c / 2) with c the lesser of |d| and beta."""
    c = N.minimum(abs(d), beta)
    return c * (abs(d) - 0.5 * c)


def log_probabilities(N: System, x: Quantity) -> Quantity:
    """x - log sum exp(x) along the last axis, in either of two ways."""
    m = N.shift(x)
    logarithm = N.log(N.sum(N.exp(x - m), "sum"))
    return x - (m + logarithm) if N.form == "lse - x" else (x - m) - logarithm


def of_labels(
    N: System, each: Quantity, labels: Reals, w: Quantity, smooth: Quantity | None = None, rest: Operand = 1.0
) -> Quantity:
    """The losses of rows at their labels, weighted, smoothed and reduced, without those that are ignored."""
    counts = labels != N.size("ignore_index")
    weights = w[labels]
    each = each * weights
    if smooth is not None:
        each = each * rest + smooth
    each = N.where(counts, each, 0.0)
    if N.size("each"):
        return each
    total = N.sum(each, "loss")
    if N.size("summed"):
        return total
    if isinstance(weights, Absent):
        return total / N.number(float(counts.sum()))
    return total / N.sum(N.where(counts, weights, 0.0), "weights")
