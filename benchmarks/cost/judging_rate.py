"""How many rows a second kfuzz judges: large batches and ordinary answers, one core alone and many at once.

    python -m benchmarks.cost measure judging_rate [--rows 65536] [--columns 128] [--cores 16]

Each op judges right float32 answers. One pass is an addition of two arrays of a slice, in float64: what a verdict costs
in passes does not depend on the speed of the memory.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measurement import Figures, Record
from kfuzz.common.malloc import keep_freed_memory
from kfuzz.common.numpy_threads import use_one_thread
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.judging.judge import enclose_answers, judge
from kfuzz.oracle.judging.slices import MOST_ELEMENTS, split_rows
from kfuzz.oracle.numbers.elements import F32, store, values
from kfuzz.oracle.numbers.enclosure import compare
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.independence import row_axes

Arrays = dict[str, NDArray[Any]]
OPS = (
    "row_sum", "logsumexp", "cross_entropy", "group_dequantize", "prefix_sum", "softmax", "log_softmax", "rms_norm",
    "softmax_backward", "layer_norm", "silu", "gelu", "swiglu", "sgemm", "group_quantize",
)  # fmt: skip
WHILE = 2.0
"""Seconds for which processes judge beside one another."""
ORDINARY = 32
"""The rows of an ordinary answer: with 128 columns some four thousand elements, as a trial has on average."""


def case_of(op: str, rows: int, columns: int) -> tuple[Arrays, Arrays]:
    """Normal numbers and the right answer; a matrix is multiplied with a square one."""
    module, rng = find(op), np.random.default_rng(8)
    names = {dimension for role in module.inputs.values() for dimension in role.dimensions}
    sizes = {name: rows if name in ("rows", "m") else columns for name in names if name.isidentifier()}
    sizes = module.add_axes(sizes, {})
    made = module.random_inputs(sizes, rng)
    given = {
        name: module.store_input(name, one, F32) if module.inputs[name].is_float else one.astype(np.int32)
        for name, one in made.items()
    }
    stored = {name: role.stored_as(F32) for name, role in module.outputs.items()}
    with np.errstate(all="ignore"):
        answers = module.compute(given, {})
    return given, {name: store(np.asarray(one, dtype=np.float64), stored[name]) for name, one in answers.items()}


def least_time(task: Callable[[], object], rounds: int) -> float:
    """The least processor time of some runs."""
    found = []
    for _ in range(rounds):
        began = time.process_time()
        task()
        found.append(time.process_time() - began)
    return min(found)


def enclose_only(op: str, given: Arrays, answers: Arrays, is_compared: bool) -> None:
    """A verdict's enclosures, by the first form; and the comparison of the answers with them."""
    module = find(op)
    claim = Accuracy(form=module.forms[0] if len(module.forms) > 1 else None)
    for _, asked, answered in split_rows(given, answers, row_axes(module), claim.ftz):
        enclosed = enclose_answers(module, asked, answered, claim, Special(), {})
        for name, one in enclosed.items() if is_compared else ():
            compare(values(answered[name]), one)


def of_op(op: str, rows: int, columns: int, rounds: int) -> Record:
    """What an op costs in one process."""
    given, answers = case_of(op, rows, columns)
    few = case_of(op, ORDINARY, columns)
    with np.errstate(all="ignore"):
        status = judge(op, given, answers).status
        whole = least_time(lambda: judge(op, given, answers), rounds)
        enclosing = least_time(lambda: enclose_only(op, given, answers, False), rounds)
        comparing = least_time(lambda: enclose_only(op, given, answers, True), rounds) - enclosing
        ordinary = least_time(lambda: [judge(op, *few) for _ in range(20)], rounds) / 20
    return {
        "op": op, "status": status, "seconds": whole, "enclosing": enclosing, "comparing": comparing,
        "ordinary": ordinary,
    }  # fmt: skip


def rows_a_second(op: str, rows: int, columns: int) -> float:
    """The rows that this process judges in a second by the clock, beside others: after a first verdict, for a while."""
    given, answers = case_of(op, rows, columns)
    judge(op, *case_of(op, ORDINARY, columns))
    began, count = time.perf_counter(), 0
    while not count or time.perf_counter() < began + WHILE:
        judge(op, given, answers)
        count += rows
    return count / (time.perf_counter() - began)


def seconds_of_a_pass() -> float:
    """One addition of two arrays of a slice, for each element."""
    a, b, c = (np.ones(MOST_ELEMENTS) for _ in range(3))
    return least_time(lambda: [np.add(a, b, out=c) for _ in range(1000)], 5) / 1000 / MOST_ELEMENTS


def measure(arguments: Sequence[str]) -> Figures:
    """Measure each op alone, then on all cores at once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1 << 16)
    parser.add_argument("--columns", type=int, default=128)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    asked = parser.parse_args(arguments)
    found = []
    context = get_context("spawn")
    with use_one_thread():
        with ProcessPoolExecutor(1, context, keep_freed_memory) as pool:
            a_pass = pool.submit(seconds_of_a_pass).result()
            for op in (one for one in OPS if one.startswith(asked.only)):
                found.append(pool.submit(of_op, op, asked.rows, asked.columns, asked.rounds).result())
                print(found[-1], file=sys.stderr, flush=True)
        with ProcessPoolExecutor(asked.cores, context, keep_freed_memory) as pool:
            for one in found:
                rates = [pool.submit(rows_a_second, one["op"], asked.rows, asked.columns) for _ in range(asked.cores)]
                one["together"] = sum(rate.result() for rate in rates)
                print(one, file=sys.stderr, flush=True)
    numbers = {"rows": asked.rows, "columns": asked.columns, "cores": asked.cores, "ordinary": ORDINARY, "pass": a_pass}
    return Figures(numbers, {"ops": found})
