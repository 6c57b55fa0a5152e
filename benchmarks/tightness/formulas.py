"""Ops that are formulas: how tight their bounds are, if correct kernels are inside, and which planted bugs are found.

    python -m benchmarks.tightness.formulas [--jobs 16] [--seeds 2]

Simulated kernels of every form, format and order of addition, with the claim that fits them and with the claim that
says nothing, and a few kernels that follow no formula. "Bound / largest error" takes the worst element of each answer,
and the median of these; the other two take all elements with an error, some of which are hardly wrong.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial

import numpy as np

from kfuzz.oracle.elements import F32, FORMATS
from kfuzz.oracle.find import find
from kfuzz.oracle.question import enclose
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.selfcheck import independent, planted_formulas
from kfuzz.oracle.selfcheck.formulas import CLAIMED, FormulaTally, check, depth, formula_ops
from kfuzz.oracle.selfcheck.planted_formulas import CRITERIA_OF_FORMULAS, PLANTED, PlantedShare
from kfuzz.oracle.shapes import Places
from kfuzz.oracle.systems.simulated import KernelManner, Simulated, SumOrder

STORED = ("f32", "f16", "bf16", "f64")
BUGS = """The share of the rows on which a bug shows that each rule calls wrong. A bug shows if a bit of the answer
differs from the correct kernel's. On a plain row some element lies beyond the answers of eight correct kernels,
which add in other orders and whose functions have other errors; on the other rows no rule can be certain.
"Declared" is a claim with every sum's additions, and every function's error as it was measured on a GPU. For the
rarest detections, still tighter errors change nothing: if a row is large, an eps beside the root moves it by less
than the error of its own sum, and if one key has nearly all the weight, neither a scale that is off by 1e-3
nor narrow weights show beyond the error of the scores."""
LITERATURE = "V-ABFT gives 7 to 20 times the error in f32, 48 to 158 times in bf16"


def of_op(name: str, form: str, seeds: int) -> FormulaTally:
    """One op in one format."""
    op = find(name)
    with np.errstate(all="ignore"):
        return check(op, FORMATS[form], quick=False, seeds=seeds)


def of_kernel(name: str) -> FormulaTally:
    """A kernel that follows no formula."""
    with np.errstate(all="ignore"):
        return independent.check_kernel(name, quick=False)


def of_bugs(name: str, form: str) -> PlantedShare:
    """The planted bugs of one op in one format."""
    return planted_formulas.count_bugs_of(name, FORMATS[form], (33, 130, 257))


def running_means(n: int, order: SumOrder) -> tuple[int, str, float, float, float]:
    """A variance by Welford or Chan on rows of mean 0: bound over error, and R12 before it was sharpened."""
    x = np.random.default_rng(n).standard_normal((200, n)).astype(np.float32)
    adds = depth(order, n)
    claim = Accuracy(adds=adds, form="welford", divide="ieee")
    op = find("variance")
    sizes = op.sizes_of({"x": x})
    N = Simulated(claim, KernelManner(order, "none"), sizes, F32, "welford", Places(sizes))
    with np.errstate(all="ignore"):
        got = op.run(N, {"x": x.astype(np.float64)}, sizes, {})["y"].x[:, 0]
        bounds = enclose(op, {"x": x}, claim, CLAIMED)["y"]
    error = np.abs(got - bounds.want)
    factor = np.maximum(bounds.hi - bounds.want, bounds.want - bounds.lo) / np.where(error > 0, error, np.nan)
    exact = x.astype(np.float64)
    squares = exact.var(axis=1) * n
    deep = max(1.0, np.log2(n) / 2)
    delta = (adds + 4) * 2.0**-24 * np.abs(exact).max(axis=1)
    before = (squares * (adds + 6) * 2.0**-24 + 4 * delta * np.sqrt(n * deep * squares) + n * deep * delta**2) / n
    return (
        n,
        order,
        float(np.nanmedian(factor)),
        float(np.nanquantile(factor, 0.99)),
        float(np.nanmedian(before / error)),
    )


def tightness(found: Iterator[FormulaTally]) -> Iterator[str]:
    """The table of bounds over errors, and its sums."""
    yield "| op, format | rows | not judged | bound / largest error | bound / error: median | 99th percentile |" + (
        " outside |"
    )
    yield "|---|---|---|---|---|---|---|"
    rows = outside = 0
    for one in found:
        wrong = one.outside + one.clashes
        rows, outside = rows + one.rows, outside + wrong
        middle, far = (f"{float(np.median(x)):.3g}" if x else "-" for x in (one.factors, one.far))
        share = one.unjudged / max(one.elements, 1)
        least = f"{1 / float(np.median(one.shares)):.3g}" if one.shares and np.median(one.shares) else "-"
        yield f"| {one.name} | {one.rows} | {share:.2%} | {least} | {middle} | {far} | {wrong} |"
    yield f"\n{rows} rows, {outside} of them outside."


def shares(found: Iterator[PlantedShare]) -> Iterator[str]:
    """The table of planted bugs, and its sums."""
    yield f"| op, format | rows on which a bug shows | {' | '.join(CRITERIA_OF_FORMULAS)} | plain rows | and joint |"
    yield "|---|---|" + "---|" * (len(CRITERIA_OF_FORMULAS) + 2)
    accused, right = dict.fromkeys(CRITERIA_OF_FORMULAS, 0), 0
    kept: dict[str, list[float]] = {name: [] for name in CRITERIA_OF_FORMULAS}
    plain: list[float] = []
    for one in found:
        part = {name: count / max(one.active, 1) for name, count in one.caught.items()}
        plain.append(one.seen / max(one.plain, 1))
        shown = " | ".join(f"{share:.0%}" for share in part.values())
        yield f"| {one.name} | {one.active} | {shown} | {one.plain} | {plain[-1]:.0%} |"
        right += one.right
        for name, share in part.items():
            kept[name].append(share)
            accused[name] += one.accused[name]
    means = " | ".join(f"{float(np.mean(of)):.0%}" for of in kept.values())
    yield f"| mean | | {means} | | {float(np.mean(plain)):.0%} |"
    yield f"| right rows accused | of {right} | {' | '.join(map(str, accused.values()))} | | |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    began = time.monotonic()
    ops: list[Callable[[], FormulaTally]] = [
        partial(of_op, op.name, form, asked.seeds) for op in formula_ops() for form in STORED
    ]
    ops += [partial(of_kernel, name) for name in independent.KERNELS]
    bugs = [partial(of_bugs, name, form) for name in PLANTED for form in ("f32", "f16", "bf16")]
    means = [partial(running_means, n, order) for n in (33, 257, 4097) for order in ("sequential", "strided", "tree")]
    print(
        f"# Bounds of formulas\n\n{__doc__}\n{date.today()}, Python {platform.python_version()}, numpy {np.__version__}"
    )
    with ProcessPoolExecutor(asked.jobs) as pool:
        tight = [pool.submit(task) for task in ops]
        planted = [pool.submit(task) for task in bugs]
        mean = [pool.submit(task) for task in means]
        print(f"\n## How tight\n\nFor comparison, from the literature: {LITERATURE}.\n")
        print("\n".join(tightness(one.result() for one in tight)), flush=True)
        print("\n## Running means at mean 0\n\nA variance by Welford or Chan, 200 rows of N(0, 1).\n")
        print(
            "| n | order | bound / error: median | 99th percentile | R12 as it was first derived: median |\n"
            + "|---" * 5
            + "|"
        )
        for one in mean:
            n, order, middle, far, before = one.result()
            print(f"| {n} | {order} | {middle:.3g} | {far:.3g} | {before:.3g} |", flush=True)
        print(f"\n## Planted bugs\n\n{BUGS}\n")
        print("\n".join(shares(one.result() for one in planted)))
    print(f"\n{time.monotonic() - began:.0f} s, {asked.jobs} processes.")


if __name__ == "__main__":
    main()
