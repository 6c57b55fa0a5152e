"""Does a formula's verdict detect planted bugs? Wrong formulas, simulated as kernels, beside the tolerances in use.

A bug is active on a row where its answer differs in bits from the right kernel's; only active rows count. It is plain
if some element is beyond the answers of a few right kernels: an answer among theirs cannot be called wrong.
"""

# ruff: noqa: ANN401  a formula works in any number system: its words have no single type

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.measured import function_models
from kfuzz.oracle.accuracy.rounding import Accuracy, ExpModel
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16, F16, F32, Element, store, values
from kfuzz.oracle.numbers.enclosure import Enclosure, Mask
from kfuzz.oracle.op.names import names_at
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.role import shape_output
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.proof.hard_inputs import Inputs, inputs_for
from kfuzz.oracle.proof.simulations import CLAIMED, depths
from kfuzz.oracle.systems.simulated import KernelManner, Noise, Simulated, SumOrder

WrongFormula = Callable[..., Any]
Undeclared = Mapping[str, Any]
"""Deviations of a kernel of the right formula that its claim does not mention."""
IN_HALVES: Undeclared = {"accumulate": F16.name}
CLOSE = {F32: (1.3e-6, 1e-5), F16: (1e-3, 1e-5), BF16: (1.6e-2, 1e-5)}
"""torch.testing.assert_close's own tolerances, relative and absolute."""

CRITERIA_OF_FORMULAS = ("assert_close", "1e-3", "1e-2", "any order", "declared", "and joint")


def _norm(N: Any, x: Any, w: Any, b: Any, moments: Any, eps: Any) -> Any:
    mean, var = moments
    return (x - mean) * N.rsqrt(var + eps) * w + b


def _exp_sum(N: Any, x: Any) -> Any:
    return N.sum(N.exp(x - N.shift(x)))


def _softmax(N: Any, x: Any, s: Any) -> Any:
    return N.exp(x - N.shift(x)) / s


def _in_base_two(N: Any, x: Any) -> Any:
    e = N.exp((x - N.shift(x)) * 0.6931471805599453)
    return e / N.sum(e)


def _loss(N: Any, x: Any, labels: Any, s: Any) -> Any:
    return N.log(s) - N.take(x - N.shift(x), labels[:, None])


def _by_tanh(N: Any, x: Any, root: float, cubic: float) -> Any:
    return 0.5 * x * (1.0 + N.tanh(root * (x + cubic * x * x * x)))


def _outside_the_root(N: Any, x: Any, w: Any, b: Any, eps: Any) -> Any:
    mean, var = N.mean_var(x)
    return (x - mean) / (N.sqrt(var) + eps) * w + b


def _sample_variance(N: Any, x: Any, w: Any, b: Any, eps: Any) -> Any:
    return _norm(N, x, w, b, N.mean_var(x, correction=1), eps)


def _keep_mean(N: Any, x: Any, w: Any, b: Any, eps: Any) -> Any:
    return x * N.rsqrt(N.mean_var(x)[1] + eps) * w + b


def _drop_last(N: Any, x: Any, w: Any, b: Any, eps: Any) -> Any:
    return _norm(N, x, w, b, N.mean_var(x[:, :-1]), eps)


def _scores(N: Any, q: Any, k: Any, scale: Any) -> Any:
    return N.matmul(q, k.T) * scale


def _attend(N: Any, s: Any, v: Any) -> Any:
    e = N.exp(s - N.shift(s))
    return N.average(e, v)


def _visible_keys(N: Any, by: int) -> Any:
    return N.index("keys") <= N.index("rows", axis=-2) + (N.size("keys") - N.size("rows") + by)


PLANTED: dict[str, dict[str, WrongFormula | Undeclared]] = {
    "softmax": {
        "last element not counted": lambda N, x: _softmax(N, x, N.sum(N.exp((x - N.shift(x))[:, :-1]))),
        "first element counted twice": lambda N, x: _softmax(N, x, _exp_sum(N, x) + N.exp((x - N.shift(x))[:, :1])),
        "off by 1e-5": lambda N, x: _softmax(N, x, _exp_sum(N, x) * (1 + 1e-5)),
        "base 2": _in_base_two,
        "sums in f16": IN_HALVES,
    },
    "layer_norm": {
        "eps outside the root": _outside_the_root, "n - 1 for n": _sample_variance, "mean not subtracted": _keep_mean,
        "last element not counted": _drop_last,
        "eps ten times too large": lambda N, x, w, b, eps: _norm(N, x, w, b, N.mean_var(x), eps * 10.0),
        "gain left out": lambda N, x, w, b, eps: _norm(N, x, N.number(1.0), b, N.mean_var(x), eps),
        "bias left out": lambda N, x, w, b, eps: _norm(N, x, w, N.number(0.0), N.mean_var(x), eps),
        "sums in f16": IN_HALVES,
    },
    "rms_norm": {
        "eps outside the root": lambda N, x, w, eps: x / (N.sqrt(N.dot(x, x) / N.size("cols")) + eps) * w,
        "eps left out": lambda N, x, w, eps: x * N.rsqrt(N.dot(x, x) / N.size("cols")) * w,
        "n - 1 for n": lambda N, x, w, eps: x * N.rsqrt(N.dot(x, x) / float(max(N.size("cols") - 1, 1)) + eps) * w,
        "last element not counted": lambda N, x, w, eps: (
            x * N.rsqrt(N.dot(x[:, :-1], x[:, :-1]) / N.size("cols") + eps) * w
        ),
        "gain left out": lambda N, x, w, eps: x * N.rsqrt(N.dot(x, x) / N.size("cols") + eps),
        "eps ten times too large": lambda N, x, w, eps: x * N.rsqrt(N.dot(x, x) / N.size("cols") + eps * 10.0) * w,
        "sums in f16": IN_HALVES,
    },
    "log_softmax": {
        "base 2": lambda N, x: (x - N.shift(x)) - N.log(N.sum(N.exp(x - N.shift(x)))) * 1.4426950408889634,
        "last element not counted": lambda N, x: (x - N.shift(x)) - N.log(N.sum(N.exp((x - N.shift(x))[:, :-1]))),
        "off by 1e-5": lambda N, x: (x - N.shift(x)) - N.log(N.sum(N.exp(x - N.shift(x)))) * (1 + 1e-5),
        "sums in f16": IN_HALVES,
    },
    "cross_entropy": {
        "last element not counted": lambda N, x, labels: _loss(N, x, labels, N.sum(N.exp((x - N.shift(x))[:, :-1]))),
        "the next label": lambda N, x, labels: _loss(N, x, (labels + 1) % N.size("cols"), _exp_sum(N, x)),
        "base 2": lambda N, x, labels: _loss(N, x, labels, N.exp(N.log(_exp_sum(N, x)) * 1.4426950408889634)),
        "off by 1e-5": lambda N, x, labels: _loss(N, x, labels, _exp_sum(N, x) * (1 + 1e-5)),
        "sums in f16": IN_HALVES,
    },
    "softmax_backward": {
        "sum of g": lambda N, y, g: y * (g - N.sum(g)), "y left out": lambda N, y, g: g - N.dot(y, g),
        "last element not counted": lambda N, y, g: y * (g - N.dot(y[:, :-1], g[:, :-1])),
        "off by 1e-5": lambda N, y, g: y * (g - N.dot(y, g) * (1 + 1e-5)), "sums in f16": IN_HALVES,
    },
    "gelu": {
        "the tanh form": lambda N, x: _by_tanh(N, x, 0.7978845608028654, 0.044715),
        "1.702 for sqrt(8 / pi)": lambda N, x: x * N.sigmoid(x * 1.702),
        "a root of 0.7071": lambda N, x: 0.5 * x * (1.0 + N.erf(x * 0.7071)),
        "the half left out": lambda N, x: x * (1.0 + N.erf(x * 0.7071067811865476)),
    },
    "gelu_tanh": {
        "the erf form": lambda N, x: 0.5 * x * (1.0 + N.erf(x * 0.7071067811865476)),
        "0.0447 for 0.044715": lambda N, x: _by_tanh(N, x, 0.7978845608028654, 0.0447),
        "a root of 0.79788": lambda N, x: _by_tanh(N, x, 0.79788, 0.044715),
        "the cube left out": lambda N, x: _by_tanh(N, x, 0.7978845608028654, 0.0),
    },
    "silu": {"relu's side": lambda N, x: N.maximum(x, 0.0), "1.01 x": lambda N, x: x * N.sigmoid(x * 1.01),
             "x left out": lambda N, x: N.sigmoid(x)},
    "prefix_sum": {"exclusive": lambda N, x: N.running_sum(x, exclusive=True), "sums in f16": IN_HALVES},
    "sgemm": {
        "last product dropped": lambda N, a, b: N.matmul(a[:, :-1], b[:-1]),
        "off by 1e-5": lambda N, a, b: N.matmul(a, b) * (1 + 1e-5), "sums in f16": IN_HALVES,
    },
    "gemm": {
        "last product dropped": lambda N, a, b, c0, bias, alpha, beta: N.matmul(a[..., :-1], b[:, :-1]) + bias,
        "bias left out": lambda N, a, b, c0, bias, alpha, beta: N.matmul(a, b) + 0.0,
        "off by 1e-5": lambda N, a, b, c0, bias, alpha, beta: N.matmul(a, b) * (1 + 1e-5) + bias,
        "c0 added": lambda N, a, b, c0, bias, alpha, beta: N.matmul(a, b) + c0 + bias,
        "sums in f16": IN_HALVES,
    },
    "attention": {
        "scale off by 1e-3": lambda N, q, k, v, scale: _attend(N, _scores(N, q, k, scale * 1.001), v),
        "scale twice": lambda N, q, k, v, scale: _attend(N, _scores(N, q, k, scale) * scale, v),
        "scale left out": lambda N, q, k, v, scale: _attend(N, _scores(N, q, k, N.number(1.0)), v),
        "last key not seen": lambda N, q, k, v, scale: _attend(N, _scores(N, q, k[:, :-1], scale), v[:, :-1]),
        "e kept in f16": {"keep": {"e": F16.name}}, "sums in f16": IN_HALVES,
    },
    "causal_attention": {
        "mask off by one": lambda N, q, k, v, scale: _attend(
            N, N.where(_visible_keys(N, -1) | (N.index("keys") == 0), _scores(N, q, k, scale), -np.inf), v
        ),
        "mask left out": lambda N, q, k, v, scale: _attend(N, _scores(N, q, k, scale), v),
        "scale off by 1e-3": lambda N, q, k, v, scale: _attend(
            N, N.where(_visible_keys(N, 0), _scores(N, q, k, scale * 1.001), -np.inf), v
        ),
        "scale twice": lambda N, q, k, v, scale: _attend(
            N, N.where(_visible_keys(N, 0), _scores(N, q, k, scale) * scale, -np.inf), v
        ),
        "e kept in f16": {"keep": {"e": F16.name}}, "sums in f16": IN_HALVES,
    },
}  # fmt: skip


@dataclass
class PlantedShare:
    """One op in one format: rows on which a bug is active, those that each criterion finds, and right rows accused.

    `plain`: how many are beyond right kernels' answers; `seen`: how many of these the last criterion finds.
    """

    name: str
    active: int = 0
    caught: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CRITERIA_OF_FORMULAS, 0))
    right: int = 0
    accused: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CRITERIA_OF_FORMULAS, 0))
    plain: int = 0
    seen: int = 0


@np.errstate(all="ignore")
def count_bugs_of(name: str, form: Element, sizes: tuple[int, ...]) -> PlantedShare:
    """The bugs of one op in one format."""
    op, bugs = find(name), PLANTED[name]
    found = PlantedShare(f"{op.name} {form.name}")
    for n in sizes:
        made = inputs_for(op, n, 5, form is F16)
        arrays = {k: store(np.asarray(a, dtype="f8"), form) if op.inputs[k].is_float else a for k, a in made.items()}
        first = op.forms[0] if op.forms else ""
        claim = replace(declare(op, made), form=first or None)
        formats = dict.fromkeys(op.outputs, form)
        (role,) = op.outputs
        tight, loose = (enclose(op, arrays, c, CLAIMED, {}, formats)[role] for c in (claim, Accuracy(rescales=0)))
        right = _simulate(op, op.formula, arrays, claim, form, first)
        others = [_by_row(_simulate(op, op.formula, arrays, claim, form, first, manner)) for manner in RIGHT_MANNERS]
        least, most = np.minimum.reduce(others), np.maximum.reduce(others)
        _count(found.accused, right, tight, loose, form, np.ones(len(_by_row(right)), dtype=np.bool_))
        found.right += len(_by_row(right))
        for bug in bugs.values():
            calls, does = (op.formula, replace(claim, **bug)) if isinstance(bug, Mapping) else (bug, claim)
            got = _simulate(op, calls, arrays, does, form, first)
            differs = (got != right) & ~(np.isnan(got) & np.isnan(right))
            active = np.asarray(_by_row(differs).any(axis=1))
            found.active += int(active.sum())
            seen = _count(found.caught, got, tight, loose, form, active)
            rows = _by_row(got)
            plain = active & ((rows < least) | (rows > most) | (np.isnan(rows) != np.isnan(least))).any(axis=1)
            found.plain, found.seen = found.plain + int(plain.sum()), found.seen + int((plain & seen).sum())
    return found


PLANTED_IN = KernelManner("strided", "any", seed=3)


def declare(op: Op, inputs: Inputs) -> Accuracy:
    """The claim of an author for such a kernel: every sum's additions, and functions as measured on a GPU.

    This includes exp: a claim of "expf" doubles its room, and then 89 % of softmax's f32 rows are detected, not 98 %.
    """
    names = names_at(op, inputs)
    functions = {name: function_models()[name][f"{name}f"] for name in names.functions if name != "exp"}
    exp = ExpModel(function_models()["exp"]["expf"].a0, 0.0)
    return Accuracy(exp=exp, adds=depths("strided", names.sums), rescales=0, divide="ieee", functions=functions)


ORDERS: tuple[SumOrder, ...] = ("strided", "tree")
NOISES: tuple[Noise, ...] = ("any", "ends", "high", "low")
RIGHT_MANNERS = tuple(
    KernelManner(order, noise, seed=seed) for seed, (order, noise) in enumerate(product(ORDERS, NOISES))
)


def _by_row(x: NDArray[Any]) -> NDArray[Any]:
    """An answer as rows; if it has one number for each row, rows of one element."""
    return x.reshape(len(x), 1) if x.ndim == 1 else x.reshape(-1, x.shape[-1])


def _simulate(
    op: Op, calls: WrongFormula, arrays: Inputs, claim: Accuracy, form: Element, first: str,
    manner: KernelManner = PLANTED_IN,
) -> NDArray[np.float64]:  # fmt: skip
    sizes = op.sizes_of(arrays)
    N = Simulated(claim, manner, sizes, F32, first, Places(sizes))
    given = {k: N.input(values(a)) if op.inputs[k].is_float else a for k, a in arrays.items()}
    scalars = {k: N.number(v) for k, v in op.scalars_of(sizes, {}).items()}
    (role,) = op.outputs
    made = shape_output(calls(N, **given, **scalars).x, op.outputs[role], sizes)
    return np.asarray(values(store(np.asarray(made), form)))


def _count(
    tally: dict[str, int], got: NDArray[np.float64], tight: Enclosure, loose: Enclosure, form: Element, rows: Mask
) -> Mask:
    """Add up, for every criterion, the rows among these that it calls wrong; return those of the last one."""
    flat = _by_row(got)
    want = tight.want.reshape(flat.shape)
    for name, (rtol, atol) in {"assert_close": CLOSE[form], "1e-3": (1e-3, 1e-3), "1e-2": (1e-2, 1e-2)}.items():
        close = np.isclose(flat, want, rtol=rtol, atol=atol, equal_nan=True).all(axis=1)  # as other tools judge
        tally[name] += int((~close & rows).sum())
    outside = {name: _outside(flat, held) for name, held in (("any order", loose), ("declared", tight))}
    for name, mask in outside.items():
        tally[name] += int((mask & rows).sum())
    joint = outside["declared"].copy()
    if tight.joint is not None:
        for clash in tight.joint(got):
            place = int(np.ravel_multi_index(clash.index[:-1], got.shape[:-1]))
            joint[place] |= rows[place] and not joint[place] and clash.is_certain()
    tally["and joint"] += int((joint & rows).sum())
    return joint & rows


def _outside(flat: NDArray[np.float64], held: Enclosure) -> Mask:
    lo, hi, want, judged = (part.reshape(flat.shape) for part in (held.lo, held.hi, held.want, held.judged))
    inside = np.where(np.isnan(want), np.isnan(flat), (flat >= lo) & (flat <= hi))
    if held.may_be_nan is not None:
        inside |= held.may_be_nan.reshape(flat.shape) & np.isnan(flat)
    return np.asarray((~inside & judged).any(axis=1))
