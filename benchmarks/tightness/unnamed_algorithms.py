"""Judge right algorithms in float32 that no form of their op names, under a claim that says nothing.

    python -m benchmarks.tightness measure unnamed_algorithms [--only OP]

Each operation is rounded to float32, and each function once. tests/oracle/test_rearranged.py has 43 others, at smaller
sizes. No answer may be broken of an algorithm that adds nothing but terms of its answer.
Long, since it has the algorithms of every op, a function each.
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measurement import Figures, Record
from kfuzz.oracle import Special, judge
from kfuzz.oracle.judging.find_op import find

Numbers = NDArray[np.float32]
Given = Mapping[str, Numbers]
F = np.float32
ROWS, COLS = 12, 96
SETTINGS = {"normal": (1.0, 0.0), "large": (8.0, 0.0), "small": (1e-3, 0.0), "moved by 10": (1.0, 10.0)}
"""The scale and the offset of normal numbers."""
STATUSES = ("kept", "suspect", "broken", "not judged")
GRAVEST = ("broken", "suspect", "not judged", "kept")
LOG2_E, LN_2 = F(1.4426950408889634), F(0.6931471805599453)


def once(function: Callable[[Any], Any]) -> Callable[[Numbers], Numbers]:
    """A function that is rounded once."""
    return lambda x: np.asarray(function(np.asarray(x, np.float64)), np.float64).astype(F)


exp, exp2, expm1, log, log1p, log2, tanh = map(once, (np.exp, np.exp2, np.expm1, np.log, np.log1p, np.log2, np.tanh))
erfc, erf = once(np.vectorize(math.erfc)), once(np.vectorize(math.erf))


def in_order(x: Numbers) -> Numbers:
    """The sum of the last axis from left to right."""
    return np.asarray(np.cumsum(x, axis=-1, dtype=F)[..., -1:])


def top(x: Numbers) -> Numbers:
    return np.asarray(x.max(-1, keepdims=True))


def kahan(x: Numbers) -> Numbers:
    total, lost = np.zeros_like(x[..., :1]), np.zeros_like(x[..., :1])
    for k in range(x.shape[-1]):
        y = x[..., k : k + 1] - lost
        new = total + y
        lost = (new - total) - y
        total = new
    return total


def neumaier(x: Numbers) -> Numbers:
    total, lost = np.zeros_like(x[..., :1]), np.zeros_like(x[..., :1])
    for k in range(x.shape[-1]):
        y = x[..., k : k + 1]
        new = total + y
        lost = lost + np.where(np.abs(total) >= np.abs(y), (total - new) + y, (y - new) + total)
        total = new
    return total + lost


def in_pairs(x: Numbers) -> Numbers:
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        x = np.concatenate([x[..., :half] + x[..., half : 2 * half], x[..., 2 * half :]], axis=-1)
    return x


def by_size(x: Numbers) -> Numbers:
    """From the smallest magnitude to the largest."""
    return in_order(np.take_along_axis(x, np.argsort(np.abs(x), axis=-1), -1))


def in_blocks(x: Numbers) -> Numbers:
    """Blocks of 16, each corrected by Kahan, then in pairs."""
    return in_pairs(kahan(x.reshape(*x.shape[:-1], -1, 16))[..., 0])


def in_double(x: Numbers) -> Numbers:
    return np.asarray(x.astype(np.float64).sum(-1, keepdims=True).astype(F))


def newton_rsqrt(x: Numbers) -> Numbers:
    """1 / sqrt(x) from a guess of 12 bits, by two of Newton's steps."""
    y = (1 / np.sqrt(x.astype(np.float64)) * (1 + 2.0**-13)).astype(F)
    for _ in range(2):
        y = y + F(0.5) * y * (1 - x * y * y)
    return y


def newton_reciprocal(x: Numbers) -> Numbers:
    y = (1 / x.astype(np.float64) * (1 - 2.0**-12)).astype(F)
    for _ in range(2):
        y = y + y * (1 - x * y)
    return y


def softmax_by(sums: Callable[[Numbers], Numbers]) -> Callable[..., Numbers]:
    def computed(x: Numbers) -> Numbers:
        e = exp(x - top(x))
        return e / sums(e)

    return computed


def softmax_folded(x: Numbers) -> Numbers:
    """exp2(x log2 e - m log2 e), as flash attention folds it."""
    e = exp2(x * LOG2_E - top(x) * LOG2_E)
    return e * newton_reciprocal(in_pairs(e))


def softmax_of_halves(x: Numbers) -> Numbers:
    root = exp((x - top(x)) * F(0.5))
    return root * (root / in_order(root * root))


def softmax_in_blocks(x: Numbers) -> Numbers:
    """Parts of 16 columns with maxima of their own, joined in a tree."""
    parts = x.reshape(*x.shape[:-1], -1, 16)
    m = top(parts)
    s = in_order(exp(parts - m))
    all_m = m.max(-2, keepdims=True)
    total = in_pairs((s * exp(m - all_m))[..., 0])[..., None]
    return np.asarray((exp(parts - m) * (exp(m - all_m) / total)).reshape(x.shape))


def softmax_skipping(x: Numbers) -> Numbers:
    """Online, and rescaled only if the maximum has grown by more than 8."""
    m, s = x[..., :1].copy(), np.ones_like(x[..., :1])
    for k in range(1, x.shape[-1]):
        one = x[..., k : k + 1]
        new = np.where(one > m + 8, one, m)
        s = s * exp(m - new) + exp(one - new)
        m = new
    return exp(x - m) / s


def log_softmax_of_others(x: Numbers) -> Numbers:
    """The distance from the maximum, less log1p of the sum of the others' exps."""
    e = exp(np.sort(x, axis=-1)[..., :-1] - top(x))
    return (x - top(x)) - log1p(by_size(e))


def lse_of_others(x: Numbers) -> Numbers:
    """The maximum, and log1p of the sum of the others' exps."""
    e = exp(np.sort(x, axis=-1)[..., :-1] - top(x))
    return (top(x) + log1p(by_size(e)))[..., 0]


def lse_base_two(x: Numbers) -> Numbers:
    t = x * LOG2_E
    return ((top(t) + log2(in_pairs(exp2(t - top(t))))) * LN_2)[..., 0]


def lse_tree(x: Numbers) -> Numbers:
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        a, b = x[..., :half], x[..., half : 2 * half]
        joined = np.maximum(a, b) + log1p(exp(-np.abs(a - b)))
        x = np.concatenate([joined, x[..., 2 * half :]], axis=-1)
    return x[..., 0]


def corrected_two_pass(x: Numbers) -> Numbers:
    """The squares' sum less the square of the sum of deviations, which would be 0."""
    n, off = F(x.shape[-1]), x - in_order(x) / F(x.shape[-1])
    return (in_order(off * off) - in_order(off) ** 2 / n) / n


def youngs_cramer(x: Numbers) -> Numbers:
    total, squares = x[..., :1].copy(), np.zeros_like(x[..., :1])
    for k in range(1, x.shape[-1]):
        total = total + x[..., k : k + 1]
        off = F(k + 1) * x[..., k : k + 1] - total
        squares = squares + off * off / F(k * (k + 1))
    return squares / F(x.shape[-1])


def median_shifted(x: Numbers) -> Numbers:
    y = x - np.sort(x, axis=-1)[..., x.shape[-1] // 2 : x.shape[-1] // 2 + 1]
    return in_pairs(y * y) / F(x.shape[-1]) - (in_pairs(y) / F(x.shape[-1])) ** 2


def neighbours_then_rest(x: Numbers) -> Numbers:
    """Variance within pairs of neighbours, and that of the pairs' means."""
    a, b = x[..., ::2], x[..., 1::2]
    means, n = (a + b) * F(0.5), F(x.shape[-1])
    off = means - in_order(means) / F(means.shape[-1])
    return (in_order((a - b) ** 2) * F(0.5) + 2 * in_order(off * off)) / n


def layer_norm_by(variance: Callable[[Numbers], Numbers]) -> Callable[..., Numbers]:
    def computed(x: Numbers, w: Numbers, b: Numbers) -> Numbers:
        off = x - in_pairs(x) / F(x.shape[-1])
        return off * newton_rsqrt(variance(x) + F(1e-5)) * w + b

    return computed


def layer_norm_affine(x: Numbers, w: Numbers, b: Numbers) -> Numbers:
    """One factor and one term for each element: x (r w) + (b - m r w)."""
    m = kahan(x) / F(x.shape[-1])
    scale = (1 / np.sqrt(kahan((x - m) ** 2) / F(x.shape[-1]) + F(1e-5))) * w
    return x * scale + (b - m * scale)


def layer_norm_of_length(x: Numbers, w: Numbers, b: Numbers) -> Numbers:
    """Deviations over their length, times the root of n."""
    off = x - in_order(x) / F(x.shape[-1])
    length = np.sqrt(in_order(off * off) + F(x.shape[-1] * 1e-5))
    return off / length * np.sqrt(F(x.shape[-1])) * w + b


def rms_by_largest(x: Numbers, w: Numbers) -> Numbers:
    """Divided by the largest magnitude first, so that no square overflows."""
    most = top(np.abs(x))
    y = x / most
    return y / np.sqrt(in_order(y * y) / F(x.shape[-1]) + F(1e-6) / most / most) * w


def nrm2(x: Numbers) -> Numbers:
    """BLAS: a running scale and the sum of squares of what is left."""
    scale, squares = np.zeros_like(x[..., :1]), np.ones_like(x[..., :1])
    for k in range(x.shape[-1]):
        one = np.abs(x[..., k : k + 1])
        grows = one > scale
        ratio = np.where(grows, scale, one) / np.where(grows, one, np.where(scale > 0, scale, 1))
        squares = np.where(grows, 1 + squares * ratio * ratio, squares + ratio * ratio)
        scale = np.where(grows, one, scale)
    return (scale * np.sqrt(squares))[..., 0]


def cumsum_blelloch(x: Numbers) -> Numbers:
    """Up and down a tree."""
    n = x.shape[-1]
    if n == 1:
        return x
    pairs = x[..., 0 : n - 1 : 2] + x[..., 1:n:2]
    sums = cumsum_blelloch(pairs)
    made = np.empty_like(x)
    made[..., 1::2] = sums
    made[..., 0] = x[..., 0]
    made[..., 2::2] = sums[..., : (n - 1) // 2] + x[..., 2::2]
    return made


def cumsum_kahan(x: Numbers) -> Numbers:
    return np.concatenate([kahan(x[..., : k + 1]) for k in range(x.shape[-1])], axis=-1)


def running_mean(x: Numbers) -> Numbers:
    m = x[..., :1].copy()
    for k in range(1, x.shape[-1]):
        m = m + (x[..., k : k + 1] - m) / F(k + 1)
    return m[..., 0]


def mean_of_means(x: Numbers) -> Numbers:
    means = in_order(x.reshape(*x.shape[:-1], -1, 16))[..., 0] / F(16)
    return in_order(means)[..., 0] / F(means.shape[-1])


def three_bfloat16(a: Numbers, b: Numbers) -> Numbers:
    """Each factor as three numbers of 8 bits; the three smallest of nine products are left out."""

    def parts(x: Numbers) -> list[Numbers]:
        found = []
        for _ in range(3):
            part = (((x.view(np.uint32) + 0x8000) >> 16) << 16).astype(np.uint32).view(F)
            found.append(part)
            x = np.ascontiguousarray(x - part)
        return found

    left, right = parts(a), parts(b)
    made = np.zeros((a.shape[0], b.shape[1]), F)
    for order in (2, 1, 0):  # the smallest first
        for i in range(order + 1):
            made = made + by_columns(left[i], right[order - i])
    return made


def by_columns(a: Numbers, b: Numbers) -> Numbers:
    made = np.zeros((a.shape[0], b.shape[1]), F)
    for k in range(a.shape[1]):
        made = made + a[:, k : k + 1] * b[k : k + 1]
    return made


def strassen_winograd(a: Numbers, b: Numbers) -> Numbers:
    """Winograd's variant: seven products and fifteen additions."""
    n = a.shape[0] // 2
    a11, a12, a21, a22 = a[:n, :n], a[:n, n:], a[n:, :n], a[n:, n:]
    b11, b12, b21, b22 = b[:n, :n], b[:n, n:], b[n:, :n], b[n:, n:]
    s1, s3, t1, t3 = a21 + a22, a11 - a21, b12 - b11, b22 - b12
    s2, t2 = s1 - a11, b22 - t1
    s4, t4 = a12 - s2, t2 - b21
    p1, p2, p3, p4 = a11 @ b11, a12 @ b21, s4 @ b22, a22 @ t4
    p5, p6, p7 = s1 @ t1, s2 @ t2, s3 @ t3
    u2 = p1 + p6
    u3 = u2 + p7
    u4 = u2 + p5
    return np.block([[p1 + p2, u4 + p3], [u3 - p4, u3 + p5]])


def karatsuba_like(a: Numbers, b: Numbers) -> Numbers:
    """Split along k in four, each part in double, joined in float32."""
    parts = [(x.astype(np.float64) @ y).astype(F) for x, y in zip(np.split(a, 4, 1), np.split(b, 4, 0), strict=True)]
    return (parts[0] + parts[1]) + (parts[2] + parts[3])


def attention_in_blocks(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    """Blocks of keys by themselves, then joined by their logarithms of sums."""
    s = (q * F(q.shape[-1] ** -0.5)) @ k.swapaxes(-1, -2)
    found = []
    for first in range(0, s.shape[-1], 8):
        part = s[..., first : first + 8]
        e = exp(part - top(part))
        found.append(((e / in_order(e)) @ v[..., first : first + 8, :], top(part) + log(in_order(e))))
    lse = np.concatenate([one for _, one in found], axis=-1)
    weights = exp(lse - top(lse))
    weights = weights / in_order(weights)
    made = np.zeros_like(found[0][0])
    for number, (o, _) in enumerate(found):
        made = made + o * weights[..., number : number + 1]
    return made


def attention_base_two(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    s = (q @ k.swapaxes(-1, -2)) * (F(q.shape[-1] ** -0.5) * LOG2_E)
    e = exp2(s - top(s))
    return (e @ v) * newton_reciprocal(in_pairs(e))


def attention_of_logs(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    """Weights as exp of the score less the logarithm of their sum, the scale in both factors."""
    root = F(q.shape[-1] ** -0.25)
    s = (q * root) @ (k * root).swapaxes(-1, -2)
    lse = lse_tree(s)[..., None]
    return exp(s - lse) @ v


def loss_of_others(x: Numbers, labels: NDArray[np.int32]) -> Numbers:
    """The label's distance from the maximum, and log1p of the sum of the others' exps."""
    e = exp(np.sort(x, axis=-1)[..., :-1] - top(x))
    return (top(x)[..., 0] - x[np.arange(len(x)), labels]) + log1p(by_size(e))[..., 0]


def loss_base_two(x: Numbers, labels: NDArray[np.int32]) -> Numbers:
    t = x * LOG2_E
    own = t[np.arange(len(x)), labels][:, None]
    return (((top(t) - own) + log2(in_pairs(exp2(t - top(t))))) * LN_2)[..., 0]


def loss_by_tree(x: Numbers, labels: NDArray[np.int32]) -> Numbers:
    return lse_tree(x) - x[np.arange(len(x)), labels]


def gelu_negative(x: Numbers) -> Numbers:
    """By erfc of the magnitude on both sides: max(x, 0) less abs(x) erfc / 2."""
    return np.maximum(x, 0) - np.abs(x) * (F(0.5) * erfc(np.abs(x) * F(0.7071067811865476)))


def gelu_tanh_by_expm1(x: Numbers) -> Numbers:
    """tanh t = e / (e + 2) with e = expm1(2 t)."""
    t = F(0.7978845608028654) * (x + F(0.044715) * x * x * x)
    e = expm1(-2 * np.abs(t))
    return F(0.5) * x * (1 + np.copysign(-e / (e + 2), t))


def silu_by_sides(x: Numbers) -> Numbers:
    e = exp(-np.abs(x))
    return x * np.where(x >= 0, F(1), e) / (1 + e)


def silu_base_two(x: Numbers) -> Numbers:
    return x * newton_reciprocal(np.minimum(1 + exp2(-x * LOG2_E), F(1e37)))


def batch_norm_by_square(x: Numbers, mean: Numbers, var: Numbers, w: Numbers, b: Numbers) -> Numbers:
    r = newton_rsqrt(var + F(1e-5))[:, None]
    return (x * w[:, None] - (mean * w)[:, None]) * r + b[:, None]


def group_norm_by_channels(x: Numbers, w: Numbers, b: Numbers) -> Numbers:
    """Each channel's moments about its own mean, then joined as Chan does."""
    n = F(x.shape[-1])
    m = in_order(x) / n
    squares = in_order((x - m) ** 2)
    mean = in_order(m[..., 0])[..., None] / F(x.shape[-2])
    joined = (in_order(squares[..., 0]) + n * in_order((m[..., 0] - mean[..., 0]) ** 2)) / (n * F(x.shape[-2]))
    return (x - mean) / np.sqrt(joined[..., None] + F(1e-5)) * w[..., None] + b[..., None]


def conv_by_toeplitz(x: Numbers, w: Numbers, bias: Numbers) -> Numbers:
    """Windows as columns of a matrix, its products in pairs over all taps."""
    seen = np.lib.stride_tricks.sliding_window_view(x, w.shape[-2:], axis=(-2, -1))  # [batch, channels, y, x, i, j]
    terms = seen[:, None] * w[None, :, :, None, None]
    flat = np.moveaxis(terms, 2, 4).reshape(*terms.shape[:2], *terms.shape[3:5], -1)
    return in_pairs(flat)[..., 0] + bias[:, None, None]


def conv_winograd(x: Numbers, w: Numbers, bias: Numbers) -> Numbers:
    """F(2 x 2, 3 x 3): tiles of 4 x 4 by Winograd's transforms."""
    to = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], F)
    of = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], F)
    back = np.array([[1, 1, 1, 0], [0, 1, -1, -1]], F)
    taps = of @ w @ of.T
    made = np.zeros((x.shape[0], w.shape[0], x.shape[2] - 2, x.shape[3] - 2), F)
    for row in range(0, made.shape[2], 2):
        for col in range(0, made.shape[3], 2):
            tile = to @ x[:, :, row : row + 4, col : col + 4] @ to.T
            made[:, :, row : row + 2, col : col + 2] = back @ (tile[:, None] * taps).sum(2, dtype=F) @ back.T
    return made + bias[:, None, None]


def conv_as_columns(x: Numbers, w: Numbers, bias: Numbers) -> Numbers:
    """One tap after the other, over the whole image, with Kahan's correction."""
    out = (x.shape[2] - w.shape[2] + 1, x.shape[3] - w.shape[3] + 1)
    terms = [
        x[:, None, c, i : i + out[0], j : j + out[1]] * w[:, c, i, j][:, None, None]
        for c in range(w.shape[1]) for i in range(w.shape[2]) for j in range(w.shape[3])
    ]  # fmt: skip
    return kahan(np.stack(terms, axis=-1))[..., 0] + bias[:, None, None]


def softmax_backward_by_pairs(y: Numbers, g: Numbers) -> Numbers:
    return y * g - y * in_pairs(y * g)


@dataclass(frozen=True)
class Unnamed:
    """A right algorithm: what it does in words, its op, and itself.

    `adds_others`: it adds terms that are none of the answer's and takes them away again (docs/limits.md).
    """

    about: str
    op: str
    compute: Callable[..., Any]
    adds_others: bool = False


EVERY = (
    *(Unnamed(how, "row_sum", lambda x, s=s: s(x)[..., 0]) for how, s in {
        "Kahan": kahan, "Neumaier": neumaier, "halves in pairs": in_pairs, "by magnitude": by_size,
        "corrected blocks": in_blocks, "in double": in_double,
    }.items()),
    Unnamed("running mean", "mean", running_mean),
    Unnamed("mean of the blocks' means", "mean", mean_of_means),
    *(Unnamed(f"sum: {how}", "softmax", softmax_by(s)) for how, s in {
        "Kahan": kahan, "by magnitude": by_size, "corrected blocks": in_blocks,
    }.items()),
    Unnamed("base 2 with a folded maximum, Newton's reciprocal", "softmax", softmax_folded),
    Unnamed("square of exp of half", "softmax", softmax_of_halves),
    Unnamed("blocks with maxima of their own", "softmax", softmax_in_blocks),
    Unnamed("rescaled only beyond 8", "softmax", softmax_skipping),
    Unnamed("log1p of the others", "log_softmax", log_softmax_of_others),
    Unnamed("less a tree of log-add-exps", "log_softmax", lambda x: x - lse_tree(x)[..., None]),
    Unnamed("base 2", "log_softmax", lambda x: x - lse_base_two(x)[..., None]),
    Unnamed("log1p of the others", "logsumexp", lse_of_others),
    Unnamed("base 2", "logsumexp", lse_base_two),
    Unnamed("a tree of log-add-exps", "logsumexp", lse_tree),
    Unnamed("log1p of the others", "cross_entropy", loss_of_others),
    Unnamed("base 2", "cross_entropy", loss_base_two),
    Unnamed("a tree of log-add-exps", "cross_entropy", loss_by_tree),
    *(Unnamed(how, "variance", lambda x, v=v: v(x)[..., 0]) for how, v in {
        "two passes, corrected": corrected_two_pass, "Youngs and Cramer": youngs_cramer,
        "moments about the median": median_shifted, "pairs of neighbours, then their means": neighbours_then_rest,
    }.items()),
    *(Unnamed(f"{how}, Newton's root", "layer_norm", layer_norm_by(v)) for how, v in {
        "two passes, corrected": corrected_two_pass, "Youngs and Cramer": youngs_cramer,
        "pairs of neighbours": neighbours_then_rest,
    }.items()),
    Unnamed("one factor and one term", "layer_norm", layer_norm_affine),
    Unnamed("deviations over their length", "layer_norm", layer_norm_of_length),
    Unnamed("divided by the largest first", "rms_norm", rms_by_largest),
    Unnamed("Kahan, Newton's root", "rms_norm", lambda x, w: x * w * newton_rsqrt(kahan(x * x) / F(COLS) + F(1e-6))),
    Unnamed("a running scale, as BLAS", "l2_norm", nrm2),
    Unnamed("channels' moments, joined", "group_norm", group_norm_by_channels),
    Unnamed("w x less w m, Newton's root", "batch_norm", batch_norm_by_square),
    Unnamed("up and down a tree", "prefix_sum", cumsum_blelloch),
    Unnamed("Kahan", "prefix_sum", cumsum_kahan),
    Unnamed("three bfloat16 for each factor", "sgemm", three_bfloat16),
    Unnamed("Strassen's, Winograd's variant", "sgemm", strassen_winograd, adds_others=True),
    Unnamed("parts in double", "sgemm", karatsuba_like),
    Unnamed("blocks joined by their lse", "attention", attention_in_blocks),
    Unnamed("base 2, divided last", "attention", attention_base_two),
    Unnamed("weights as exp(s - lse)", "attention", attention_of_logs),
    Unnamed("erfc of the magnitude", "gelu", gelu_negative),
    Unnamed("tanh by expm1", "gelu_tanh", gelu_tanh_by_expm1),
    Unnamed("e^x below 0", "silu", silu_by_sides),
    Unnamed("base 2, Newton's reciprocal", "silu", silu_base_two),
    Unnamed("y g less y times the sum", "softmax_backward", softmax_backward_by_pairs),
    Unnamed("taps in pairs", "conv2d", conv_by_toeplitz),
    Unnamed("tap by tap, Kahan", "conv2d", conv_as_columns),
    Unnamed("Winograd's F(2, 3)", "conv2d", conv_winograd, adds_others=True),
)  # fmt: skip
SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "layer_norm": {"x": (ROWS, COLS), "w": (COLS,), "b": (COLS,)}, "rms_norm": {"x": (ROWS, COLS), "w": (COLS,)},
    "group_norm": {"x": (2, 3, 4, 24), "w": (3, 4), "b": (3, 4)},
    "batch_norm": {"x": (3, 4, 24), "mean": (4,), "var": (4,), "w": (4,), "b": (4,)},
    "sgemm": {"a": (24, 24), "b": (24, 24)}, "attention": {"q": (2, 12, 16), "k": (2, 24, 16), "v": (2, 24, 16)},
    "conv2d": {"x": (2, 3, 10, 10), "w": (4, 3, 3, 3), "bias": (4,)},
    "softmax_backward": {"y": (ROWS, COLS), "g": (ROWS, COLS)},
    "cross_entropy": {"x": (ROWS, COLS), "labels": (ROWS,)},
}  # fmt: skip


def inputs_of(op: str, scale: float, offset: float, has_spikes: bool) -> Given:
    """Arrays of an op: the first one is scaled, moved, or has a large number in each row."""
    rng, made = np.random.default_rng(36), {}
    for place, (role, shape) in enumerate(SHAPES.get(op, {"x": (ROWS, COLS)}).items()):
        if role == "labels":
            made[role] = rng.integers(0, COLS, shape).astype(np.int32)
            continue
        x = rng.standard_normal(shape)
        if op == "softmax_backward" and role == "y":
            x = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
        elif role == "var":
            x = np.abs(x) + 0.1
        elif place == 0:
            x[..., 3] *= 50 if has_spikes else 1
            x = scale * x + offset
        made[role] = x.astype(F)
    return made


@np.errstate(all="ignore")
def look_at(one: Unnamed) -> tuple[list[str], float]:
    """The verdicts of all inputs, and the largest error in units of the forms' bound."""
    (output,) = find(one.op).outputs
    found, worst = [], 0.0
    for scale, offset, has_spikes in (*((*setting, False) for setting in SETTINGS.values()), (1.0, 0.0, True)):
        given = inputs_of(one.op, scale, offset, has_spikes)
        got = np.asarray(one.compute(**given))
        assert got.dtype == F, f"{one.op}: {one.about}: {got.dtype}"
        verdict = judge(one.op, given, {output: got}, special=Special(nan="ieee", pos_inf="ieee"))
        found.append(verdict.status)
        worst = max(worst, verdict.ratio)
        if verdict.status == "broken":
            print(f"{one.op}: {one.about}: {scale, offset, has_spikes}: {verdict.worst}", file=sys.stderr)
    return found, worst


def measure(arguments: Sequence[str]) -> Figures:
    """Judge all algorithms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="one op")
    asked = parser.parse_args(arguments)
    rows = [record(one) for one in EVERY if one.op.startswith(asked.only)]
    return Figures({"statuses": [*STATUSES]}, {"algorithms": rows})


def record(one: Unnamed) -> Record:
    """How often each verdict was given, and the gravest."""
    found, worst = look_at(one)
    gravest = next(status for status in GRAVEST if status in found)
    counts = {status: found.count(status) for status in STATUSES}
    return {
        "op": one.op, "about": one.about, "counts": counts, "worst": worst, "gravest": gravest,
        "adds_others": one.adds_others,
    }  # fmt: skip
