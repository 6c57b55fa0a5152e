"""The speed of a verdict on one softmax row, compared with mpmath at 200 bits.

A row of 1e7 must be judged in under 2 GB; mpmath is timed on at most 1e5 elements and taken as linear beyond. Then
formulas, compared with numpy's float64: seconds depend on the machine, their ratio depends on it less.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from kfuzz import oracle
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.proof.selfcheck.algorithms import three_pass
from kfuzz.oracle.proof.selfcheck.number import Float32, Mpmath

Arrays = Mapping[str, NDArray[np.float32]]
Doubles = NDArray[np.float64]

SIZES = (1_000, 100_000, 10_000_000)
MPMATH_MOST = 100_000
REPEATS = 5


def row(n: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """One row of normal numbers."""
    return np.random.default_rng(n).standard_normal((1, n)).astype(np.float32)


def seconds_to_judge(n: int) -> float:
    """The best of some runs of want, enclosure and verdict together; only one at the largest size."""
    x = row(n)
    y = three_pass(Float32(), x)
    best = float("inf")
    for _ in range(1 if n > MPMATH_MOST else REPEATS):
        start = time.perf_counter()
        verdict = oracle.judge("softmax", {"x": x}, {"y": y})
        best = min(best, time.perf_counter() - start)
        assert verdict.status == "kept", verdict
    return best


def seconds_of_mpmath(n: int) -> float:
    """The exact row in 200 bits."""
    N = Mpmath(200)
    x = row(min(n, MPMATH_MOST))
    start = time.perf_counter()
    three_pass(N, N.embed(x))
    return (time.perf_counter() - start) * n / x.shape[1]


def layer_norm(inputs: Arrays) -> Doubles:
    """The same in float64, as a person would write it."""
    x, w, b = (inputs[role].astype(np.float64) for role in "xwb")
    mean, var = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return np.asarray((x - mean) / np.sqrt(var + 1e-5) * w + b)


def causal_attention(inputs: Arrays) -> Doubles:
    q, k, v = (inputs[role].astype(np.float64) for role in "qkv")
    seen = np.tri(q.shape[1], dtype=np.bool_)
    s = np.where(seen, q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2]), -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.asarray(e @ v / e.sum(axis=-1, keepdims=True))


FORMULAS: dict[str, tuple[str, dict[str, tuple[int, ...]], Callable[[Arrays], Doubles], oracle.Accuracy]] = {
    "layer_norm, 1000 x 1000": (
        "layer_norm", {"x": (1000, 1000), "w": (1000,), "b": (1000,)}, layer_norm,
        oracle.Accuracy(adds=40, form="two pass", divide="ieee"),
    ),
    "the same by welford": (
        "layer_norm", {"x": (1000, 1000), "w": (1000,), "b": (1000,)}, layer_norm,
        oracle.Accuracy(adds=40, form="welford", divide="ieee"),
    ),
    "causal_attention, 512 x 64": (
        "causal_attention", dict.fromkeys("qkv", (1, 512, 64)), causal_attention,
        oracle.Accuracy(adds={"qk": 64, "*": 30}, rescales=16, form="divide last"),
    ),
}  # fmt: skip


def of_formula(name: str) -> str:
    """The best of some runs of each, in turns, so that both meet the same state of the machine."""
    op, shapes, plain, claim = FORMULAS[name]
    draw = np.random.default_rng(1)
    inputs = {role: draw.standard_normal(shape).astype(np.float32) for role, shape in shapes.items()}
    judged = alone = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        want = plain(inputs)
        middle = time.perf_counter()
        verdict = oracle.judge(op, inputs, dict.fromkeys(find(op).outputs, want.astype(np.float32)), claim)
        judged, alone = min(judged, time.perf_counter() - middle), min(alone, middle - start)
        assert verdict.status == "kept", verdict
    return f"{name:30} {judged:9.3f} {alone:12.4f} {judged / alone:9.1f}x"


def main() -> None:
    """Each size in a process of its own, so that its memory is its own."""
    if len(sys.argv) > 1:
        n = int(sys.argv[1])
        ours = seconds_to_judge(n)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        slow = seconds_of_mpmath(n)
        print(f"{n:>10} {ours * 1e3:12.2f} {slow * 1e3:14.1f} {slow / ours:9.0f}x {memory:10.2f}")
        return
    print(f"{'n':>10} {'judge, ms':>12} {'mpmath 200, ms':>14} {'ratio':>10} {'GB':>10}")
    for n in SIZES:
        subprocess.run([sys.executable, __file__, str(n)], check=True)
    print(f"\n{'formula':30} {'judge, s':>9} {'float64, s':>12} {'ratio':>10}")
    for name in FORMULAS:
        print(of_formula(name), flush=True)


if __name__ == "__main__":
    main()
