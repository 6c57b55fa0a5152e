"""Correct kernels by methods that no formula's text has: the forms that a claim may name contain their answers."""

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz import oracle
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16, F16, F32, Element, store, values
from kfuzz.oracle.proof.hard_inputs import inputs_for

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

f = np.float32
Numbers = NDArray[np.float32]
ROOT_HALF = f(math.sqrt(0.5))
erfc = np.frompyfunc(lambda t: f(math.erfc(t)), 1, 1)


def total(x: Numbers) -> Numbers:
    return x.sum(axis=-1, keepdims=True, dtype=f)


def deviations(x: Numbers) -> Numbers:
    return np.asarray(x - total(x) / f(x.shape[-1]))


def others(x: Numbers) -> Numbers:
    """The sum of all exponentials but the largest element's own, which is 1."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    np.put_along_axis(e, x.argmax(axis=-1)[:, None], f(0), -1)
    return total(e)


def layer_norm_by_root_n(x: Numbers, w: Numbers, b: Numbers) -> Numbers:
    d, n = deviations(x), f(x.shape[-1])
    return np.asarray(d * (np.sqrt(n) / np.sqrt(total(d * d) + n * f(1e-5))) * w + b)


def layer_norm_gain_first(x: Numbers, w: Numbers, b: Numbers) -> Numbers:
    d = deviations(x)
    return np.asarray((d * w) / np.sqrt(total(d * d) / f(x.shape[-1]) + f(1e-5)) + b)


def layer_norm_from_the_first(x: Numbers, w: Numbers, b: Numbers) -> Numbers:
    z, n = x - x[:, :1], f(x.shape[-1])
    mean = total(z) / n
    variance = np.maximum(total(z * z) / n - mean * mean, f(0))
    return np.asarray((z - mean) / np.sqrt(variance + f(1e-5)) * w + b)


def rms_norm_of_scaled(x: Numbers, w: Numbers) -> Numbers:
    z = x / np.sqrt(f(x.shape[-1]))
    return np.asarray(x / np.sqrt(total(z * z) + f(1e-6)) * w)


def cross_entropy_of_others(x: Numbers, labels: NDArray[np.int64]) -> Numbers:
    own = np.take_along_axis(x, labels[:, None], -1) - x.max(axis=-1, keepdims=True)
    return np.asarray((np.log1p(others(x)) - own)[:, 0])


def attention_with_a_column_of_ones(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    root = f(math.sqrt(1 / math.sqrt(q.shape[-1])))
    s = (q * root) @ np.swapaxes(k * root, -1, -2)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    o = e @ np.concatenate([v, np.ones_like(v[..., :1])], axis=-1)
    return np.asarray(o[..., :-1] / o[..., -1:])


def attention_less_the_first_value(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    s = q @ np.swapaxes(k - k.mean(axis=1, keepdims=True, dtype=f), -1, -2) / f(math.sqrt(q.shape[-1]))
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.asarray(v[:, :1] + e @ (v - v[:, :1]) / total(e))


METHODS: Mapping[tuple[str, str], Callable[..., Numbers]] = {
    ("layer_norm", "sqrt n / sqrt(S + n eps)"): layer_norm_by_root_n,
    ("layer_norm", "(d w) / std"): layer_norm_gain_first,
    ("layer_norm", "moments of x - x0"): layer_norm_from_the_first,
    ("rms_norm", "of x / sqrt n"): rms_norm_of_scaled,
    ("softmax", "1 + others"): lambda x: np.exp(x - x.max(axis=-1, keepdims=True)) / (f(1) + others(x)),
    ("logsumexp", "log1p of others"): lambda x: (x.max(axis=-1, keepdims=True) + np.log1p(others(x)))[:, 0],
    ("log_softmax", "log1p of others"): lambda x: (x - x.max(axis=-1, keepdims=True)) - np.log1p(others(x)),
    ("cross_entropy", "log1p of others"): cross_entropy_of_others,
    ("gelu", "erfc"): lambda x: f(0.5) * x * erfc(-x * ROOT_HALF).astype(f),
    ("variance", "sum d x"): lambda x: (total(deviations(x) * x) / f(x.shape[-1]))[:, 0],
    ("mean", "x0 and the mean of x - x0"): lambda x: (x[:, :1] + total(x - x[:, :1]) / f(x.shape[-1]))[:, 0],
    ("attention", "a column of ones, scale in both"): attention_with_a_column_of_ones,
    ("attention", "keys less their mean, values less the first"): attention_less_the_first_value,
}


@pytest.mark.parametrize("form", [F32, F16, BF16], ids=lambda form: form.name)
@pytest.mark.parametrize(("name", "how"), METHODS)
def test_a_right_kernel_by_another_method_is_kept(name: str, how: str, form: Element) -> None:
    op = find(name)
    for n in (5, 33, 130):
        hostile = inputs_for(op, n, 3, form.name == "f16")
        for made in (hostile, op.random_inputs(op.sizes_of(hostile), np.random.default_rng(n))):
            arrays = {
                k: store(np.asarray(a, dtype="f8"), form) if op.inputs[k].is_float else a for k, a in made.items()
            }
            given = {k: values(a).astype(f) if op.inputs[k].is_float else a for k, a in arrays.items()}
            answer = store(METHODS[name, how](**given).astype(np.float64), form)
            verdict = oracle.judge(name, arrays, dict.fromkeys(op.outputs, answer), Accuracy(divide="reciprocal"))
            assert verdict.status != "broken", (n, verdict.worst, verdict.detail)


def test_a_wrong_kernel_by_such_a_method_is_broken() -> None:
    x = np.random.default_rng(15).standard_normal((3, 33)).astype(f)
    claim = Accuracy(divide="reciprocal")
    right = METHODS["variance", "sum d x"](x)
    assert oracle.judge("variance", {"x": x}, {"y": right}, claim).status == "kept"
    assert oracle.judge("variance", {"x": x}, {"y": right * f(33 / 32)}, claim).status == "broken"
