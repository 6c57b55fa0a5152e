"""Ops that are formulas: how tight their bounds are, if correct kernels are inside, and which planted bugs are found.

    python -m benchmarks.tightness measure formulas [--jobs 16] [--seeds 2]

Simulated kernels of every form, format and order of addition, with the claim that fits them and with the claim that
says nothing, and a few kernels that follow no formula. "Bound / largest error" takes the worst element of each answer,
and the median of these; the other two take all elements with an error, some of which are hardly wrong.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from benchmarks.measurement import Figures, Record
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import F32, FORMATS
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.proof.simulations import CLAIMED, FormulaTally, check, depth
from kfuzz.oracle.systems.simulated import KernelManner, Simulated, SumOrder
from tests.oracle.selfcheck import independent, planted_formulas
from tests.oracle.selfcheck.planted_formulas import CRITERIA_OF_FORMULAS, PLANTED, PlantedShare
from tests.oracle.selfcheck.tasks import formula_ops

STORED = ("f32", "f16", "bf16", "f64")


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


def running_means(n: int, order: SumOrder) -> Record:
    """A variance by Welford or Chan on rows of mean 0: bound over error."""
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
    return {
        "n": n, "order": order, "median": float(np.nanmedian(factor)), "far": float(np.nanquantile(factor, 0.99)),
    }  # fmt: skip


def tightness(one: FormulaTally) -> Record:
    """The bounds of an op in a format over the errors; None where no answer has an error."""
    middle, far = (float(np.median(x)) if x else None for x in (one.factors, one.far))
    least = float(np.median(one.shares)) if one.shares else 0.0
    return {
        "name": one.name, "rows": one.rows, "unjudged": one.unjudged / max(one.elements, 1),
        "least": 1 / least if least else None, "median": middle, "far": far, "outside": one.outside + one.clashes,
    }  # fmt: skip


def shares(one: PlantedShare) -> Record:
    """The shares of the rows that each rule calls wrong."""
    return {
        "name": one.name, "rows": one.active, "caught": [count / max(one.active, 1) for count in one.caught.values()],
        "plain": one.plain, "seen": one.seen / max(one.plain, 1),
    }  # fmt: skip


def measure(arguments: Sequence[str]) -> Figures:
    """Check all ops, kernels, running means and planted bugs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args(arguments)
    began = time.monotonic()
    ops: list[Callable[[], FormulaTally]] = [
        partial(of_op, op.name, form, asked.seeds) for op in formula_ops() for form in STORED
    ]
    ops += [partial(of_kernel, name) for name in independent.KERNELS]
    bugs = [partial(of_bugs, name, form) for name in PLANTED for form in ("f32", "f16", "bf16")]
    means = [partial(running_means, n, order) for n in (33, 257, 4097) for order in ("sequential", "strided", "tree")]
    with ProcessPoolExecutor(asked.jobs) as pool:
        tight = [pool.submit(task) for task in ops]
        planted = [pool.submit(task) for task in bugs]
        mean = [pool.submit(task) for task in means]
        bugs_seen = [one.result() for one in planted]
        tables = {
            "ops": [tightness(one.result()) for one in tight], "means": [one.result() for one in mean],
            "bugs": [shares(one) for one in bugs_seen],
        }  # fmt: skip
    accused = [sum(one.accused[name] for one in bugs_seen) for name in CRITERIA_OF_FORMULAS]
    numbers = {
        "criteria": [*CRITERIA_OF_FORMULAS], "right": sum(one.right for one in bugs_seen), "accused": accused,
        "numpy": np.__version__, "processes": asked.jobs, "seconds": time.monotonic() - began,
    }  # fmt: skip
    return Figures(numbers, tables)
