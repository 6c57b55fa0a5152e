"""The numbers that a reduction starts from, its identities: -inf, 0, and the 1 of an element itself."""

from collections.abc import Iterator

from kfuzz.measure.mutants.change import Change, put
from kfuzz.measure.mutants.syntax import Source, field, operator, words

FLT_MAX, FLT_MIN = "3.402823466e+38f", "1.175494351e-38f"


def neg_inf_as_zero(source: Source) -> Iterator[Change]:
    """0 for -inf."""
    yield from _neg_inf_as(source, "0.0f")


def neg_inf_as_neg_flt_max(source: Source) -> Iterator[Change]:
    """-FLT_MAX for -inf."""
    yield from _neg_inf_as(source, f"-{FLT_MAX}")


def neg_inf_as_flt_min(source: Source) -> Iterator[Change]:
    """FLT_MIN, the least positive normal number, for -inf."""
    yield from _neg_inf_as(source, FLT_MIN)


def neg_inf_as_inf(source: Source) -> Iterator[Change]:
    """+inf for -inf."""
    yield from _neg_inf_as(source, "INFINITY")


def neg_inf_as_large(source: Source) -> Iterator[Change]:
    """-1e4 for -inf: less than any value that its author had in mind."""
    yield from _neg_inf_as(source, "-1e4f")


def zero_as_one(source: Source) -> Iterator[Change]:
    """1 for 0: a sum starts with an element too many."""
    yield from _float_as(source, "0.0", "1.0f")


def one_as_zero(source: Source) -> Iterator[Change]:
    """0 for 1: an element does not count."""
    yield from _float_as(source, "1.0", "0.0f")


def one_as_two(source: Source) -> Iterator[Change]:
    """2 for 1: an element counts twice."""
    yield from _float_as(source, "1.0", "2.0f")


def _neg_inf_as(source: Source, text: str) -> Iterator[Change]:
    for node in source.nodes("unary_expression"):
        if operator(node) == "-" and words(field(node, "argument")) == "INFINITY":
            yield put(node, text)


def _float_as(source: Source, value: str, text: str) -> Iterator[Change]:
    for node in source.nodes("number_literal"):
        if words(node).rstrip("f") == value:
            yield put(node, text)
