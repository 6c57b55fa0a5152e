"""Ops over other arrays than their own: transposed, with more dimensions, without their optional inputs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import Accuracy, OracleError, Special, judge, want
from kfuzz.oracle.accuracy.rounding import U
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.proof.simulations import check

Numbers = NDArray[Any]
RNG = np.random.default_rng(7)


def softmax(x: Numbers, axis: int) -> Numbers:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def normal(*shape: int) -> Numbers:
    return RNG.standard_normal(shape).astype("f4")


@pytest.mark.parametrize(
    ("text", "name", "inputs", "outputs"),
    [
        ("softmax(x)", "softmax", "x[rows, cols]", "y[rows, cols]"),
        ("softmax(x.T)", "softmax(x[cols, rows])", "x[cols, rows]", "y[cols, rows]"),
        ("softmax( x[b,cols, s] )", "softmax(x[b, cols, s])", "x[b, cols, s]", "y[b, cols, s]"),
        ("row_sum(x[b, cols, s])", "row_sum(x[b, cols, s])", "x[b, cols, s]", "y[b, s]"),
        ("row_sum(x[b, cols]) -> y[b, 1]", "row_sum(x[b, cols]) -> y[b, 1]", "x[b, cols]", "y[b, 1]"),
        ("sgemm(a, b.T)", "sgemm(a, b[n, k])", "a[m, k] b[n, k]", "c[m, n]"),
        ("sgemm(a[batch, m, k], b)", "sgemm(a[batch, m, k], b)", "a[batch, m, k] b[k, n]", "c[batch, m, n]"),
        ("gelu(x[n, rows, cols])", "gelu(x[n, rows, cols])", "x[n, rows, cols]", "y[n, rows, cols]"),
        ("bmm", "gemm(a, b)", "a[batch, m, k] b[batch, k, n]", "c[batch, m, n]"),
        ("matmul", "gemm(a[m, k], b)", "a[m, k] b[k, n]", "c[m, n]"),
        ("linear", "gemm(a[m, k], b[n, k], bias)", "a[m, k] b[n, k] bias[n]", "c[m, n]"),
        ("gemv(a, x)", "gemv(a, x)", "a[m, k] x[k]", "y[m]"),
        ("layer_norm(x, w)", "layer_norm(x, w)", "x[rows, cols] w[cols]", "y[rows, cols]"),
        (
            "attention(q[b, rows, h, d], k[b, keys, h, d], v[b, keys, h, dv]) -> o[b, rows, h, dv]", None,
            "q[b, rows, h, d] k[b, keys, h, d] v[b, keys, h, dv]", "o[b, rows, h, dv]",
        ),
    ],
)  # fmt: skip
def test_a_spelling_gives_the_arrays_of_a_kernel(text: str, name: str | None, inputs: str, outputs: str) -> None:
    op = find(text)
    for roles, said in ((op.inputs, inputs), (op.outputs, outputs)):
        assert " ".join(f"{role}[{', '.join(one.dimensions)}]" for role, one in roles.items()) == said
    assert op.name == (name or text)
    assert find(op.name) is op  # one op, however it is spelled


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("softmax(z)", "'z': softmax has x -> y"),
        ("softmax(x[a, b, c])", "a, b, c may be rows or cols; name one"),
        ("softmax(x[a, a, cols])", "a dimension is a name, each another one, or 1"),
        ("softmax(x", "write it as softmax(x)"),
        ("sgemm(a)", "b is missing; only none may be"),
        ("gemm(a)", "b is missing; only c0, bias may be"),
        ("sgemm(a[m, n], b)", "a has m, k, and n is a dimension of another array"),
        ("sgemm(a[s, t, k], b) -> c[t, s, n]", "m is (t * s) in c and (s * t) elsewhere"),
        ("gemv(a, x.T)", "x has one dimension, so it has no transpose"),
        ("cross_entropy(x[rows, c, d])", "labels is missing"),
        ("group_quantize(x.T)", "group_quantize has groups, so its arrays are its own"),
        ("nothing(a)", "op='nothing(a)': unknown op"),
    ],
)
def test_a_spelling_that_does_not_fit_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(OracleError) as error:
        find(text)
    assert said in str(error.value)


def attention(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    s = np.einsum("brhd,bkhd->bhrk", q, k) / np.sqrt(q.shape[-1])
    return np.einsum("bhrk,bkhd->brhd", softmax(s, -1), v)


def swap(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    return attention(k, q, v)


def turn(x: Numbers) -> Numbers:
    return x.transpose(2, 0, 1)


def argmax_of(axis: int) -> Callable[[Numbers], Numbers]:
    return lambda x: x.argmax(axis).astype("i4")


HEADS = "attention(q[b, rows, h, d], k[b, keys, h, d], v[b, keys, h, dv]) -> o[b, rows, h, dv]"


@pytest.mark.parametrize(
    ("text", "shapes", "right", "wrong"),
    [
        ("softmax(x[b, cols, s])", {"x": (3, 5, 4)}, lambda x: softmax(x, 1), lambda x: softmax(x, 2)),
        ("softmax(x.T)", {"x": (5, 4)}, lambda x: softmax(x, 0), lambda x: softmax(x, 1)),
        ("row_sum(x[b, cols, s])", {"x": (4, 4, 4)}, lambda x: x.sum(1), lambda x: x.sum(2)),
        ("sgemm(a, b.T)", {"a": (4, 4), "b": (4, 4)}, lambda a, b: a @ b.T, lambda a, b: a @ b),
        ("sgemm(a[s, m, k], b)", {"a": (2, 3, 4), "b": (4, 5)}, np.matmul, lambda a, b: np.matmul(a, b)[::-1]),
        ("bmm", {"a": (2, 3, 4), "b": (2, 4, 5)}, np.matmul, lambda a, b: np.matmul(a, b[::-1])),
        (HEADS, {"q": (2, 3, 4, 5), "k": (2, 3, 4, 5), "v": (2, 3, 4, 5)}, attention, swap),
        ("argmax(x[b, cols, s])", {"x": (4, 4, 4)}, argmax_of(1), argmax_of(2)),
        ("transpose(x[b, rows, cols])", {"x": (2, 3, 4)}, turn, lambda x: turn(x)[::-1]),
    ],
)  # fmt: skip
def test_an_answer_is_judged_in_the_arrays_of_the_kernel(
    text: str, shapes: dict[str, tuple[int, ...]], right: Callable[..., Numbers], wrong: Callable[..., Numbers]
) -> None:
    inputs = {role: normal(*shape) for role, shape in shapes.items()}
    (output,) = find(text).outputs
    assert judge(text, inputs, {output: right(*inputs.values())}).status == "kept"
    got = wrong(*inputs.values())
    verdict = judge(text, inputs, {output: got})
    assert verdict.status == "broken"
    assert verdict.worst
    assert verdict.worst.got == got[verdict.worst.index]  # the place is one of the kernel's array
    assert verdict.picture is None or verdict.picture.shape == got.shape


def test_one_wrong_element_has_its_own_place() -> None:
    x = normal(3, 5, 4)
    y = softmax(x, 1)
    y[2, 3, 1] *= 1.01
    verdict = judge("softmax(x[b, cols, s])", {"x": x}, {"y": y})
    assert verdict.worst
    assert verdict.worst.index == (2, 3, 1)
    assert verdict.worst.want == pytest.approx(softmax(x.astype("f8"), 1)[2, 3, 1])
    exact = want("softmax(x[b, cols, s])", {"x": x})["y"]
    assert float(exact[2, 3, 1]) == pytest.approx(verdict.worst.want)


def test_a_row_of_minus_infinities_is_found_in_any_layout() -> None:
    x = normal(2, 3, 2)
    x[1, :, 0] = -np.inf
    with np.errstate(invalid="ignore"):
        y = softmax(x, 1)
    assert judge("softmax(x[b, cols, s])", {"x": x}, {"y": y}, special=Special(all_neg_inf="nan")).status == "kept"
    zeros = np.nan_to_num(y)
    assert judge("softmax(x[b, cols, s])", {"x": x}, {"y": zeros}, special=Special(all_neg_inf="zero")).status == "kept"
    broken = judge("softmax(x[b, cols, s])", {"x": x}, {"y": zeros}, special=Special(all_neg_inf="nan"))
    assert broken.worst
    assert broken.worst.index[::2] == (1, 0)


def width(text: str, inputs: dict[str, Numbers]) -> Numbers:
    (found,) = enclose(find(text), inputs, Accuracy(adds=3), Special()).values()
    return np.asarray((found.hi - found.lo) / np.abs(found.want))


def test_an_input_that_is_left_out_costs_no_rounding() -> None:
    x, one, zero = normal(3, 8), np.ones(8, "f4"), np.zeros(8, "f4")
    more = width("rms_norm", {"x": x, "w": one}) - width("rms_norm(x)", {"x": x})
    assert more == pytest.approx(2 * U, rel=0.01)  # one product, which errs by u to either side
    narrow, wide = width("layer_norm(x, w)", {"x": x, "w": one}), width("layer_norm", {"x": x, "w": one, "b": zero})
    assert (narrow <= wide).all()
    assert narrow.sum() < wide.sum()
    a, b = normal(1, 3, 4), normal(1, 4, 5)
    given = {"a": a, "b": b}
    others = {"c0": np.zeros((1, 3, 5), "f4"), "bias": np.zeros(5, "f4")}
    narrow, wide = width("gemm(a, b)", given), width("gemm", given | others)
    assert (narrow < wide).all()


@pytest.mark.parametrize(
    "text",
    [
        "gemv(a, x)",
        pytest.param("rms_norm(x)", marks=pytest.mark.slow),
        pytest.param("layer_norm(x)", marks=pytest.mark.slow),
        pytest.param("layer_norm(x, w)", marks=pytest.mark.soak),
        pytest.param("gemm(a, b)", marks=pytest.mark.soak),
    ],
)
def test_simulated_kernels_without_optional_inputs_are_inside(text: str) -> None:
    with np.errstate(all="ignore"):
        tally = check(find(text), F32, quick=True)
    assert tally.rows
    assert tally.outside == tally.clashes == 0
