"""Kernels that do not follow a formula, as another person would write them, tested against its enclosure.

A simulation of the formula itself would share its mistakes. These use plain float32 arithmetic of numpy:
attention over blocks of keys with a running maximum (subtracted, or folded into the scale), layer_norm and rms_norm by
strided threads and by warps whose parts are combined, log_softmax in one pass, a sum by blocks and atomics.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.proof.hard_inputs import Inputs, inputs_for
from kfuzz.oracle.proof.simulations import CLAIMED, FormulaTally

Single = NDArray[np.float32]
F = np.float32


def flash(inputs: Inputs, width: int, is_folded: bool, is_causal: bool) -> Single:
    """Attention over blocks of keys: maximum, sum and output are rescaled at every block."""
    q, k, v = (inputs[role].astype(F) for role in "qkv")
    rows, keys, d = q.shape[1], k.shape[1], q.shape[2]
    scale = F(1 / np.sqrt(d))
    s = _tree(q[:, :, None, :] * k[:, None, :, :])
    s = s if is_folded else s * scale
    if is_causal:
        s = np.where(np.arange(keys) <= np.arange(rows)[:, None] + keys - rows, s, F(-np.inf))
    m = np.full((*s.shape[:2], 1), -np.inf, dtype=F)
    total, o = np.zeros_like(m), np.zeros((*s.shape[:2], v.shape[2]), dtype=F)
    c = F(np.log2(np.e)) * scale
    for start in range(0, keys, width):
        part = s[:, :, start : start + width]
        new = np.maximum(m, part.max(axis=-1, keepdims=True))
        held = np.where(np.isneginf(new), F(0), new)
        if is_folded:  # one FMA: the product exact, the difference rounded once
            e = _exp2((part.astype("f8") * c - (held * c).astype("f8")).astype(F))
            old = _exp2((m.astype("f8") * c - (held * c).astype("f8")).astype(F))
        else:
            e, old = _exp(part - held), _exp(m - held)
        weighted = _tree(np.swapaxes(e[:, :, :, None] * v[:, None, start : start + width, :], 2, 3))
        total, o, m = total * old + _tree(e)[..., None], o * old + weighted, new
    return np.asarray(o / total)


def _exp(t: Single) -> Single:
    return np.asarray(np.exp(t.astype("f8")), dtype=F)


def _exp2(t: Single) -> Single:
    return np.asarray(np.exp2(t.astype("f8")), dtype=F)


def _tree(x: Single) -> Single:
    """The last axis summed in pairs."""
    while (n := x.shape[-1]) > 1:
        half = n // 2
        x = np.concatenate([x[..., :half] + x[..., half : 2 * half], x[..., 2 * half :]], axis=-1)
    return np.asarray(x[..., 0], dtype=F)


def _warps(x: Single, lanes: int) -> tuple[Single, Single]:
    """Mean and sum of squares: each lane by Welford, lanes combined by Chan's formula, as a warp does with shuffles."""
    rows, n = x.shape
    mean, squares, count = (np.zeros((rows, lanes), dtype=F) for _ in range(3))
    for column in range(n):
        lane = column % lanes
        count[:, lane] += 1
        off = x[:, column] - mean[:, lane]
        mean[:, lane] += off / count[:, lane]
        squares[:, lane] += off * (x[:, column] - mean[:, lane])
    while (size := mean.shape[1]) > 1:
        half = size // 2
        na, nb = count[:, :half], count[:, half:]
        both = np.maximum(na + nb, F(1))
        off = mean[:, half:] - mean[:, :half]
        squares = squares[:, :half] + squares[:, half:] + off * off * (na * nb / both)
        mean = mean[:, :half] + off * (nb / both)
        count = na + nb
    return mean, squares


def warp_layer_norm(inputs: Inputs) -> Single:
    """layer_norm by 32 lanes."""
    x, w, b = (inputs[role].astype(F) for role in "xwb")
    mean, squares = _warps(x, 32)
    return np.asarray((x - mean) * (F(1) / np.sqrt(squares / F(x.shape[1]) + F(1e-5))) * w + b)


def strided_layer_norm(inputs: Inputs) -> Single:
    """layer_norm in two passes, 32 threads and a tree, the gain multiplied to the deviation's scale first."""
    x, w, b = (inputs[role].astype(F) for role in "xwb")
    mean = _threads(x)[:, None] / F(x.shape[1])
    off = x - mean
    variance = _threads(off * off)[:, None] / F(x.shape[1])
    return np.asarray(off * (w * (F(1) / np.sqrt(variance + F(1e-5)))) + b)


def _threads(x: Single) -> Single:
    width = min(32, x.shape[1])
    held = x[:, :width].copy()
    for start in range(width, x.shape[1], width):
        here = min(width, x.shape[1] - start)
        held[:, :here] += x[:, start : start + here]
    return _tree(held)


def strided_rms_norm(inputs: Inputs) -> Single:
    """rms_norm by 32 threads, with x / sqrt(...) instead of a reciprocal root."""
    x, w = (inputs[role].astype(F) for role in "xw")
    return np.asarray(x / np.sqrt(_threads(x * x)[:, None] / F(x.shape[1]) + F(1e-6)) * w)


def one_pass_log_softmax(inputs: Inputs) -> Single:
    """log_softmax with maximum and sum found in one pass, left to right."""
    x = inputs["x"].astype(F)
    m, s = x[:, 0].copy(), np.where(np.isneginf(x[:, 0]), F(0), F(1))
    for column in range(1, x.shape[1]):
        new = np.maximum(m, x[:, column])
        held = np.where(np.isneginf(new), F(0), new)
        s = s * _exp(m - held) + _exp(x[:, column] - held)
        m = new
    return np.asarray(x - m[:, None] - np.log(s.astype("f8")).astype(F)[:, None])


KERNELS: dict[str, tuple[str, Callable[[Inputs], Single], Callable[[int], Accuracy]]] = {
    "flash, blocks of 16": (
        "attention", lambda i: flash(i, 16, False, False),
        lambda n: Accuracy(adds={"qk": 8, "*": -(-n // 16) + 5}, rescales=-(-n // 16), divide="ieee"),
    ),
    "flash, folded scale": (
        "attention", lambda i: flash(i, 16, True, False),
        lambda n: Accuracy(adds={"qk": 8, "*": -(-n // 16) + 5}, rescales=-(-n // 16), divide="ieee"),
    ),
    "flash, causal": (
        "causal_attention", lambda i: flash(i, 8, False, True),
        lambda n: Accuracy(adds={"qk": 8, "*": -(-n // 8) + 4}, rescales=-(-n // 8), divide="ieee"),
    ),
    "layer_norm by warps": ("layer_norm", warp_layer_norm, lambda n: Accuracy(adds=-(-n // 32) + 6, form="welford")),
    "layer_norm strided": ("layer_norm", strided_layer_norm, lambda n: Accuracy(adds=-(-n // 32) + 6, form="two pass")),
    "layer_norm, nothing claimed": ("layer_norm", strided_layer_norm, lambda n: Accuracy()),
    "rms_norm strided": ("rms_norm", strided_rms_norm, lambda n: Accuracy(adds=-(-n // 32) + 6)),
    "log_softmax in one pass": ("log_softmax", one_pass_log_softmax, lambda n: Accuracy(adds=n, rescales=n)),
}  # fmt: skip


def check_kernel(name: str, quick: bool) -> FormulaTally:
    """Test one kernel on the inputs of its op."""
    op_name, kernel, claim = KERNELS[name]
    op = find(op_name)
    found = FormulaTally(name)
    for n in (1, 2, 33, 130) if quick else (1, 2, 3, 31, 33, 64, 130, 257, 1000):
        for seed in range(1 if quick else 8):
            inputs: dict[str, Any] = {k: a.astype(F) for k, a in inputs_for(op, n, seed, False).items()}
            with np.errstate(all="ignore"):
                got = kernel(inputs).astype(np.float64)
                (enclosure,) = enclose(op, inputs, claim(n), CLAIMED).values()
            found.add(got, enclosure, f"n={n}")
            if enclosure.joint is not None:
                found.clashes += sum(clash.is_certain() for clash in enclosure.joint(got))
    return found
