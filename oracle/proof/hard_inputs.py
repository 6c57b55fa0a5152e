"""Inputs to test the enclosures of formulas: rows for which each rule was made, by the kind of op.

A new op gets normal numbers of several scales; an op that is named here also gets inputs that are hard for it.
Long, since it has the rows of each kind of op.
"""

from collections.abc import Callable

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.proof.hard_rows import family_rows

Inputs = dict[str, Reals]
InputMaker = Callable[[int, int, bool], Inputs]


def moment_rows(n: int, seed: int, narrow: bool) -> Reals:
    """Rows that are hard for a mean and a variance: large means, tiny spreads, spikes, denormals, constants."""
    rng = np.random.default_rng([n, seed])
    place = np.arange(n)

    def normal() -> Reals:
        return rng.standard_normal(n)

    big = 200.0 if narrow else 1e4
    found = [
        normal(), normal() * 1e-3 + 1, normal() + big / 10, normal() + big, normal() * 1e-2 + big / 3,
        np.full(n, 0.1), np.full(n, -3.3e3), np.where(place == rng.integers(n), 50.0, normal()),
        np.where(place == n - 1, 3e4, 0.01 * normal()), np.where(place % 2 == 0, 1.0, -1.0) * (1 + 1e-3 * normal()),
        1e-40 * normal(), 1e-20 * normal(), 1e-7 * normal(), 10.0 ** rng.uniform(-4, 4, n) * rng.choice([-1, 1], n),
        np.linspace(-30, 5, n), np.zeros(n), rng.choice([1.0, 1.0 + 2.0**-10], n), rng.uniform(0, 1, n),
        np.sort(normal()),
    ]  # fmt: skip
    if not narrow:
        found += [1e15 * normal(), 1e7 + normal(), 16777216 + np.rint(2 * normal()), 1e-30 * (1 + 1e-3 * normal())]
    return np.stack(found)


def points(n: int, seed: int, narrow: bool) -> Reals:
    """Arguments of an activation: dense where it bends, and every kind of edge."""
    rng = np.random.default_rng([n, seed])
    edges = [0, -0.0, np.inf, -np.inf, np.nan, 88, -88, -90, -104, 3e38, -3e38, 1e-40, -1e-40, 0.5, 1, -1]
    x = np.concatenate(
        [np.linspace(-12, 12, 400), rng.standard_normal(60 * max(n, 5)), 1e-4 * rng.standard_normal(50), edges]
    )
    return x[: len(x) // 2 * 2].reshape(2, -1)


def weights(n: int, seed: int) -> Reals:
    return np.random.default_rng([n, seed, 7]).standard_normal(n)


def _probabilities(n: int, seed: int, narrow: bool) -> Inputs:
    x = family_rows(n, seed).astype(np.float64)
    x = x[np.isfinite(x).any(axis=1)]
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y = e / e.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    g = rng.standard_normal(y.shape)
    g[::3], g[1::7] = g[::3] * 1e-3 + 5, 2.5
    return {"y": y, "g": g}


def _labelled(n: int, seed: int, narrow: bool) -> Inputs:
    x = family_rows(n, seed)
    return {"x": x, "labels": np.random.default_rng(seed).integers(0, n, len(x))}


def _matrices(n: int, seed: int) -> tuple[Reals, Reals, Reals]:
    rng = np.random.default_rng([n, seed])
    a = rng.standard_normal((7, n)) * 10.0 ** rng.integers(-2, 3, (7, 1))
    b = rng.standard_normal((n, 5))
    if n > 2:
        b[:, -1] = np.where(np.arange(n) % 2 == 0, 1, -1)
        a[0] = 1 + 1e-3 * a[0]
    return a, b, rng.standard_normal((7, 5))


def _gemm(n: int, seed: int, narrow: bool) -> Inputs:
    a, b, c = _matrices(n, seed)
    return {"a": a[None], "b": b[None], "c0": c[None], "bias": weights(5, seed)}


def _sgemm(n: int, seed: int, narrow: bool) -> Inputs:
    a, b, _ = _matrices(n, seed)
    return {"a": a, "b": b}


def _gemv(n: int, seed: int, narrow: bool) -> Inputs:
    a, b, c = _matrices(n, seed)
    return {"a": a, "x": b[:, 0], "y0": c[:, 0]}


def scores(n: int, seed: int, narrow: bool) -> Inputs:
    """Attention of twelve kinds, as many heads: plain, sharp, offset, V far from 0, V nearly constant, spikes, rising,
    and scores whose last digit is more than 1.
    """
    rng = np.random.default_rng([n, seed])
    queries, d, large = min(n, 9), 8, 1e3 if narrow else 1e7

    def normal(*shape: int) -> Reals:
        return rng.standard_normal(shape)

    kinds = [
        (normal(queries, d), normal(n, d), normal(n, d)), (3 * normal(queries, d), 3 * normal(n, d), normal(n, d)),
        (normal(queries, d) + 2, normal(n, d) + 2, normal(n, d)),
        (0.1 * normal(queries, d), 0.1 * normal(n, d), normal(n, d) + 30),
        (2 * normal(queries, d), 2 * normal(n, d), np.full((n, d), 7.0) + 1e-3 * normal(n, d)),
        (np.zeros((queries, d)), normal(n, d), normal(n, d)),
        (np.abs(normal(queries, d)), np.sort(normal(n, d), axis=0), normal(n, d)),
        (normal(queries, d), normal(n, d), normal(n, d) * 10.0 ** rng.integers(-3, 3, (n, 1))),
        (normal(queries, d) + 8, 0.05 * normal(n, d) + 8, normal(n, d)),
        (large * normal(queries, d), normal(n, d), normal(n, d)),
        (np.full((queries, d), large), np.sort(rng.integers(0, 2, (n, d)), axis=0), normal(n, d)),
    ]  # fmt: skip
    q, k, v = normal(queries, d), normal(n, d), normal(n, d)
    k[-1] += 4 * np.sign(q[0])
    v[-1] = 100
    kinds.append((q, k, v))
    return {role: np.stack([kind[i] for kind in kinds]) for i, role in enumerate("qkv")}


def _masked(n: int, seed: int, narrow: bool) -> Inputs:
    made = scores(n, seed, narrow)
    rng = np.random.default_rng(seed)
    mask = np.where(rng.random((made["q"].shape[1], n)) < 0.3, -np.inf, rng.standard_normal((made["q"].shape[1], n)))
    mask[:, 0] = 0
    return {**made, "mask": mask}


CODES = 448.0
"""The largest number of e4m3, in which codes are stored here."""


def _narrow_kv(n: int, seed: int, narrow: bool) -> Inputs:
    made = scores(n, seed, narrow)
    scales = np.random.default_rng([n, seed, 8]).uniform(0.1, 3, (2, len(made["q"]), 1))
    codes = {role: np.clip(made[role], -CODES, CODES) for role in "kv"}
    return {**made, **codes, "scale_k": scales[0], "scale_v": scales[1]}


def _scaled_gemm(n: int, seed: int, narrow: bool, depth: int = 0) -> Inputs:
    a, b, _ = _matrices(n, seed)
    blocks = -(-n // depth) if depth else 1
    rng = np.random.default_rng([n, seed, 8])
    made = {"a": np.clip(a, -CODES, CODES), "b": b}
    return {**made, "scale_a": rng.uniform(0.1, 3, (7, blocks)), "scale_b": rng.uniform(0.1, 3, (blocks, 5))}


def _two_level_gemm(n: int, seed: int, narrow: bool) -> Inputs:
    return {**_scaled_gemm(n, seed, narrow, 16), "overall": np.array([0.037])}


def _weight_only(n: int, seed: int, narrow: bool) -> Inputs:
    a, b, _ = _matrices(n, seed)
    scale = np.random.default_rng([n, seed, 8]).uniform(0.1, 3, (-(-n // 128), 5))
    return {"x": a, "w": np.rint(8 * b), "scale": scale}


def _weight_only_zeros(n: int, seed: int, narrow: bool) -> Inputs:
    made = _weight_only(n, seed, narrow)
    return {**made, "zero": np.random.default_rng([n, seed, 9]).integers(0, 16, made["scale"].shape).astype(np.float64)}


def _paged(n: int, seed: int, narrow: bool) -> Inputs:
    """Attention whose keys lie in pages of one or three, the last page first, and a page that is not used."""
    made = scores(n, seed, narrow)
    page = 3 if n % 3 == 0 else 1
    used = n // page
    for role in "kv":
        heads, _, cols = made[role].shape
        pages = np.clip(made[role], -CODES, CODES).reshape(heads, used, page, cols)[:, ::-1]
        made[role] = np.concatenate([pages, np.full((heads, 1, page, cols), 200.0)], axis=1)
    table = np.arange(used)[::-1]
    return {**made, "table": table, "scale_k": np.array([0.75]), "scale_v": np.array([3.1])}


def _scaled(n: int, seed: int, narrow: bool) -> Inputs:
    x = family_rows(n, seed)
    rng = np.random.default_rng(seed)
    mask = np.where(rng.random(x.shape) < 0.2, -np.inf, 0.0)
    mask[:, 0] = 0
    return {"x": x, "mask": mask}


def _causal(n: int, seed: int, narrow: bool) -> Inputs:
    rng = np.random.default_rng(seed)
    high = min(n, 9)
    return {
        "x": rng.standard_normal((4, high, n)) * np.array([1, 10, 1e-3, 40])[:, None, None]
        + np.array([0, 3, 20, -30])[:, None, None]
    }


def _rotary(n: int, seed: int, narrow: bool) -> Inputs:
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 6.3, (9, n))
    return {
        "x": rng.standard_normal((9, 2 * n)) * 10.0 ** rng.integers(-3, 4, (9, 1)),
        "cos": np.cos(angle),
        "sin": np.sin(angle),
    }


def _dequantize(n: int, seed: int, narrow: bool) -> Inputs:
    rng = np.random.default_rng(seed)
    return {
        "q": rng.integers(-128, 128, (9, n)),
        "scale": 10.0 ** rng.uniform(-3, 1, 9),
        "zero": rng.integers(-128, 128, 9),
    }


def _channels(n: int, seed: int, narrow: bool) -> Inputs:
    """Channels that are hard for a mean and a variance, with running values near the batch's and far from them."""
    n = max(n, 2)  # one element has no unbiased variance
    x = moment_rows(n, seed, narrow)
    rng = np.random.default_rng([n, seed])
    near = rng.random(len(x)) < 0.5
    mean, var = np.where(near, x.mean(axis=1), 1.0), np.where(near, x.var(axis=1), 1.0)
    return {"x": x[None], "mean": mean, "var": var, "w": weights(len(x), seed), "b": weights(len(x), seed + 1)}


def _channels_in_training(n: int, seed: int, narrow: bool) -> Inputs:
    made = _channels(n, seed, narrow)
    return {"running_mean": made.pop("mean"), "running_var": made.pop("var"), **made}


def _groups(n: int, seed: int, narrow: bool) -> Inputs:
    x = moment_rows(n, seed, narrow)
    x = np.stack([x, x[::-1]], axis=1)
    return {"x": x[None], "w": weights(x[..., 0].size, seed).reshape(-1, 2), "b": np.zeros((len(x), 2))}


def _saved(n: int, seed: int, narrow: bool) -> Inputs:
    """Rows that are hard for a mean and a variance, with both as a layer norm has saved them, and gradients."""
    x = moment_rows(n, seed, narrow)
    g = np.random.default_rng([n, seed]).standard_normal(x.shape)
    return {"x": x, "mean": x.mean(axis=1), "rstd": 1 / np.sqrt(x.var(axis=1) + 1e-5), "w": weights(n, seed), "g": g}


def _saved_squares(n: int, seed: int, narrow: bool) -> Inputs:
    made = _saved(n, seed, narrow)
    made.pop("mean")
    return {**made, "rstd": 1 / np.sqrt((made["x"] ** 2).mean(axis=1) + 1e-6)}


def _saved_channels(n: int, seed: int, narrow: bool) -> Inputs:
    made = _saved(n, seed, narrow)
    return {**made, "x": made["x"][None], "g": made["g"][None], "w": weights(len(made["x"]), seed)}


def _saved_scores(n: int, seed: int, narrow: bool) -> Inputs:
    """Queries, keys and values with the answer and the logarithms that attention has saved."""
    made = scores(n, seed, narrow)
    s = made["q"] @ np.swapaxes(made["k"], -1, -2) / np.sqrt(made["q"].shape[-1])
    m = s.max(axis=-1, keepdims=True)
    e = np.exp(s - m)
    total = e.sum(axis=-1, keepdims=True)
    o = e / total @ made["v"]
    g = np.random.default_rng([n, seed]).standard_normal(o.shape)
    return {**made, "o": o, "lse": (m + np.log(total))[..., 0], "g": g}


def _probable(n: int, seed: int, narrow: bool) -> Inputs:
    """Probabilities of all sizes, beside targets between 0 and 1."""
    rng = np.random.default_rng([n, seed])
    x = 10.0 ** rng.uniform(-4, 0, n)
    return {"x": np.where(rng.random(n) < 0.5, x, 1 - x), "t": np.round(rng.random(n), 3) * (rng.random(n) < 0.8)}


def _log_probable(n: int, seed: int, narrow: bool) -> Inputs:
    made = _probable(n, seed, narrow)
    return {**made, "x": np.log(made["x"])}


MAKERS: dict[str, InputMaker] = {
    "attention": scores, "causal_attention": scores, "masked_attention": _masked, "grouped_attention": scores,
    "paged_kv_attention": _paged, "narrow_kv_attention": _narrow_kv,
    "scaled_gemm": _scaled_gemm, "two_level_gemm": _two_level_gemm,
    "weight_only_gemm": _weight_only, "weight_only_gemm_zeros": _weight_only_zeros,
    "causal_softmax": _causal, "column_softmax": lambda n, s, f: {"x": family_rows(n, s).T.copy()},
    "cross_entropy": _labelled, "dequantize": _dequantize, "gemm": _gemm, "gemv": _gemv, "sgemm": _sgemm,
    "gelu": lambda n, s, f: {"x": points(n, s, f)}, "gelu_tanh": lambda n, s, f: {"x": points(n, s, f)},
    "silu": lambda n, s, f: {"x": points(n, s, f)},
    "swiglu": lambda n, s, f: {"a": points(n, s, f), "b": points(n, s, f)[:, ::-1].copy()},
    "batch_norm": _channels, "batch_norm_train": _channels_in_training, "group_norm": _groups,
    "bce_loss": _probable, "kl_div_loss": _log_probable,
    "layer_norm": lambda n, s, f: {"x": moment_rows(n, s, f), "w": weights(n, s), "b": weights(n, s + 1)},
    "rms_norm": lambda n, s, f: {"x": moment_rows(n, s, f), "w": weights(n, s)},
    "mean": lambda n, s, f: {"x": moment_rows(n, s, f)}, "variance": lambda n, s, f: {"x": moment_rows(n, s, f)},
    "l2_norm": lambda n, s, f: {"x": moment_rows(n, s, f)}, "row_sum": lambda n, s, f: {"x": moment_rows(n, s, f)},
    "prefix_sum": lambda n, s, f: {"x": moment_rows(n, s, f)},
    "exclusive_prefix_sum": lambda n, s, f: {"x": moment_rows(n, s, f)},
    "rotary": _rotary, "scaled_softmax": _scaled, "softmax": lambda n, s, f: {"x": family_rows(n, s)},
    "log_softmax": lambda n, s, f: {"x": family_rows(n, s)}, "logsumexp": lambda n, s, f: {"x": family_rows(n, s)},
    "softmax_backward": _probabilities, "layer_norm_backward": _saved, "rms_norm_backward": _saved_squares,
    "batch_norm_backward": _saved_channels, "attention_backward": _saved_scores,
}  # fmt: skip


def inputs_for(op: Op, n: int, seed: int, narrow: bool) -> Inputs:
    """The named inputs of an op, or normal numbers for one that is not named."""
    if op.name in MAKERS:
        return MAKERS[op.name](n, seed, narrow)
    rng = np.random.default_rng([n, seed])
    sizes = op.small_sizes(n)
    return op.random_inputs(sizes, rng)
