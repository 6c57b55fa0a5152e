"""Expressions of ops: what they read as, that the oracle admits them, and what judges by them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import Accuracy, OracleError, judge, want
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.spelling import is_expression, name_in
from kfuzz.oracle.proof.admission import admit

Numbers = NDArray[Any]
RNG = np.random.default_rng(5)


def normal(*shape: int) -> Numbers:
    return RNG.standard_normal(shape).astype("f4")


@pytest.mark.parametrize(
    ("text", "name", "inputs", "output"),
    [
        ("gelu_tanh(x + bias)", "gelu_tanh(x[rows, cols] + bias[cols])", "x[rows, cols] bias[cols]", "y[rows, cols]"),
        ("x + y", "x[rows, cols] + y[rows, cols]", "x[rows, cols] y[rows, cols]", "out[rows, cols]"),
        ("sgemm(a, b.T) + bias", "sgemm(a[m, k], b[n, k].T) + bias[n]", "a[m, k] b[n, k] bias[n]", "y[m, n]"),
        ("sgemm(sgemm(a, b), c)", "sgemm(sgemm(a[m, k], b[k, n]), c[n, n2])", "a[m, k] b[k, n] c[n, n2]", "y[m, n2]"),
        ("silu(gate) * up", "silu(gate[rows, cols]) * up[rows, cols]", "gate[rows, cols] up[rows, cols]",
         "y[rows, cols]"),
        ("x * scale[rows]", "x[rows, cols] * scale[rows]", "x[rows, cols] scale[rows]", "y[rows, cols]"),
        ("x / row_sum(x)", "x[rows, cols] / row_sum(x)", "x[rows, cols]", "y[rows, cols]"),
        ("rms_norm(x + r, w, eps=1e-3)", "rms_norm(x[rows, cols] + r[rows, cols], w[cols], eps=0.001)",
         "x[rows, cols] r[rows, cols] w[cols]", "y[rows, cols]"),
        ("axpy(x, 2 * y)", "axpy(x[n], 2 * y[n])", "x[n] y[n]", "out[n]"),
    ],
)  # fmt: skip
def test_an_expression_says_its_arrays(text: str, name: str, inputs: str, output: str) -> None:
    op = find(text)
    shown = [
        " ".join(f"{role}[{', '.join(one.dimensions)}]" for role, one in roles.items())
        for roles in (op.inputs, op.outputs)
    ]
    assert (op.name, *shown) == (name, inputs, output)
    assert find(op.name) is op
    assert name_in(op.name) == "expression"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("foo(x + y)", "foo: unknown op"),
        ("gelu(x ** 2)", "'x ** 2': there are + - * / and functions"),
        ("gelu(x + 'a')", "'a': a number is expected"),
        ("gelu(x[rows, cols] + x[cols, rows])", "x is [cols, rows] and [rows, cols]"),
        ("gelu(x, y + 1)", "gelu takes x"),
        ("argmax(x + y)", "argmax is no part of an expression: write a formula in a file"),
        ("2 + 3", "there is no array in it"),
        ("gelu(2)", "gelu takes x[rows, cols], and here it is a number"),
        ("gelu(x[n] + y[n])", "gelu takes x[rows, cols], and here it is [n]"),
        ("softmax(x + y, z=1)", "z: softmax has x"),
        ("sgemm(a[m, k], b[n, k] + 1)", "k of sgemm is n in b and k elsewhere"),
        ("x[a, b] + y[c, d]", "[c, d] does not go with [a, b]"),
        ("exp(x, y + 1)", "exp takes 1"),
        ("+".join(["x"] * 500), "too long"),
        ("gelu(*x)", "'*x': there are arrays, numbers, + - * / and ops"),
        ("(lambda: x) + y", "there are arrays, numbers, + - * / and ops"),
        ("x.__class__ + y", "only an array has .T or [dimensions]"),
    ],
)
def test_a_wrong_expression_is_one_line(text: str, said: str) -> None:
    with pytest.raises(OracleError) as error:
        find(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["softmax", "sgemm(a, b.T)", "einsum(ik,kj->ij)", "my-op", "./my_op.py", "a/b.py", "backward of gelu"]
)
def test_what_names_one_op_is_no_expression(text: str) -> None:
    assert not is_expression(text)


def gelu_tanh(x: Numbers) -> Numbers:
    f = np.float32
    return (f(0.5) * x * (1 + np.tanh(f(0.7978845608) * (x + f(0.044715) * x * x * x)))).astype("f4")


def layer_norm(x: Numbers) -> Numbers:
    off = x - x.mean(-1, keepdims=True, dtype="f4")
    return (off / np.sqrt((off * off).mean(-1, keepdims=True, dtype="f4") + np.float32(1e-5))).astype("f4")


@pytest.mark.parametrize(
    ("text", "shapes", "right", "wrong"),
    [
        ("gelu_tanh(x + bias)", {"x": (4, 4), "bias": (4,)}, lambda x, bias: gelu_tanh(x + bias),
         lambda x, bias: gelu_tanh(x + bias[:, None])),
        ("x * scale[rows]", {"x": (4, 4), "scale": (4,)}, lambda x, scale: x * scale[:, None],
         lambda x, scale: x * scale),
        ("x.T - 2 * y", {"x": (3, 4), "y": (4, 3)}, lambda x, y: x.T - 2 * y, lambda x, y: x.T - y),
        ("sgemm(a, b.T) + bias", {"a": (3, 4), "b": (5, 4), "bias": (5,)}, lambda a, b, bias: a @ b.T + bias,
         lambda a, b, bias: a @ b.T),
        ("layer_norm(x + r)", {"x": (3, 64), "r": (3, 64)}, lambda x, r: layer_norm(x + r),
         lambda x, r: layer_norm(x) + r),
        ("x / row_sum(x * x)", {"x": (3, 8)}, lambda x: x / (x * x).sum(-1, keepdims=True),
         lambda x: x / (x * x).sum(-1, keepdims=True) ** 2),
        ("x / row_sum(abs(x))", {"x": (3, 8)}, lambda x: x / abs(x).sum(-1, keepdims=True),
         lambda x: x / x.sum(-1, keepdims=True)),
    ],
)  # fmt: skip
def test_an_answer_is_judged_by_an_expression(
    text: str, shapes: dict[str, tuple[int, ...]], right: Callable[..., Numbers], wrong: Callable[..., Numbers]
) -> None:
    given = {name: normal(*shape) for name, shape in shapes.items()}
    (output,) = find(text).outputs
    assert judge(text, given, {output: right(**given)}).status == "kept"
    assert judge(text, given, {output: wrong(**given)}).status == "broken"


@pytest.mark.slow(5)
@pytest.mark.parametrize(
    "text",
    ["gelu_tanh(x + bias)", "softmax(sgemm(a, b) * 0.5)", "x / row_sum(abs(x))", "backward of gelu_tanh(x + bias)",
     *(pytest.param(one, marks=pytest.mark.soak) for one in (
         "sigmoid(x) * silu(y + bias)", "x * tanh(log1p(exp(x)))",  # element by element, as the first
         "layer_norm(x + r, w, b)", "layer_norm(silu(x))"))],
)  # fmt: skip
def test_the_oracle_admits_expressions(text: str) -> None:
    assert [check for check in admit(find(text)) if not check.holds] == []


@pytest.mark.parametrize("text", ["layer_norm(2 * x)", "silu(layer_norm(2 * x))"])
def test_each_op_of_an_expression_has_its_own_form(text: str) -> None:
    """Rules ask the system for the form as well: one that reads "layer_norm: moments, ..." took it for two pass."""
    op = find(text)
    x = 300 + normal(1, 64)
    forms = {kind: next(form for form in op.forms if f"{kind}" in form) for kind in ("two pass", "moments")}
    spread = {}
    for kind, form in forms.items():
        (one,) = enclose(op, {"x": x}, Accuracy(form=form), Special()).values()
        spread[kind] = float(np.max(one.hi - one.lo))
    assert spread["moments"] > 30 * spread["two pass"]


def test_the_form_of_an_op_is_that_of_its_gradient() -> None:
    """The way back is walked when the formula has ended."""
    given = {"x": 300 + normal(1, 64), "g_y": normal(1, 64)}
    spread = {}
    for kind in ("two pass", "moments"):
        name = "backward of silu(layer_norm(2 * x))"
        form = next(form for form in find(name).forms if kind in form)
        (one,) = enclose(find(name), given, Accuracy(form=form), Special()).values()
        spread[kind] = float(np.nanmax(one.hi - one.lo))
    assert spread["moments"] > 2 * spread["two pass"]


def test_numbers_that_an_expression_gives_are_no_scalars_of_it() -> None:
    assert dict(find("rms_norm(x + r, w, eps=1e-3)").scalars) == {}
    assert dict(find("rms_norm(x + r, w)").scalars) == {"eps": 1e-6}
    x = np.full((1, 4), 1e-2, "f4")
    given = {"x": x, "r": 0 * x, "w": np.ones(4, "f4")}
    exact = want("rms_norm(x + r, w, eps=1e-3)", given)["y"]
    assert float(exact[0, 0]) == pytest.approx(1e-2 / np.sqrt(1e-4 + 1e-3), rel=1e-6)
