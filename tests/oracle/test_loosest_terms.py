"""Every term of the loosest bound is needed: without it, one of these right answers lies outside.

Two kinds of proof. A form's own bound must lie in the loosest one, under claims and at numbers where one of its terms
decides. And an algorithm that no form names must give an answer inside, where the forms accuse it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle import Accuracy, Special
from kfuzz.oracle.accuracy.rounding import FAST_EXPF, ExpModel, FunctionModel
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.bounds.rearranged import loosest_ends
from kfuzz.oracle.numbers.elements import F32, F64
from kfuzz.oracle.op.op import Op, read_op

Any_ = Any
F = np.float32
Formula = Callable[..., Any_]
Arrays = Mapping[str, Any_]
N8 = 8
RNG = np.random.default_rng(1)
X, W = (RNG.standard_normal((N8, N8)).astype(F) for _ in "xw")
FIRST = np.eye(1, N8, dtype=F).repeat(N8, 0)
KEEP, FTZ = Accuracy(keep={"kept": "bf16"}), Accuracy(ftz=True)
LOG2E = F(1.4426950408889634)


@dataclass(frozen=True)
class Contained:
    """A formula of x and w, with a claim and numbers; `s` is a scalar that follows from sizes."""

    formula: Formula
    claim: Accuracy = field(default_factory=Accuracy)
    x: float | Any_ = field(default_factory=lambda: X)
    w: float | Any_ = field(default_factory=lambda: W)
    of_row: bool = False
    more: Mapping[str, object] = field(default_factory=dict)

    def op(self) -> Op:
        roles = {"INPUTS": dict.fromkeys("xw", "float[rows, cols]")}
        roles["OUTPUTS"] = {"y": "float[rows]" if self.of_row else "float[rows, cols]"}
        return read_op("contained", SimpleNamespace(**roles, **self.more, formula=self.formula))

    def inputs(self) -> dict[str, Any_]:
        return {
            name: np.full((N8, N8), one, F) if np.ndim(one) == 0 else one
            for name, one in zip("xw", (self.x, self.w), strict=True)
        }


def everywhere_0(N: Any_) -> Any_:
    return (0 * N.index("cols")[None] + 0 * N.index("rows")[:, None]).astype(np.int64)


CONTAINED = {
    "a sum of two": Contained(lambda N, x, w: x + w),
    "a product": Contained(lambda N, x, w: x * w),
    "a quotient": Contained(lambda N, x, w: x / w),
    "a sum": Contained(lambda N, x, w: N.sum(x), of_row=True),
    "a mean": Contained(lambda N, x, w: N.mean(x), of_row=True),
    "a dot product": Contained(lambda N, x, w: N.dot(x, w), of_row=True),
    "a product of matrices": Contained(lambda N, x, w: N.matmul(x, w.T)),
    "a running sum": Contained(lambda N, x, w: N.running_sum(x)),
    "a product with a number": Contained(lambda N, x, w: x * 0.1),
    "an exp": Contained(lambda N, x, w: N.exp(x)),
    "a log": Contained(lambda N, x, w: N.log(abs(x))),
    "a root": Contained(lambda N, x, w: N.sqrt(abs(x))),
    "one over a root": Contained(lambda N, x, w: N.rsqrt(abs(x))),
    "a tanh": Contained(lambda N, x, w: N.tanh(x)),
    "an erf": Contained(lambda N, x, w: N.erf(x)),
    "a sigmoid": Contained(lambda N, x, w: N.sigmoid(x)),
    "a power": Contained(lambda N, x, w: N.pow(abs(x), 2.5)),
    "an exp of a product": Contained(lambda N, x, w: N.exp(x * w)),
    "a log of a sum": Contained(lambda N, x, w: N.log(N.sum(abs(x))), of_row=True),
    "a quotient by a product": Contained(lambda N, x, w: 1.0 / (x * w)),
    "a product with a log": Contained(lambda N, x, w: N.log(abs(x)) * N.log(abs(w))),
    "a product of matrices of logs": Contained(lambda N, x, w: N.matmul(N.log(abs(x)), N.log(abs(w)).T)),
    "a sum of exps": Contained(lambda N, x, w: N.sum(N.exp(x - N.shift(x))), of_row=True),
    "a variance": Contained(lambda N, x, w: N.mean_var(x)[1], of_row=True),
    "a scalar of sizes": Contained(lambda N, x, w, s: x * s, more={"SCALARS": {"s": "1 / sqrt(cols)"}}),
    "flushed inputs": Contained(lambda N, x, w: x + w, FTZ, 1e-38, 1.1e-38),
    "a flushed difference": Contained(lambda N, x, w: x - w, FTZ, 1.5e-38, 1.4e-38),
    "a product of a kept value": Contained(lambda N, x, w: N.keep(x, "kept") * 0.1, KEEP),
    "a product of a kept denormal": Contained(lambda N, x, w: N.keep(x, "kept") * 3.0, KEEP, 3e-41),
    "a product of kept values": Contained(lambda N, x, w: N.keep(x, "kept") * N.keep(w, "kept"), KEEP),
    "a log of a kept value times a difference": Contained(
        lambda N, x, w: N.log(N.keep(x, "kept")) * (w * 0.1 - w * 0.1), KEEP, 1.0
    ),
    "a difference times a log of a kept value": Contained(
        lambda N, x, w: (w * 0.1 - w * 0.1) * N.log(N.keep(x, "kept")), KEEP, 1.0
    ),
    "matrices of kept values": Contained(lambda N, x, w: N.matmul(N.keep(x, "kept"), N.keep(w, "kept").T), KEEP),
    "matrices of logs and differences": Contained(
        lambda N, x, w: N.matmul(N.log(N.keep(x, "kept")), (w * 0.1 - w * 0.1).T), KEEP, 1.0
    ),
    "matrices of differences and logs": Contained(
        lambda N, x, w: N.matmul(w * 0.1 - w * 0.1, N.log(N.keep(x, "kept")).T), KEEP, 1.0
    ),
    "a quotient by a kept value": Contained(lambda N, x, w: x / N.keep(w, "kept"), KEEP),
    "a log with an absolute error": Contained(
        lambda N, x, w: N.log(abs(x)), Accuracy(functions={"log": FunctionModel(2.0, 2.0**-22)}), 1 + X / F(1000)
    ),
    "a sum of denormal sines": Contained(lambda N, x, w: N.sum(N.sin(x)), x=3e-45, of_row=True),
    "an exp near 0": Contained(lambda N, x, w: N.exp(x), x=0.01),
    "a fast exp": Contained(lambda N, x, w: N.exp(x), Accuracy(exp=FAST_EXPF), -20.0),
    "a denormal exp": Contained(lambda N, x, w: N.exp(x), x=-100.0),
    "an exp of a kept value": Contained(lambda N, x, w: N.exp(N.keep(x, "kept")), KEEP),
    "a sum of inexact exps": Contained(
        lambda N, x, w: N.sum(N.exp(x - N.shift(x))), Accuracy(exp=ExpModel(100.0, 0.0)), of_row=True
    ),
    "a power of a kept value": Contained(lambda N, x, w: N.pow(abs(N.keep(x, "kept")), 2.5), KEEP),
    "a whole power": Contained(lambda N, x, w: N.pow(abs(x), w), x=1.001, w=100.0),
    "a denormal power": Contained(lambda N, x, w: N.pow(x, w), x=1e-20, w=2.1),
    "a sigmoid by an inexact exp": Contained(lambda N, x, w: N.sigmoid(x), Accuracy(exp=ExpModel(100.0, 0.0)), 0.5),
    "a sigmoid by a fast exp": Contained(lambda N, x, w: N.sigmoid(x), Accuracy(exp=ExpModel(1.0, 500.0)), -1.5),
    "a sigmoid by a fast division": Contained(
        lambda N, x, w: N.maximum(N.sigmoid(x), N.tanh(w)),
        Accuracy(exp=ExpModel(1.0, 0.0), functions={"tanh": FunctionModel(1.0)}, divide="fast reciprocal"), 10.0, 0.0,
    ),
    "a sigmoid of a kept value": Contained(lambda N, x, w: N.sigmoid(N.keep(x, "kept")), KEEP),
    "matrices in tf32": Contained(lambda N, x, w: N.matmul(x, w.T), Accuracy(operand="tf32")),
    "a matrix of exps": Contained(lambda N, x, w: N.matmul(N.exp(x - N.shift(x)), w.T)),
    "matrices and a kept start": Contained(
        lambda N, x, w: N.matmul(x, w.T, "k", (N.keep(x, "kept"),)), KEEP, 1e-8, 1e-8
    ),
    "matrices that start at an exp": Contained(lambda N, x, w: N.matmul(x * 0.0, w.T, "k", (N.exp(w * 5.0),))),
    "a variance by running means": Contained(
        lambda N, x, w: N.mean_var(x)[1], Accuracy(form="welford"), FIRST, of_row=True,
        more={"FORMS": ("two pass", "welford")},
    ),
    "a running sum of exps": Contained(lambda N, x, w: N.running_sum(N.exp(x * 5.0))),
    "scattered exps": Contained(lambda N, x, w: N.scatter(x * 0.0, everywhere_0(N), N.exp(w * 5.0))),
    "scattered numbers": Contained(lambda N, x, w: N.scatter(x * 0.5, everywhere_0(N), w)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTAINED)
def test_the_bound_of_a_form_lies_in_the_loosest_one(name: str) -> None:
    one = CONTAINED[name]
    op, given = one.op(), one.inputs()
    tight = enclose(op, given, one.claim, Special(), {}, {"y": F64})["y"]
    found = loosest_ends(op, given, one.claim, {}, {"y": F64})
    assert found is not None
    lo, hi = found["y"].lo, found["y"].hi
    assert np.all((lo <= tight.lo) & (hi >= tight.hi) | (tight.lo == tight.hi))
    assert np.any(tight.lo < tight.hi)


@dataclass(frozen=True)
class Another:
    """A formula of x, w, c and d, and another algorithm for it in float32.

    `in_forms`: the rules of forms allow it, too, so that the loosest bound alone must hold it.
    """

    formula: Formula
    algorithm: Formula
    x: float | Any_
    w: float = 0.0
    c: float = 0.0
    d: float = 0.0
    claim: Accuracy = field(default_factory=Accuracy)
    is_product: bool = False
    in_forms: bool = False

    def op(self) -> Op:
        roles = {"INPUTS": dict.fromkeys("xwcd", "float[rows, cols]")}
        roles["OUTPUTS"] = {"y": "float[rows, rows]" if self.is_product else "float[rows, cols]"}
        return read_op("another", SimpleNamespace(**roles, formula=self.formula))

    def inputs(self) -> dict[str, Any_]:
        numbers = {"x": self.x, "w": self.w, "c": self.c, "d": self.d}
        shape = (1, 4) if np.ndim(self.x) == 0 else np.shape(self.x)
        return {name: np.full(shape, one, F) if np.ndim(one) == 0 else one for name, one in numbers.items()}


def times(x: Any_, by: Any_, count: int) -> Any_:
    """A chain of products from left to right."""
    for _ in range(count):
        x = x * by
    return x


def doubled(x: Any_, count: int) -> Any_:
    for _ in range(count):
        x = x + x
    return x


def in_single(function: Formula, x: Any_) -> Any_:
    """A function that is rounded once to float32."""
    return function(x.astype(np.float64)).astype(F)


TINY = {"x": 1e10, "w": 1e-30, "c": 1e-20}
"""x w c is denormal, and w c is lost."""
CHAIN = {"x": 1e10, "w": 1.16, "c": 6.5e-23, "d": 6.5e-23}
"""c d is denormal, and loses half of one denormal at each product with w."""
MANY = {"x": np.full((8, 8), 1e10, F), "w": 1e-25, "c": 6.9e-21}
"""w c is half a denormal and lost in each of many terms."""
EXACT_POWER = Accuracy(functions={"pow": FunctionModel(1.0)})
ANOTHER = {
    "a factor multiplied in": Another(
        lambda N, x, w, c, d: (x * w + d) * c, lambda x, w, c, d: x * (w * c) + d * c, **TINY
    ),
    "a factor on the left multiplied in": Another(
        lambda N, x, w, c, d: c * (d + x * w), lambda x, w, c, d: x * (w * c) + d * c, **TINY
    ),
    "a factor of an exp": Another(
        lambda N, x, w, c, d: (N.exp(x) * w + d) * c, lambda x, w, c, d: in_single(np.exp, x) * (w * c),
        **{**TINY, "x": 23.0},
    ),
    "a factor of a larger of two": Another(
        lambda N, x, w, c, d: (N.maximum(x, d) * w + d) * c, lambda x, w, c, d: x * (w * c), **TINY
    ),
    "a factor of a maximum": Another(
        lambda N, x, w, c, d: (N.max(x) * w + d) * c, lambda x, w, c, d: x * (w * c), **TINY
    ),
    "a factor of a matrix": Another(
        lambda N, x, w, c, d: N.matmul(x, w.T) * c[..., :1], lambda x, w, c, d: (4 * x * (w * c))[:, :1],
        is_product=True, in_forms=True, **TINY,
    ),
    "a factor of the other matrix": Another(
        lambda N, x, w, c, d: N.matmul(w, x.T) * c[..., :1], lambda x, w, c, d: (4 * x * (w * c))[:, :1],
        is_product=True, in_forms=True, **TINY,
    ),
    "a factor of a start": Another(
        lambda N, x, w, c, d: N.matmul(d, d.T, "k", ((x * w)[..., :1],)) * c[..., :1],
        lambda x, w, c, d: (x * (w * c))[:, :1], is_product=True, **TINY,
    ),
    "a factor taken out of a matrix": Another(
        lambda N, x, w, c, d: N.matmul(x, (w * c).T), lambda x, w, c, d: ((x * w) * c * 4)[:, :1],
        1e-30, 1e-20, 1e20, is_product=True, in_forms=True,
    ),
    "a factor of a sum of sums": Another(
        lambda N, x, w, c, d: N.sum(N.sum(x * w), axis=-2) * c, lambda x, w, c, d: 0 * x, **MANY
    ),
    "a factor of a value that is doubled": Another(
        lambda N, x, w, c, d: doubled(N.sum(x * w), 6) * c, lambda x, w, c, d: 0 * x, **MANY
    ),
    "a chain of products that begins at its end": Another(
        lambda N, x, w, c, d: (x * w * w * w * w * w * w * w * w * c + c * 0.0) * d,
        lambda x, w, c, d: x * times(c * d, w, 8), **CHAIN,
    ),
    "a chain of products in a matrix": Another(
        lambda N, x, w, c, d: N.matmul((x * w * w * w * w * w * w * w * w + c * 0.0) * c, d.T),
        lambda x, w, c, d: (4 * x * times(c * d, w, 8))[:, :1], is_product=True, **CHAIN,
    ),
    "an exp2 of scaled numbers, beside a large one": Another(
        lambda N, x, w, c, d: N.exp(x - N.shift(x)),
        lambda x, w, c, d: in_single(np.exp2, x * LOG2E - x.max(-1, keepdims=True) * LOG2E),
        np.stack([np.zeros(300), np.linspace(60, 80, 300)], -1).astype(F),
    ),
    "a power by exp and log": Another(
        lambda N, x, w, c, d: N.pow(x, 20.0), lambda x, w, c, d: in_single(np.exp, F(20) * in_single(np.log, x)),
        np.linspace(25, 35, 300, dtype=F)[None], claim=EXACT_POWER,
    ),
    "a power by products": Another(
        lambda N, x, w, c, d: N.pow(x, 1000.5), lambda x, w, c, d: times(x, x, 999) * in_single(np.sqrt, x),
        (1 + np.linspace(1e-5, 1e-4, 500, dtype=F))[None], claim=EXACT_POWER,
    ),
    "a sigmoid by a tanh": Another(
        lambda N, x, w, c, d: N.sigmoid(x),
        lambda x, w, c, d: F(0.5) + F(0.5) * (in_single(np.tanh, x * F(0.5)) * F(1 - 5 * 2.0**-24)),
        -8.0, claim=Accuracy(exp=ExpModel(1.0, 0.0), divide="ieee"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANOTHER)
def test_another_algorithms_answer_lies_in_the_loosest_bound(name: str) -> None:
    one = ANOTHER[name]
    op, given = one.op(), one.inputs()
    with np.errstate(all="ignore"):
        got = np.asarray(one.algorithm(**given), dtype=F)
    tight = enclose(op, given, one.claim, Special(), {}, {"y": F32})["y"]
    found = loosest_ends(op, given, one.claim, {}, {"y": F32})
    assert found is not None
    lo, hi = found["y"].lo, found["y"].hi
    assert got.dtype == F
    assert got.shape == tight.lo.shape
    assert np.any((got < tight.lo) | (got > tight.hi)) != one.in_forms
    if not one.in_forms:
        lo, hi = np.minimum(lo, tight.lo), np.maximum(hi, tight.hi)
    assert np.all((got >= lo) & (got <= hi))
