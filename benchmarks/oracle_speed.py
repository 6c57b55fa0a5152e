"""How fast is a verdict? One softmax row judged, against mpmath at 200 bits, in one run.

A row of 1e7 must be judged in under 2 GB; mpmath is timed on at most 1e5 elements and taken as linear beyond.
"""

import resource
import subprocess
import sys
import time

import numpy as np

from kfuzz import oracle
from kfuzz.oracle.algorithms import three_pass
from kfuzz.oracle.number import Float32, Mpmath

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


if __name__ == "__main__":
    main()
