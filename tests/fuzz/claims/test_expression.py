"""Integer expressions: their meaning, which are refused, and that none can hang."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfuzz.claims.language.expression import Expression, ExpressionError, Total, condition, number

NAMES = ("rows", "cols", "threads")
SIZES = {"rows": 3, "cols": 257, "threads": 32}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("rows * cols + 1", 772),
        ("cols / threads", 8),
        ("-cols / threads", -9),  # rounds down, also below zero
        ("cols % threads", 1),
        ("-cols % threads", 31),
        ("ceil_div(cols, threads)", 9),
        ("ceil_div(0, threads)", 0),
        ("ceil_log2(1)", 0),
        ("ceil_log2(threads)", 5),
        ("ceil_log2(threads + 1)", 6),
        ("min(rows, cols, threads)", 3),
        ("max(rows, -cols)", 3),
        ("(1 + 2) * (3 - -4)", 21),
        (" rows ", 3),
        ("rows < 2", 0),
        ("(rows < 4) + (cols == 257)", 2),
        ("1 < rows <= 3", 1),
        ("rows > 5 or not cols > 5", 0),
        ("is_pow2(threads) and rows > 1", 1),
        ("64 if cols <= 512 else 128", 64),
        ("1 if cols <= 64 else 2 if cols <= 256 else 3", 3),
        ("cols / (rows - 3) if rows > 3 else 7", 7),  # the other branch has no value here
    ],
)
def test_an_expression_is_integer_arithmetic(text: str, value: int) -> None:
    assert number(text, NAMES)(SIZES) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cols <= 1024", True),
        ("1 < rows < 3", False),
        ("cols > 1024 or rows == 3", True),
        ("not (cols % 4 == 0 and rows != 1)", True),
    ],
)
def test_a_condition_compares_integers(text: str, value: bool) -> None:
    assert bool(condition(text, NAMES)(SIZES)) is value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rowz", "unknown name 'rowz', did you mean 'rows'?; this claim has rows, cols, threads"),
        ("rows ** 2", "'rows ** 2' is not allowed"),
        ("rows // 2", "'rows // 2' is not allowed"),
        ("rows << 2", "'rows << 2' is not allowed"),
        ("rows.real", "'rows.real' is not allowed"),
        ("rows[0]", "'rows[0]' is not allowed"),
        ("f(rows)", "'f(rows)' is not allowed"),
        ("min(*rows, 1)", "'*rows' is not allowed"),
        ("min(rows, key=cols)", "is not allowed"),
        ("lambda: 1", "is not allowed"),
        ("[rows]", "is not allowed"),
        ("rows if cols else 1", "'cols' is a number, where a condition such as n > 0 is expected"),
        ("rows and cols", "'rows' is a number, where a condition"),
        ("not (rows < 2) * 3", "'(rows < 2) * 3' is a number, where a condition"),
        ("rows < 2 if cols else 1", "'cols' is a number"),
        ("rows in (1, 2)", "'rows in (1, 2)' is not allowed"),
        ("rows if cols < 2", "no expression"),
        ("min(rows if cols < 2 else rowz, 1)", "unknown name 'rowz'"),
        ("-" * 300 + "rows", "nested more than 100 deep"),
        ("True", "'True' is not allowed"),
        ("1.5", "'1.5' is not allowed"),
        ("'rows'", "is not allowed"),
        ("__import__('os')", "is not allowed"),
        ("ceil_div(rows)", "ceil_div() with 1 arguments; it takes 2"),
        ("ceil_log2(rows, 2)", "ceil_log2() with 2 arguments; it takes 1"),
        ("min(rows)", "min() with 1 arguments; it takes 2"),
        ("min", "unknown name 'min'"),
        ("rows +", "no expression"),
        ("", "no expression"),
        ("rows cols", "no expression"),
        ("1if rows else 2", "no expression"),  # no more than a warning in Python
        ("rows\0", "no expression"),
        ("1 + " * 250 + "1", "1001 characters long; at most 1000"),
        ("9" * 20, "beyond 63 bits"),
    ],
)
def test_what_is_no_integer_expression_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as error:
        number(text, NAMES)
    assert said in str(error.value)


NO_CONDITIONS = [
    "rows", "rows + 1", "rows and cols", "rows in (1, 2)", "rows is cols", "not rows", "1 if rows > 1 else 0",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_CONDITIONS)
def test_a_number_is_no_condition(text: str) -> None:
    with pytest.raises(ExpressionError):
        condition(text, NAMES)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rows / (cols - 257)", "divides by zero for rows=3 cols=257"),
        ("rows % (rows - 3)", "divides by zero for rows=3"),
        ("ceil_div(1, rows - 3)", "divides by zero for rows=3"),
        ("ceil_log2(rows - 3)", "takes ceil_log2(0)"),
        ("9223372036854775807 * rows", "is beyond 63 bits for rows=3"),
    ],
)
def test_an_expression_without_a_value_names_the_sizes(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as error:
        number(text, NAMES)(SIZES)
    assert said in str(error.value)


def test_a_name_of_a_condition_is_a_condition_and_a_number() -> None:
    names, conditions = ("rows", "is_long"), {"is_long"}
    assert condition("not is_long and rows > 1", names, conditions)({"rows": 3, "is_long": 0}) == 1
    assert number("2 if is_long else 4 * is_long", names, conditions)({"rows": 3, "is_long": 1}) == 2
    with pytest.raises(ExpressionError, match="'is_long' is a number"):
        condition("is_long", names)


def test_the_longest_products_stay_small_enough_to_compute() -> None:
    longest = number(" * ".join(["rows"] * 57), NAMES)  # 396 characters
    with pytest.raises(ExpressionError, match="beyond 63 bits"):
        longest({"rows": 2**63 - 1})


def test_an_expression_knows_its_names_and_numbers() -> None:
    read = number("min(rows, 128) + ceil_div(cols, 4)", NAMES)
    assert (read.names, read.literals) == ({"rows", "cols"}, {128, 4})


def trees(leaves: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "<", "<=", "==", "!=", ">"]), inner)
            | st.builds("({} if {} < {} else {})".format, inner, inner, inner, inner)
            | st.builds("({} < {} <= {})".format, inner, inner, inner)
            | st.builds("({} > 3 and not {} < {})".format, inner, inner, inner)
            | st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner)
        ),
        max_leaves=8,
    )


@given(trees(st.sampled_from(NAMES) | st.integers(0, 99).map(str)))
def test_where_both_speak_the_language_agrees_with_python(text: str) -> None:
    expected = eval(text, {"__builtins__": {}, "min": min, "max": max}, dict(SIZES))  # noqa: S307  built above
    assert number(text, NAMES)(SIZES) == expected


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        read = number(text, NAMES)
    except ExpressionError:
        return
    assert isinstance(read, Expression)


@pytest.mark.parametrize(
    ("products", "sizes", "value"),
    [
        ([], {}, 0),
        ([["rows", "cols"], ["rows"]], {"rows": 3, "cols": 5}, 18),
        ([["n / 2", "n / 2"], []], {"n": 5}, 5),
        (
            [["n", "n", "n"]],
            {"n": 2**30},
            2**90,
        ),  # of many arrays no sum is beyond 63 bits, of a claim's sizes one may be
    ],
)
def test_a_sum_of_products_is_what_its_parts_make(products: list[list[str]], sizes: dict[str, int], value: int) -> None:
    assert Total(tuple(tuple(number(one, sizes) for one in product) for product in products))(sizes) == value


def test_a_sum_of_products_without_a_value_says_what_its_part_says() -> None:
    for text, reported in (
        ("1 / n", "divides by zero for n=0"),
        ("n + 9223372036854775807 + 1", "is beyond 63 bits for n=0"),
    ):
        with pytest.raises(ExpressionError, match=reported):
            Total(((number(text, ("n",)),),))({"n": 0})
