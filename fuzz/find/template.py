"""A kernel file to start from: a real one of the op, and every key that a claim may have.

Knows the kernels folder; never how a kernel is run.
"""

from kfuzz.claims.expression import CONDITION_GRAMMAR
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.find.targets import TargetError
from kfuzz.oracle.op import op_names

REFERENCE = f"""
// ---------------------------------------------------------------------------------------------------------------
// All that a claim may say. What is left out is the loosest sound reading; delete this part when you are done.
//
// op        what the kernel computes: {", ".join(op_names())}
// axes      sizes for which it is right: "lo..hi" or {{ min = 4, max = 4096, multiple = 4 }}
// tune      launch parameters, lists of integers: it is right with any of them
// let       derived sizes: {{ blocks = "ceil_div(n, threads)" }}
//           An expression has {CONDITION_GRAMMAR.removesuffix(", comparisons, and, or, not")};
//           / rounds down. In `when` also comparisons, and, or, not.
// arrays    "f32[rows, cols] -> x" is the op's input x, "<- y" its output y, "-> x <- y" both in place; without an
//           arrow it is scratch, poisoned. What the host fills first is "u32[1] = 0" or "f32[rows] = -inf <- y".
//           Elements: f32 f64 f16 bf16 i32 u32.
// align     bytes to which array bases are aligned at least; 256 when left out
// broken    {{ kind, severity, why }}: only in a folder named broken, for a kernel that is wrong on purpose
//
// [[launch]]  one for each step, in order
// when      a condition on the sizes; the launch is left out where it does not hold
// entry     a __global__ function, or a template instance; {{threads}} in it stands for that tune parameter's value:
//           "block_sum<{{threads}}>"
// grid      one to three expressions with commas between them; so is block
// shared    bytes of dynamic shared memory
// args      arrays and sizes (C ints), in the order of the function's parameters
//
// [accuracy]
// adds        at most so many additions lie on a term's way into a sum; to add 0 is exact and need not count
// rescales    at most so many times is a term multiplied by an exp; 0 for three passes
// exp         "expf", "__expf", or [a0, kappa]: an error of (a0 + kappa |t|) 2^-24, and exactly 1 at 0 and 0 at -inf
// divide      "ieee" (e / s) or "reciprocal" (e * (1 / s)); "fast" and "fast reciprocal" where the division is
//             __fdividef, or the flags make it one
// accumulate  "f32", "f64", or "compensated" where every addition is (Kahan, Neumaier), also those between threads
// denominator "row", also where left out: one stored sum divides a whole row; "element" where threads sum on their own
//             and in orders of their own
// shift       "running max" where every exp is of the difference of two maxima, each of elements that the term is one
//             of: then no more exps err than greater values follow; "zero" where nothing is subtracted; left out,
//             anything that is never below a term it is subtracted from, never falls and ends at the true maximum
// shift_slack by how much it may be below such a term, or off the true maximum in the end; 0 when left out
// flags       compiler flags, such as ["-use_fast_math"]
//
// [values]
// finite      true leaves -inf out
// range       [-80, 80] bounds the finite values
// all_neg_inf "nan" or "zero": what a row of nothing but -inf gives
// nan         "row" (the whole row is NaN), "ieee" or "ignore"; so is pos_inf
// ---------------------------------------------------------------------------------------------------------------
"""


def template(op: str) -> str:
    """The shortest kernel of the op, whole and working, with the reference below it."""
    if op not in op_names():
        raise TargetError(f"{op}: unknown op; the oracle has {', '.join(op_names())}")
    kernels = [kernel for kernel in discover() if kernel.op == op and kernel.broken is None]
    if not kernels:
        raise TargetError(f"{op}: no kernel in the folder computes it, so there is none to start from")
    return min(kernels, key=length).source + REFERENCE


def length(kernel: Kernel) -> int:
    return len(kernel.source)
