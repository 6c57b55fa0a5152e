"""The acceptance rules that are in use today, each rebuilt from its published description, on our mutants.

A rival is a set of inputs and a rule that accepts or rejects an answer. Each gets more than it has: sizes that the
kernel claims if its own are not claimed, values within a claimed range, whole answers from memory that was filled
with 1e38 before, and credit for every launch that crashes or never ends. Sizes are cut down to what a processor can
simulate; the rules are not touched.
Long, since it has a rule for each rival.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import Kernel
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import F32, I32
from kfuzz.oracle.numbers.enclosure import FLT_MAX

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Inputs = dict[str, Floats]
Accepts = Callable[[str, Floats, NDArray[np.floating]], bool]
Draw = Callable[[tuple[int, ...]], Doubles]
Shapes = list[tuple[int, int]]
Products = list[tuple[int, int, int]]


MATRICES = ("sgemm", "gemm", "attention", "causal_attention")
"""The ops of which a rival picks three sizes."""
BATCH = 2
WINDOW = 3
APART = 7919
"""The shift between the values of one input and the next: two equal inputs would hide a swap."""


def are_asked(kernel: Kernel) -> bool:
    """Whether rivals are asked: their tolerances are for float32, their sizes for rows, matrices and images."""
    named = [array for array in kernel.arrays.values() if array.reads or array.writes]
    has_sizes = len(kernel.axes) <= 2 or kernel.op in MATRICES or "height" in kernel.axes
    return has_sizes and all(array.element in (F32, I32) for array in named)


@dataclass(frozen=True)
class Rival:
    """One set of inputs, one rule, and where both are described.

    `precision` is that of the reference; `every_block`: all launch parameters are tried, not the usual one alone;
    `keeps_output`: the output array is not cleared between launches.
    """

    name: str
    source: str
    inputs: Callable[[Kernel], Iterator[Inputs]]
    accepts: Accepts
    precision: type[np.floating] = np.float32
    every_block: bool = False
    keeps_output: bool = False


def reference(
    kernel: Kernel, inputs: Mapping[str, Floats], precision: type[np.floating], tune: Mapping[str, int]
) -> dict[str, NDArray[np.floating]]:
    """What a framework computes for an op, in its own way and in this precision, of what this launch has to compute.

    For ops that are formulas it is the formula in double precision, rounded: more than a rival has.
    """
    with np.errstate(all="ignore"):
        op = find(kernel.op)
        if not op.gives_sets and kernel.op not in BY_HAND:
            sizes = kernel.sizes(kernel.axes_of(inputs), tune)
            exact = op.compute(kernel.stored(inputs), kernel.scalars_at(sizes))
            return {role: answer.astype(precision) for role, answer in exact.items()}
        return _by_hand(kernel.op, {role: array.astype(precision) for role, array in inputs.items()}, tune.get("k", 1))


BY_HAND = ("softmax", "row_sum", "sgemm")
"""Ops that are formulas and that a framework computes in an order of its own."""


def _by_hand(op: str, given: Mapping[str, NDArray[np.floating]], kept: int) -> dict[str, NDArray[np.floating]]:
    if op in ("safe_merge", "merge_all"):
        parts = ("m1", "s1"), ("m2", "s2")
        pairs = [(given[m], given[s]) for m, s in parts] if op == "safe_merge" else [(given["m"], given["s"])]
        maxima, sums = (np.stack(one) for one in zip(*pairs, strict=True))
        axis = 0 if op == "safe_merge" else 1
        top = maxima.max(axis)
        weights = np.exp(maxima - (top if axis == 0 else top[:, None]))
        return {"m": top, "s": (sums * weights).sum(axis)}
    if op == "sgemm":
        return {"c": given["a"] @ given["b"]}
    x = given["x"]
    if op == "transpose":
        return {"y": x.T}
    if op == "row_sum":
        return {"y": x.sum(1)}
    top = x.max(1)
    if op == "row_max":
        return {"y": top}
    if op in ("argmax", "top_k"):
        ranked = np.argsort(-x, axis=1, kind="stable")[:, :kept]
        if op == "argmax":
            return {"index": ranked[:, 0].astype(x.dtype)}
        return {"values": np.take_along_axis(x, ranked, 1), "indices": ranked.astype(x.dtype)}
    powers = np.exp(x - top[:, None])
    sums = powers.sum(1)
    return {"y": powers / sums[:, None]} if op == "softmax" else {"m": top, "s": sums}


# -- inputs ----------------------------------------------------------------------------------------------------------


def draw_inputs(kernel: Kernel, shapes: Shapes, products: Products, draws: list[Draw]) -> Iterator[Inputs]:
    """Inputs of these sizes, as far as the kernel claims them, by each draw; sums of states are 1 or more."""
    sizes: list[tuple[int, ...]] = list(products if kernel.op in MATRICES else shapes)
    seen = set()
    for wanted in sizes:
        axes = _axes(kernel, wanted)
        if tuple(axes.values()) in seen:
            continue
        seen.add(tuple(axes.values()))
        read = {array.reads: array.shape for array in kernel.arrays.values() if array.reads}
        for draw in draws:
            inputs = {}
            for place, (role, shape) in enumerate(read.items()):
                values = np.roll(draw(tuple(size(axes) for size in shape)), place * APART)
                if role in kernel.roles.integers:
                    inputs[role] = np.arange(values.size, dtype=np.float32).reshape(values.shape)
                else:
                    inputs[role] = _within(kernel, 1 + np.abs(values) if role.startswith("s") else values)
            yield dict(case_of(kernel.op, inputs).arrays)


def _axes(kernel: Kernel, wanted: tuple[int, ...]) -> dict[str, int]:
    """A rival's sizes as a kernel's axes; (m, n, k) of an attention are its rows, its keys and the length of both.

    Rows and columns are those of an image where there are images: few of them, and windows of 3 x 3.
    """
    if "keys" in kernel.axes:
        rows, keys, d = wanted
        keys = max(rows, keys) if kernel.where else keys
        axes = {"heads": BATCH, "rows": rows, "keys": keys, "d": d, "dv": d}
    elif "height" in kernel.axes:
        axes = dict.fromkeys(kernel.axes, BATCH) | dict(zip(("height", "width"), wanted, strict=True))
        axes |= dict.fromkeys(kernel.axes.keys() & {"kh", "kw"}, WINDOW)
    elif "batch" in kernel.axes:
        axes = {"batch": BATCH, **dict(zip(("m", "n", "k"), wanted, strict=True))}
    else:
        own = wanted if len(kernel.axes) > 1 else (wanted[0] * wanted[1],)
        axes = dict(zip(kernel.axes, own, strict=True))
    return {name: axis.near(axes[name]) for name, axis in kernel.axes.items()}


def _within(kernel: Kernel, values: Doubles) -> Floats:
    if kernel.finite:
        values = np.clip(np.nan_to_num(values), -FLT_MAX, FLT_MAX)
    if kernel.value_range is not None:
        values = np.clip(values, *kernel.value_range)
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def normal(seed: int, scale: float = 1.0) -> Draw:
    return lambda shape: np.random.default_rng(seed).normal(0.0, scale, shape)


def uniform(seed: int, lo: float, hi: float) -> Draw:
    return lambda shape: np.random.default_rng(seed).uniform(lo, hi, shape)


# -- rules -----------------------------------------------------------------------------------------------------------


def allclose(rtol: float, atol: float) -> Accepts:
    """torch.allclose: |got - want| <= atol + rtol |want|, infinities equal, NaN nowhere."""
    return lambda op, got, want: bool(np.allclose(got, want, rtol=rtol, atol=atol))


def kernelbench(kernel: Kernel) -> Iterator[Inputs]:
    """Five random tensors of one shape, torch.rand."""
    return draw_inputs(kernel, [(4, 16384)], [(48, 48, 48)], [uniform(seed, 0.0, 1.0) for seed in range(5)])


def llm_c(kernel: Kernel) -> Iterator[Inputs]:
    """Uniform in [-1, 1], one outlier in a row 20 times as large; a quarter of the vocabulary as row length."""

    def draw(shape: tuple[int, ...]) -> Doubles:
        generator = np.random.default_rng(0)
        values = np.atleast_2d(generator.uniform(-1.0, 1.0, shape))
        values[np.arange(len(values)), generator.integers(0, values.shape[1], len(values))] *= 20
        return values.reshape(shape)

    return draw_inputs(kernel, [(3, 12565)], [(48, 48, 48)], [draw])


def llm_c_accepts(op: str, got: Floats, want: NDArray[np.floating]) -> bool:
    """Not one element with |want - got| > 1e-4 (1e-1 for matrices) + |want| * FLT_EPSILON, which NaN never is."""
    near = 1e-1 if op == "sgemm" else 1e-4
    return not bool((np.abs(want - got) > near + np.abs(want) * np.finfo(np.float32).eps).any())


def opinfo(kernel: Kernel) -> Iterator[Inputs]:
    """The sample shapes of S = 5 and M = 10, values uniform in [-9, 9]."""
    shapes = [(1, 5), (5, 5), (50, 5), (5, 10), (10, 5), (1, 1), (25, 5)]
    products = [(5, 5, 5), (5, 5, 10), (10, 5, 5), (1, 5, 10), (10, 10, 5), (1, 1, 5)]
    return draw_inputs(kernel, shapes, products, [uniform(0, -9.0, 9.0)])


def hand_picked(kernel: Kernel) -> Iterator[Inputs]:
    """Cases as people write them: 1 2 3, one element, equal, negative, large, mixed and random ones."""
    shapes = [(1, 3), (1, 1), (1, 8), (4, 4), (2, 3), (16, 100)]
    products = [(2, 2, 2), (1, 1, 3), (3, 2, 1), (4, 4, 4), (2, 3, 4)]
    draws: list[Draw] = [
        lambda shape: np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape),
        lambda shape: np.full(shape, 5.0),
        np.zeros,
        lambda shape: -np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape),
        lambda shape: 1000.0 + np.arange(np.prod(shape)).reshape(shape) % 7,
        lambda shape: np.where(np.arange(np.prod(shape)) % 2, 10.0, -10.0).reshape(shape),
        normal(0),
    ]
    yield from draw_inputs(kernel, shapes, products, draws)
    yield from draw_inputs(kernel, [(1, 10000)], [(32, 48, 40)], [normal(1)])


def flashinfer_bench(kernel: Kernel) -> Iterator[Inputs]:
    """Workloads as served models have them: few rows, hidden sizes and slices of vocabularies, normal values."""
    shapes = [(1, 4096), (7, 1024), (34, 128), (1, 16032)]
    return draw_inputs(kernel, shapes, [(1, 128, 256), (7, 64, 256), (34, 64, 128)], [normal(0), normal(1, 3.0)])


def flashinfer_bench_accepts(_: str, got: Floats, want: NDArray[np.floating]) -> bool:
    """Rejects if the error is above 1e-2 and above 1e-2 of the reference, or if got is NaN and the reference is not."""
    with np.errstate(all="ignore"):
        error = np.abs(got - want)
        wrong = (error > 1e-2) & (error / (np.abs(want) + 1e-8) > 1e-2)
    return not bool((wrong | (np.isnan(got) & ~np.isnan(want))).any())


EDGES = (1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 2049)


def boundary(kernel: Kernel) -> Iterator[Inputs]:
    """Sizes at and beside the powers of two, normal values."""
    shapes = [(rows, cols) for cols in EDGES for rows in (1, 5)]
    products = [(m, n, k) for m, n, k in zip(EDGES[:12], EDGES[11::-1], EDGES[2:14], strict=True)]
    return draw_inputs(kernel, shapes, products, [normal(0)])


def adversarial(kernel: Kernel) -> Iterator[Inputs]:
    """Large, tiny, denormal, equal, alternating values, infinities and NaN, at one size."""

    def edited(base: Draw, value: float) -> Draw:
        def draw(shape: tuple[int, ...]) -> Doubles:
            values = base(shape).reshape(-1)
            values[len(values) // 3] = value
            return values.reshape(shape)

        return draw

    big = float(np.finfo(np.float32).max)
    draws: list[Draw] = [
        *(normal(0), normal(0, 1e4), normal(0, 1e-30), normal(0, 1e-40), uniform(0, -100.0, 100.0)),
        *(np.zeros, lambda shape: np.full(shape, 88.0), lambda shape: np.full(shape, -1e30)),
        lambda shape: np.where(np.arange(np.prod(shape)) % 2, big, -big).reshape(shape),
        *(edited(normal(0), value) for value in (big, -big, np.inf, -np.inf, np.nan)),
    ]
    return draw_inputs(kernel, [(4, 64), (3, 257)], [(16, 16, 16), (17, 33, 9)], draws)


ABSOLUTE = {"softmax": 1e-5, "row_max": 1e-6, "row_sum": 1e-3, "transpose": 0.0, "sgemm": 1e-3}


def absolute(op: str, got: Floats, want: NDArray[np.floating]) -> bool:
    """Every answer finite, and within the op's own distance of the reference in double precision."""
    with np.errstate(all="ignore"):
        near = np.abs(got - want) <= ABSOLUTE.get(op, 1e-3)
    return bool(near.all() and np.isfinite(got).all())


RIVALS = (
    Rival(
        "KernelBench",
        "github.com/ScalingIntelligence/KernelBench, src/eval.py: torch.allclose, 1e-4 in fp32, 5 trials",
        kernelbench,
        allclose(1e-4, 1e-4),
    ),
    Rival(
        "llm.c",
        "github.com/karpathy/llm.c, dev/cuda/common.h, validate_result; softmax_forward.cu",
        llm_c,
        llm_c_accepts,
        every_block=True,
        keeps_output=True,
    ),
    Rival(
        "torch.testing on OpInfo shapes",
        "github.com/pytorch/pytorch, torch/testing/_comparison.py (1.3e-6, 1e-5) and opinfo/core.py",
        opinfo,
        allclose(1.3e-6, 1e-5),
    ),
    Rival(
        "hand-picked cases (as LeetGPU)",
        "github.com/AlphaGPU/leetgpu-challenges, challenge.py: generate_functional_test, allclose 1e-5",
        hand_picked,
        allclose(1e-5, 1e-5),
    ),
    Rival(
        "flashinfer-bench",
        "github.com/flashinfer-ai/flashinfer-bench, correctness: abs > 1e-2 and rel > 1e-2",
        flashinfer_bench,
        flashinfer_bench_accepts,
    ),
    Rival(
        "gpuemu, boundary shapes",
        "gpuemu: fp64 reference, an absolute tolerance for each op",
        boundary,
        absolute,
        np.float64,
    ),
    Rival(
        "gpuemu, adversarial values",
        "gpuemu: the same with extreme values; a NaN fails",
        adversarial,
        absolute,
        np.float64,
    ),
)
