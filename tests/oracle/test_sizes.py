"""Sizes that follow from others: an output of a size that no input has, and axes that inputs share or do not."""

from pathlib import Path

import numpy as np
import pytest

from kfuzz.oracle import judge
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.independence import independent_dimensions, places_to_taint, row_axes
from kfuzz.oracle.op.shapes import is_derived, read_dimension
from kfuzz.oracle.proof.admission import admit

STEPPED_SUM = """
INPUTS = {"x": "float[rows, n]"}
AXES = {"k": 3, "stride": 1, "pad": 0}
OUTPUTS = {"y": "float[rows, (n + 2 * pad - k) // stride + 1]"}
WHERE = ("n + 2 * pad >= k",)
def formula(N, x):
    return N.sum(N.windows(x, N.size("k"), N.size("stride"), N.size("pad")), "window")
"""
CAT = """
INPUTS = {"x": "float[rows, a]", "y": "float[rows, b]"}
OUTPUTS = {"z": "float[rows, a + b]"}
def formula(N, x, y):
    return N.join(x, y)
"""
CAT_OF_MANY = """
INPUTS = {"x": "float[rows, a]", "y": "float[rows, b]"}
OUTPUTS = {"z": "float[rows, 2 * a + b]"}
def formula(N, x, y):
    return N.join(x, y, x)
"""
OUTER = """
INPUTS = {"x": "float[m]", "y": "float[n]"}
OUTPUTS = {"z": "float[m, n]"}
def formula(N, x, y):
    return x[:, None] * y[None, :]
"""
HALVES = """
INPUTS = {"x": "float[rows, 2 * cols]", "w": "float[cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
def formula(N, x, w):
    return x[:, : w.shape[0]] * x[:, w.shape[0] :] + w
"""
RANK_FIVE = """
INPUTS = {"x": "float[a, b, c, d, e]"}
OUTPUTS = {"y": "float[a, 1, c, 1, min(d, e) * b]"}
def formula(N, x):
    a, b, c, d, e = x.shape
    return (N.mean(x, axis=(1, 3, 4)) + N.input(np.zeros((a, 1, c, 1, min(d, e) * b))))
""".replace("def formula", "import numpy as np\ndef formula")
RNG = np.random.default_rng(4)


def op_of(folder: Path, text: str, name: str = "own.py") -> str:
    file = folder / name
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize("text", [STEPPED_SUM, CAT, CAT_OF_MANY, OUTER, HALVES, RANK_FIVE])
def test_an_output_of_a_size_of_its_own_passes_admission(tmp_path: Path, text: str) -> None:
    failed = [check for check in admit(find(op_of(tmp_path, text))) if not check.holds]
    assert failed == []


def test_a_window_is_judged_at_every_stride_and_padding(tmp_path: Path) -> None:
    op = op_of(tmp_path, STEPPED_SUM)
    x = RNG.standard_normal((3, 10)).astype("f4")
    for stride in (1, 2, 3):
        for pad in (0, 1):
            wide = np.pad(x, ((0, 0), (pad, pad)))
            places = range(0, wide.shape[1] - 2, stride)
            y = np.stack([(wide[:, i] + wide[:, i + 1]) + wide[:, i + 2] for i in places], axis=1)
            scalars: dict[str, float | str] = {"stride": stride, "pad": pad}
            assert judge(op, {"x": x}, {"y": y}, scalars=scalars).status == "kept"
            y[1, -1] += np.float32(0.01)
            verdict = judge(op, {"x": x}, {"y": y}, scalars=scalars)
            assert verdict.worst is not None
            assert verdict.worst.index == (1, len(places) - 1)


@pytest.mark.parametrize(
    ("shape", "scalars", "found"),
    [
        ((3, 7), {"stride": 2}, r"got\['y'\].shape=\(3, 7\): expected \(3, 4\)"),
        ((3, 8), {"pad": -1}, "pad=-1: expected an integer of at least 0"),
        ((3, 8), {"stride": 0}, "stride=0: expected an integer of at least 1"),
        ((3, 8), {"k": 20}, r"expected n \+ 2 \* pad >= k"),
    ],
)
def test_sizes_that_do_not_fit_are_an_error(
    tmp_path: Path, shape: tuple[int, int], scalars: dict[str, float | str], found: str
) -> None:
    x = np.zeros((3, 10), "f4")
    with pytest.raises(OracleError, match=found):
        judge(op_of(tmp_path, STEPPED_SUM), {"x": x}, {"y": np.zeros(shape, "f4")}, scalars=scalars)


def test_an_input_may_have_a_size_that_follows_from_others(tmp_path: Path) -> None:
    op, w = op_of(tmp_path, HALVES), np.ones(4, "f4")
    x = RNG.standard_normal((2, 8)).astype("f4")
    assert judge(op, {"x": x, "w": w}, {"y": x[:, :4] * x[:, 4:] + w}).status == "kept"
    with pytest.raises(OracleError, match=r"2 \* cols is 8 here; expected 6, because cols is 3"):
        judge(op, {"x": x, "w": w[:3]}, {"y": x[:, :3]})


def test_two_inputs_of_different_sizes_lie_side_by_side(tmp_path: Path) -> None:
    op = op_of(tmp_path, CAT)
    x, y = RNG.standard_normal((2, 3)).astype("f4"), RNG.standard_normal((2, 5)).astype("f4")
    assert judge(op, {"x": x, "y": y}, {"z": np.concatenate([x, y], axis=1)}).status == "kept"
    assert judge(op, {"x": x, "y": y}, {"z": np.concatenate([y, x], axis=1)}).status == "broken"


def test_a_dimension_of_which_another_follows_is_no_row_by_itself(tmp_path: Path) -> None:
    op = find(op_of(tmp_path, STEPPED_SUM))
    assert row_axes(op) == {"x": 0, "y": 0}
    doubled = find(
        op_of(tmp_path, STEPPED_SUM.replace("- k) // stride + 1]", "- k) // stride + 1 + 0 * rows]"), "doubled.py")
    )
    assert row_axes(doubled) == {}
    assert independent_dimensions(doubled) == {"y": ()}


@pytest.mark.parametrize("size", [1, 8, 9, 100, 128])
def test_of_any_two_places_each_is_tainted_without_the_other(size: int) -> None:
    sets = [set(one) for one in places_to_taint(size)]
    assert all(
        any(one in places and other not in places for places in sets)
        for one in range(size) for other in range(size) if one != other
    )  # fmt: skip
    assert len(sets) <= max(8, 2 * size.bit_length())


def test_small_sizes_obey_a_rule_that_they_are_multiples(tmp_path: Path) -> None:
    """No four sizes in a row held a multiple of 64: an op of whole chunks was refused."""
    text = CAT.replace("def formula", 'WHERE = ("a % 64 == 0", "b % 2 == 0")\ndef formula')
    sizes = find(op_of(tmp_path, text)).small_sizes(3)
    assert (sizes["a"], sizes["b"]) == (64, 4)


def test_a_dimension_has_one_spelling() -> None:
    assert read_dimension("(n+2*pad-k)//stride+1") == read_dimension(" ( n + 2 * pad - k ) // stride + 1")
    assert read_dimension("cols/group") == "cols / group"
    assert [is_derived(one) for one in ("n", "128", "2 * n", "cols / group")] == [False, False, True, True]


@pytest.mark.parametrize(
    ("was", "becomes", "found"),
    [
        ("// stride + 1]", "// step + 1]", "'step' of '(n + 2 * pad - k) // step + 1' is no dimension of an input"),
        ("// stride + 1]", "// stride +]", "not a role; write"),
    ],
)
def test_a_dimension_of_unknown_sizes_is_an_error(tmp_path: Path, was: str, becomes: str, found: str) -> None:
    with pytest.raises(OracleError) as error:
        find(op_of(tmp_path, STEPPED_SUM.replace(was, becomes)))
    assert found in str(error.value)


def test_of_an_op_that_takes_no_nan_no_dimension_is_known_to_be_independent(tmp_path: Path) -> None:
    """A reference of eigenvalues raises at NaN: kfuzz could make no inputs for it."""
    text = """
import numpy as np
from kfuzz.oracle.numbers.errors import OracleError
INPUTS = {"x": "float[rows, n]"}
OUTPUTS = {"y": "float[rows, n]"}
def formula(N, x):
    if np.isnan(x.x).any():
        raise OracleError("it does not converge")
    return x + x
"""
    assert independent_dimensions(find(op_of(tmp_path, text))) == {"y": ()}


def test_of_an_op_that_has_no_answer_at_small_sizes_no_dimension_is_known_to_be_independent(tmp_path: Path) -> None:
    """A reference that wants whole blocks of rows ends at some sizes: kfuzz could make no inputs for it."""
    text = """
from kfuzz.oracle.numbers.errors import {error}
INPUTS = {{"x": "float[rows, n]"}}
OUTPUTS = {{"y": "float[rows, n]"}}
def formula(N, x):
    raise {error}("no whole blocks")
"""
    assert independent_dimensions(find(op_of(tmp_path, text.format(error="NothingRightError")))) == {"y": ()}
    (other := tmp_path / "other").mkdir()
    with pytest.raises(OracleError):
        independent_dimensions(find(op_of(other, text.format(error="OracleError"))))


def test_a_rule_may_fix_a_size_and_a_file_may_make_the_inputs_of_a_case(tmp_path: Path) -> None:
    """Before: `no sizes of about 4 satisfy rows == 22`; random integers were no places that fit each other."""
    text = """
INPUTS = {"x": "float[rows, cols]", "at": "int[count + 1] 0..99"}
OUTPUTS = {"y": "float[rows, cols]"}
WHERE = ("rows == 22", "count == 4")
def make_inputs(given):
    return {"at": np.arange(5) + given["at"][0]}
def formula(N, x, at):
    return x + x
"""
    op = find(op_of(tmp_path, f"import numpy as np\n{text}"))
    assert op.fixed == {"rows": 22, "count": 4}
    sizes = op.small_sizes(4)
    assert (sizes["rows"], sizes["count"]) == (22, 4)
    assert np.diff(op.random_inputs(sizes, RNG)["at"]).tolist() == [1, 1, 1, 1]
