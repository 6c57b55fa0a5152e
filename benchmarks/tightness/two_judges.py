"""Judge rows twice, by intervals in float64 and by balls, and count the rows on which the two verdicts differ.

    python -m benchmarks.tightness measure two_judges [--seconds N] [--jobs J] [--kept FILE]

kfuzz keeps what float64 finds inside, and asks balls about what it finds outside; here balls judge every row. The cases
are those that kfuzz plans for its own right kernels, with their claims; a case with rows gets as many as make some
thousand elements. FILE, data/two_judges/sums.json, which git ignores, keeps the sums as they grow: the same command
goes on from there, and starts from nothing where there is none.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measurement import Figures, Record, machine, write_json
from benchmarks.tightness.definitions import BITS, DEFINITIONS, Balls, define
from benchmarks.tightness.judged_twice import Arrays, Counts, JudgedCase, judge_twice
from kfuzz.cases.plans.choose import Choose, seed_of, seeded_choices
from kfuzz.cases.plans.counting import elements
from kfuzz.cases.plans.plan import Attempt, plan, plan_at
from kfuzz.cases.plans.sizes import row_axis
from kfuzz.claims.kernel import Kernel, correct_kernel_files, load
from kfuzz.common.malloc import keep_freed_memory
from kfuzz.common.numpy_threads import use_one_thread
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BY_DTYPE, F32, F64, Element, store, values
from kfuzz.oracle.op.names import names_of
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.role import shape_output
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.systems.simulated import KernelManner, Simulated

KEPT = Path(__file__).parent / "data" / "two_judges" / "sums.json"
ELEMENTS, WORK = 6000, 1 << 15
"""The elements of a case that has rows, and the products of one: balls take 20 microseconds for each."""
LARGEST = 13
"""A row has up to 2^12 elements, all its inputs together."""
IN_FLOAT64 = 4
"""One case in so many is judged in float64, if the kernel computes in float32 alone."""
SAVED = 20.0
"""Seconds between two writes of the sums."""


def is_measured(kernel: Kernel) -> bool:
    """Whether the bounds of its op follow from a formula over its own arrays, whose values balls confirm."""
    op = find(kernel.op)
    is_number = all(role.is_float or role.is_grid for role in op.outputs.values())
    return is_number and not (op.gives_sets or op.views or op.draws or names_of(op).is_deep)


@cache
def measured_files() -> tuple[Path, ...]:
    """The files of all right kernels that are measured."""
    return tuple(path for path in correct_kernel_files() if is_measured(load(path)))


def case_with_rows(kernel: Kernel, choose: Choose) -> Attempt:
    """A case as a campaign plans it, with rows for some thousand elements if its op works by row."""
    found = plan(kernel, choose, 1 << choose(2, LARGEST), WORK)
    row, axes = row_axis(kernel), kernel.axes_of(found.case.arrays)
    if row is None or not axes[row]:
        return found
    each = max(1, elements(kernel, axes, found.tune) // axes[row])
    wanted = {**axes, row: max(kernel.axes[row].lo, min(kernel.axes[row].hi, ELEMENTS // each))}
    if not kernel.admits(wanted) or kernel.where.broken({**wanted, **found.tune}):
        return found
    return plan_at(kernel, wanted, found.tune, choose)


def right_answer(
    op: Op,
    given: Arrays,
    claim: Accuracy,
    scalars: Any,  # noqa: ANN401  those of any op
    stored: dict[str, Element],
    seed: int,
) -> Arrays:
    """What a simulated kernel of the claim's first form writes."""
    sizes = op.sizes_of(given, scalars)
    numbers = {name: values(a) if op.inputs[name].is_float else a for name, a in given.items()}
    form = op.forms_of(claim.form)[0]
    work = F64 if F64 in stored.values() else F32
    N = Simulated(claim, KernelManner(seed=seed), sizes, work, form, Places(sizes), stored)
    with np.errstate(all="ignore"):
        made = op.run(N, numbers, sizes, op.scalars_of(sizes, scalars))
    return {
        name: store(np.asarray(shape_output(one.x, op.outputs[name], sizes), dtype=np.float64), stored[name])
        for name, one in made.items()
    }


def in_float64(given: Arrays, rng: np.random.Generator) -> Arrays:
    """The same inputs with more bits."""
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return {
            name: a * (1 + 2.0**-30 * rng.standard_normal(a.shape)) if a.dtype == np.float32 else a
            for name, a in given.items()
        }


def look(path: Path, seed: int, moved: float = 0.0) -> tuple[str, Counts]:
    """Judge one case of a kernel twice; what it computes and in which type, and the counts."""
    kernel = load(path)
    op = find(kernel.op)
    choose = seeded_choices(seed_of("two judges", kernel.name, seed))
    attempt = case_with_rows(kernel, choose)
    bound = kernel.bind(attempt.case.arrays, attempt.tune)
    rng = np.random.default_rng(seed_of("answers", kernel.name, seed) & 0xFFFFFFFF)
    stored = {str(one.writes): one.element for one in kernel.arrays.values() if one.writes}
    given, claim = bound.given, bound.accuracy
    is_plain = all(one.element is F32 for one in kernel.arrays.values() if op.takes_any_float) and not claim.keep
    if seed % IN_FLOAT64 == IN_FLOAT64 - 1 and is_plain and op.takes_any_float and claim.accumulate == F32.name:
        given, stored = in_float64(given, rng), dict.fromkeys(stored, F64)
    right = right_answer(op, given, claim, bound.scalars, stored, seed)
    case = JudgedCase(op, given, claim, kernel.special, bound.scalars, moved)
    exact: list[Balls] = []
    if op.name in DEFINITIONS and not claim.rounds:
        numbers = {name: values(a) if op.inputs[name].is_float else a for name, a in given.items()}
        dimensions = {name: role.dimensions for name, role in op.inputs.items()}
        exact = define(op.name, numbers, dimensions, op.scalars_of(op.sizes_of(given, bound.scalars), bound.scalars))
        right = nearest_answer(right, exact) if seed % 2 == 0 else right
    with np.errstate(all="ignore"):
        counts = judge_twice(case, right, seed, exact)
    counts.of["cases"] += 1
    return f"{op.name} {', '.join(dict.fromkeys(one.name for one in stored.values()))}", counts


def nearest_answer(right: Arrays, exact: Sequence[Balls]) -> Arrays:
    """The numbers nearest to the exact values, where these are known."""
    ((name, array),) = right.items()
    x, element = values(array), BY_DTYPE[array.dtype]
    flat = x.reshape(len(exact), -1)
    for row, balls in enumerate(exact):
        if balls:
            flat[row] = [float(one.mid()) for one in balls]
    return {name: store(element.round(x), element)}


def read(kept: Path) -> tuple[dict[str, Counts], dict[str, Any]]:
    """The sums so far, and the numbers of the measurement."""
    if not kept.exists():
        return {}, {"tasks": 0, "failed": 0, "core seconds": 0.0, "machine": machine()}
    found = json.loads(kept.read_text(encoding="utf-8"))
    sums = {name: Counts(Counter(one["of"]), one["widest"], one["examples"]) for name, one in found["sums"].items()}
    return sums, found["numbers"]


def write(kept: Path, sums: dict[str, Counts], numbers: dict[str, Any]) -> None:
    """Write the sums, and nothing half."""
    of_ops = {name: {**vars(one), "of": dict(one.of)} for name, one in sorted(sums.items())}
    part = kept.with_suffix(".part")
    part.write_text(write_json({"numbers": numbers, "sums": of_ops}, 2), encoding="utf-8")
    part.replace(kept)


def timed(path: Path, seed: int) -> tuple[str, Counts, float]:
    """The same as `look`, with the processor time that it took."""
    began = time.process_time()
    name, counts = look(path, seed)
    return name, counts, time.process_time() - began


def run(seconds: float, jobs: int, kept: Path) -> None:
    """Judge case after case for so many seconds."""
    sums, numbers = read(kept)
    files, end, saved = measured_files(), time.monotonic() + seconds, time.monotonic()
    running: set[Future[tuple[str, Counts, float]]] = set()
    with use_one_thread(), ProcessPoolExecutor(jobs, get_context("spawn"), keep_freed_memory) as pool:
        while running or time.monotonic() < end:
            while len(running) < 2 * jobs and time.monotonic() < end:
                turn, number = divmod(numbers["tasks"], len(files))
                running.add(pool.submit(timed, files[number], turn))
                numbers["tasks"] += 1
            if time.monotonic() > end:
                running = {one for one in running if not one.cancel()}
            done, running = wait(running, SAVED, FIRST_COMPLETED)
            for one in done:
                if (error := one.exception()) is not None:
                    numbers["failed"] += 1
                    print(repr(error), file=sys.stderr, flush=True)
                    continue
                name, counts, took = one.result()
                sums.setdefault(name, Counts()).add(counts)
                numbers["core seconds"] += took
            if time.monotonic() > saved + SAVED:
                write(kept, sums, numbers)
                saved = time.monotonic()
    write(kept, sums, numbers)


def measure(arguments: Sequence[str]) -> Figures:
    """Go on for so many seconds, and return the sums of all cases so far."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.0, help="how long to go on; 0 returns the kept sums")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--kept", type=Path, default=KEPT, help="the file of the sums")
    asked = parser.parse_args(arguments)
    asked.kept.parent.mkdir(parents=True, exist_ok=True)
    if asked.seconds:
        run(asked.seconds, asked.jobs, asked.kept)
    sums, numbers = read(asked.kept)
    if not sums:
        parser.error(f"{asked.kept} has no sums yet: give --seconds")
    counted = sorted({what for one in sums.values() for what in one.of})
    rows: list[Record] = [
        {"name": name, "widest": one.widest, **{what: one.of[what] for what in counted}} for name, one in sums.items()
    ]
    return Figures({**numbers, "bits": BITS}, {"ops": rows}, numbers["machine"])
