"""Which wrong steps the bounds see, beside tolerances: 20 of KernelBench's problems, each with every one-step mutant.

    python -m benchmarks.tightness measure mutants [--only L1/23]

A mutant is the formula in float64 with one step changed as people get it wrong, or the right answer from inputs of
fewer digits, or with one element of a thousand off. Its answer is stored in float32 and judged under a claim that says
nothing: outside of all forms of the op is suspect, and outside of any rearrangement of it is broken.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measurement import Figures, Record
from kfuzz.oracle import Accuracy, Special
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.bounds.rearranged import loosest_ends
from kfuzz.oracle.diagnosis.mutated import StepChange, WrongSystem
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.judging.judge import judge_op
from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.op.op import Op, read_op
from kfuzz.oracle.op.role import shape_output
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.op.spelling import in_own_arrays
from kfuzz.oracle.words.normalizing import affine_channels, in_groups
from kfuzz.oracle.words.sliding import conv

Numbers = NDArray[Any]
RNG = np.random.default_rng(5)
CLAIMED = Special(nan="ieee", pos_inf="ieee")
TOLERANCES = (1e-4, 1e-2)
DIGITS = {"inputs in bfloat16": 8, "inputs in tf32 or f16": 11}
OFF = {"one element in 1000 off by 1e-4": 1e-4, "one element in 1000 off by 1e-5": 1e-5}


def normal(*shape: int) -> Numbers:
    return RNG.standard_normal(shape).astype(np.float32)


def positive(*shape: int) -> Numbers:
    return (0.5 + RNG.random(shape)).astype(np.float32)


class Problem:
    """A problem: its op, over the op's own arrays, and its inputs, of which the first is moved for the second table."""

    def __init__(self, name: str, op: Op | str, inputs: dict[str, Numbers]) -> None:
        self.name = name
        self.op, self.inputs, _ = in_own_arrays(find(op) if isinstance(op, str) else op, inputs, {})


@dataclass
class Seen:
    """How many mutants of a problem there are and who sees them; the loosest bound's width by that of the forms."""

    mutants: int = 0
    suspect: int = 0
    broken: int = 0
    close: list[int] = field(default_factory=lambda: [0] * len(TOLERANCES))
    widths: list[float] = field(default_factory=list)


def written(name: str, inputs: dict[str, str], output: str, formula: Callable[..., Any]) -> Op:
    """An op of a formula that stands here."""
    return read_op(name, SimpleNamespace(INPUTS=inputs, OUTPUTS={"y": output}, formula=formula))


def conv_relu_bias(N: Any, x: Any, w: Any, b: Any, c: Any) -> Any:  # noqa: ANN401  any system
    return N.maximum(conv(N, x, w, b, (1, 1), (0, 0), (1, 1), 1, "conv"), 0.0) + c.reshaped(-1, 1, 1)


def mish(N: Any, x: Any) -> Any:  # noqa: ANN401  any system
    return x * N.tanh(N.maximum(x, 0.0) + N.log1p(N.exp(-abs(x))))


def clamp_lse_mish(N: Any, x: Any, w: Any, b: Any) -> Any:  # noqa: ANN401  any system
    y = N.minimum(N.maximum(N.matmul(x, w.T, "k", (b,)) * 2.0, -10.0), 10.0)
    m = N.shift(y)
    total = m + N.log(N.sum(N.exp(y - m), "sum"))
    return total * mish(N, total)


def swish_bias_group_norm(N: Any, x: Any, w: Any, b: Any, c: Any) -> Any:  # noqa: ANN401  any system
    y = N.matmul(x, w.T, "k", (b,))
    y = y * N.sigmoid(y) + c
    mean, var = in_groups(N, y, 4)
    return (y - mean) * N.rsqrt(var + 1e-5)


def gemm_scale_batch_norm(N: Any, x: Any, w: Any, b: Any, s: Any, m: Any, v: Any) -> Any:  # noqa: ANN401  any system
    return affine_channels(N, N.matmul(x, w.T, "k", (b,)) * s, m, N.rsqrt(v + 1e-5), None, None)


def conv_mish_batch_norm(N: Any, x: Any, w: Any, b: Any, m: Any, v: Any) -> Any:  # noqa: ANN401  any system
    y = mish(N, conv(N, x, w, b, (1, 1), (0, 0), (1, 1), 1, "conv"))
    return affine_channels(N, y, m.reshaped(-1, 1, 1), N.rsqrt(v + 1e-5).reshaped(-1, 1, 1), None, None)


def gelu_softmax(N: Any, x: Any, w: Any, b: Any) -> Any:  # noqa: ANN401  any system
    y = N.matmul(x, w.T, "k", (b,))
    y = 0.5 * y * (1.0 + N.erf(y * 0.7071067811865476))
    e = N.exp(y - N.shift(y))
    return e / N.sum(e, "sum")


def problems() -> Iterator[Problem]:
    """Twenty problems of levels 1 and 2, made small."""
    rows, image = {"x": normal(24, 64)}, {"x": normal(2, 4, 10, 10)}
    conv_ = {**image, "w": 0.2 * normal(8, 4, 3, 3)}
    linear = {"x": normal(16, 64), "w": 0.1 * normal(32, 64), "b": 0.1 * normal(32)}
    affine = {"w": normal(4), "b": normal(4)}
    grouped = {"x": normal(2, 2, 2, 100), "w": normal(2, 2), "b": normal(2, 2)}
    one, two, three = "float[n, k]", "float[n, c]", "float[n, o, (h - i) + 1, (w - j) + 1]"
    dense = {"x": one, "w": "float[c, k]", "b": "float[c]"}
    filters = {"x": "float[n, q, h, w]", "w": "float[o, q, i, j]", "b": "float[o]"}
    yield Problem("L1/1 matmul", "sgemm", {"a": normal(24, 64), "b": normal(64, 24)})
    for name, op in (("23 softmax", "softmax"), ("24 log_softmax", "log_softmax"), ("26 gelu", "gelu")):
        yield Problem(f"L1/{name}", op, dict(rows))
    channels = {"x": image["x"].reshape(2, 4, 100), "mean": normal(4), "var": positive(4), **affine}
    yield Problem("L1/33 batch_norm (eval)", "batch_norm", channels)
    yield Problem("L1/34 instance_norm", "instance_norm", {"x": channels["x"], **affine})
    yield Problem("L1/35 group_norm", "group_norm", grouped)
    yield Problem("L1/36 rms_norm", "rms_norm", {**rows, "w": normal(64)})
    yield Problem(
        "L1/39 l2_norm", written("l2", {"x": one}, one, lambda N, x: x / N.sqrt(N.dot(x, x, "s"))), dict(rows)
    )
    yield Problem("L1/40 layer_norm", "layer_norm", {**rows, "w": normal(64), "b": normal(64)})
    yield Problem("L1/45 avg_pool", "avg_pool2d", dict(image))
    yield Problem("L1/50 conv2d", "conv2d", {**conv_, "bias": 0.1 * normal(8)})
    yield Problem("L1/89 cumsum", "prefix_sum", dict(rows))
    yield Problem("L1/97 attention", "attention", {n: normal(2, 12, 16) for n in ("q", "k", "v")})
    made = written("conv_relu_bias", {**filters, "c": "float[o]"}, three, conv_relu_bias)
    yield Problem("L2/1 conv relu bias", made, {**conv_, "b": 0.1 * normal(8), "c": normal(8)})
    made = written("clamp_lse_mish", dense, "float[n, 1]", clamp_lse_mish)
    yield Problem("L2/22 matmul scale clamp lse mish", made, dict(linear))
    roles = {"x": one, "w": "float[32, k]", "b": "float[32]", "c": "float[32]"}  # groups of eight
    made = written("swish_bias_group_norm", roles, "float[n, 32]", swish_bias_group_norm)
    yield Problem("L2/37 matmul swish bias group_norm", made, {**linear, "c": normal(32)})
    running = {"m": normal(32), "v": positive(32)}
    roles = {**dense, **dict.fromkeys(("s", "m", "v"), "float[c]")}
    made = written("gemm_scale_batch_norm", roles, two, gemm_scale_batch_norm)
    yield Problem("L2/39 gemm scale batch_norm", made, {**linear, "s": normal(32), **running})
    made = written("conv_mish_batch_norm", {**filters, "m": "float[o]", "v": "float[o]"}, three, conv_mish_batch_norm)
    yield Problem("L2/52 conv mish batch_norm", made, {**conv_, "b": 0.1 * normal(8), "m": normal(8), "v": positive(8)})
    yield Problem("L2/99 matmul gelu softmax", written("gelu_softmax", dense, two, gelu_softmax), dict(linear))


def run(op: Op, inputs: dict[str, Numbers], changed: StepChange | None) -> tuple[Numbers, dict[StepChange, str]]:
    """The answer with one step changed, and the changes that there are."""
    sizes = op.sizes_of(inputs)
    N = WrongSystem(sizes, op.forms[0] if op.forms else "", Places(sizes), changed)
    wide = {name: one.astype(np.float64) for name, one in inputs.items()}
    ((name, made),) = op.run(N, wide, sizes, op.scalars_of(sizes, {})).items()
    return np.array(shape_output(made.x, op.outputs[name], sizes)), N.offered


def cut(x: Numbers, digits: int) -> Numbers:
    """Numbers of so many digits."""
    fraction, exponent = np.frexp(x)
    return np.ldexp(np.rint(fraction * 2.0**digits) / 2.0**digits, exponent)


def mutants(op: Op, inputs: dict[str, Numbers], want: Numbers, offered: dict[StepChange, str]) -> Iterator[Numbers]:
    """The answers that differ from the right one."""
    for changed in offered:
        yield run(op, inputs, changed)[0]
    for digits in DIGITS.values():
        yield run(op, {name: cut(one, digits) for name, one in inputs.items()}, None)[0]
    for by in OFF.values():
        made = want.copy()
        made.reshape(-1)[::1000] *= 1 + by
        yield made


def look_at(problem: Problem, moved: float) -> Seen:
    """Judge all mutants of a problem whose first input is moved by so much."""
    first = next(iter(problem.inputs))
    inputs = {**problem.inputs, first: problem.inputs[first] + np.float32(moved)}
    inputs = {name: one.astype(np.float32) for name, one in inputs.items()}
    want, offered = run(problem.op, inputs, None)
    (output,) = problem.op.outputs
    found = Seen(widths=widths(problem.op, inputs, output))
    for made in mutants(problem.op, inputs, want, offered):
        if np.allclose(made, want, rtol=1e-12, atol=0, equal_nan=True):  # float64's own roundings: no step is wrong
            continue
        stored = made.astype(np.float32)
        verdict = judge_op(problem.op, inputs, {output: stored}, Accuracy(), CLAIMED, {}, None)
        found.mutants += 1
        found.suspect += verdict.is_outside
        found.broken += verdict.status == "broken"
        for place, tolerance in enumerate(TOLERANCES):
            found.close[place] += not np.allclose(made, want, rtol=tolerance, atol=tolerance)
    return found


def widths(op: Op, inputs: dict[str, Numbers], output: str) -> list[float]:
    """The width of the loosest bound by that of the forms' bounds, for each element that a form may round."""
    tight = enclose(op, inputs, Accuracy(), Special(), {}, {output: F32})[output]
    loosest = loosest_ends(op, inputs, Accuracy(), {}, {output: F32})
    if loosest is None:
        return []
    lo, hi = np.minimum(loosest[output][0], tight.lo), np.maximum(loosest[output][1], tight.hi)
    with np.errstate(all="ignore"):
        ratio, is_rounded = (hi - lo) / (tight.hi - tight.lo), tight.hi - tight.lo > F32.u * np.abs(tight.want)
    return [float(one) for one in ratio[np.isfinite(ratio) & is_rounded]]


@np.errstate(all="ignore")
def measure(arguments: Sequence[str]) -> Figures:
    """Judge the mutants of each problem, at both places."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a problem's name, or the beginning of one")
    asked = parser.parse_args(arguments)
    every = [one for one in problems() if one.name.startswith(asked.only)]
    return Figures({"tolerances": [*TOLERANCES]}, {
        name: [record(problem, moved) for problem in every] for name, moved in (("normal", 0.0), ("moved", 10.0))
    })  # fmt: skip


def record(problem: Problem, moved: float) -> Record:
    """The counts of one problem; the ratios are None where no form may round."""
    seen = look_at(problem, moved)
    middle, far = np.quantile(seen.widths, (0.5, 0.9)).tolist() if seen.widths else (None, None)
    return {
        "problem": problem.name, "mutants": seen.mutants, "suspect": seen.suspect, "broken": seen.broken,
        "close": seen.close, "median": middle, "far": far,
    }  # fmt: skip
