"""The template arguments that a launch may have: all that occur, hardly any others, and always finitely many."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuzz.claims.language.expression import Expression, condition, number
from kfuzz.claims.language.variants import SizeDomain, TooManyError, values_of

NAMES = ("rows", "cols", "threads")
ENDS = {"rows": (1, 40), "cols": (0, 40)}
FEW = {"threads": (2, 8)}


def every_value(texts: list[str], when: str = "", let: dict[str, Expression] | None = None) -> set[tuple[int, ...]]:
    names = (*NAMES, *(let or {}))
    conditions = {name for name, value in (let or {}).items() if value.is_condition}
    wanted = [number(text, names, conditions) for text in texts]
    chosen = condition(when, names, conditions) if when else None
    return {values for values, _ in values_of(wanted, chosen, SizeDomain(ENDS, FEW, let or {}))}


@pytest.mark.parametrize(
    ("texts", "when", "values"),
    [
        (["threads"], "", {(2,), (8,)}),
        (["4 * threads"], "threads > 2", {(32,)}),
        (["1 if cols <= 9 else 2"], "", {(1,), (2,)}),
        (["1 if cols <= 9 else 2 if cols <= 20 else 3"], "cols > 9", {(2,), (3,)}),
        (["1 if cols <= 9 else 2"], "9 < cols", {(2,)}),
        (["1 if cols < 9 else 2", "5 if cols < 20 else 6"], "", {(1, 5), (2, 5), (2, 6)}),  # never (1, 6)
        (["1 if rows * cols > 99 else 2", "3 if rows * cols > 99 else 4"], "", {(1, 3), (2, 4)}),
        (["1 if rows * cols > 1600 else 2"], "", {(2,)}),
        (["min(ceil_div(cols, 8), 3)"], "", {(0,), (1,), (2,), (3,)}),
        (["8 - cols % 4"], "", {(5,), (6,), (7,), (8,)}),
    ],
)
def test_values_that_never_come_together_are_left_out(
    texts: list[str], when: str, values: set[tuple[int, ...]]
) -> None:
    assert every_value(texts, when) == values


def test_derived_sizes_are_followed() -> None:
    let = {
        "is_long": number("cols > 9", NAMES),
        "workers": number("8 if is_long else 4", (*NAMES, "is_long"), {"is_long"}),
    }
    assert every_value(["workers", "2 if is_long else 1"], "", let) == {(8, 2), (4, 1)}
    assert every_value(["workers"], "is_long", let) == {(8,)}


def test_an_expression_without_a_few_values_is_refused() -> None:
    with pytest.raises(TooManyError, match="cols"):
        every_value(["cols"])


@pytest.mark.soak
def test_no_claim_keeps_it_busy_for_long() -> None:
    many = [f"1 if cols * rows > {limit} else 2" for limit in range(100, 140)]
    with pytest.raises(TooManyError):
        every_value(many)
    let = {"a0": number("cols", NAMES), "a1": number("cols + 1", NAMES)}
    for index in range(2, 90):  # as many as Fibonacci's numbers where each is walked anew
        let[f"a{index}"] = number(f"a{index - 1} + a{index - 2}", (*NAMES, *let))
    assert every_value(["1 if a89 > 5 else 2"], "", let) == {(1,)}


COMPARED = st.builds(
    "{} {} {}".format,
    st.sampled_from([*NAMES, "rows * cols", "cols % 5", "ceil_div(cols, threads)", "cols / 7", "-rows"]),
    st.sampled_from(["<", "<=", "==", "!=", ">", ">="]),
    st.integers(-3, 45),
)
CONDITIONS = st.recursive(
    COMPARED,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
        | st.builds("not ({})".format, inner)
        | st.builds("is_pow2({})".format, st.sampled_from(NAMES))
    ),
    max_leaves=4,
)
CHOSEN = st.recursive(
    st.integers(0, 9).map(str) | st.just("threads"),
    lambda inner: (
        st.builds("({} if {} else {})".format, inner, CONDITIONS, inner)
        | st.builds("({} + {})".format, inner, inner)
        | st.builds("max({}, {})".format, inner, inner)
    ),
    max_leaves=6,
)


@settings(max_examples=60)
@given(texts=st.lists(CHOSEN, min_size=1, max_size=2), when=CONDITIONS)
def test_no_value_that_occurs_is_missing(texts: list[str], when: str) -> None:
    wanted, chosen = [number(text, NAMES) for text in texts], condition(when, NAMES)
    compiled = every_value(texts, when)
    for rows, cols, threads in product(range(1, 41), range(41), (2, 8)):
        sizes = {"rows": rows, "cols": cols, "threads": threads}
        if chosen(sizes):
            assert tuple(one(sizes) for one in wanted) in compiled, sizes
