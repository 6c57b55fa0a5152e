"""A kernel file to start from: an existing kernel of the op, and every key that a claim may have.

Knows the kernels folder; never how a kernel is run.
"""

import re

from kfuzz.claims.kernel import Kernel, kernel_files, load
from kfuzz.claims.language.expression import GRAMMAR
from kfuzz.claims.language.kernel_file import read
from kfuzz.common.errors import TargetError
from kfuzz.oracle.judging.find_op import find, hint, is_op

REFERENCE = f"""
// ---------------------------------------------------------------------------------------------------------------
// Every key of a claim; delete this part when you are done. kfuzz reads a key that you leave out in the loosest sound
// way: it never reports a false positive, but detects less. docs/kernel-file.md has an example of every key.
//
// op        what the kernel computes: softmax, row_sum, gemm, ...; kfuzz op lists all
// axes      sizes for which it is right: "lo..hi", {{ min = 4, max = 4096, multiple = 4 }}, the powers of two
//           {{ min = 1, max = 1024, pow2 = true }}, or a list: cols = [128, 256]
// tune      launch parameters, lists of integers: it is right with any of them
// where     what goes together, conditions on axes and tune: ["cols == threads", "is_pow2(cols)", "threads <= cols"]
// let       derived sizes: {{ blocks = "ceil_div(n, threads)" }}
//           An expression has {GRAMMAR};
//           / rounds down. In `when` and `where` also comparisons, is_pow2(n), and, or, not.
// arrays    "f32[rows, cols] -> x" is the op's input x, "<- y" its output y, "-> x <- y" both in place; without an
//           arrow it is scratch, poisoned. What the host fills first is "u32[1] = 0" or "f32[rows] = -inf <- y".
//           An output that is only the beginning of a longer array: "f32[1 of blocks] <- y".
//           Elements: f32 f64 f16 bf16 i32 u32.
// align     bytes to which array bases are aligned at least; 256 when left out
// broken    {{ kind, severity, why }}: for a kernel that is wrong on purpose
//
// [[launch]]  one for each step, in order
// when      a condition on the sizes; the launch is left out where it does not hold
// entry     a __global__ function, or a template instance; {{threads}} in it stands for the value of that tune
//           parameter or listed axis: "block_sum<{{threads}}>"; left out, the file's only one
// grid      one to three expressions with commas between them; so is block
// shared    bytes of dynamic shared memory
// args      arrays, sizes and literals (128, "1.0f", "nullptr"), in the order of the function's parameters; a size is
//           converted to what the parameter is: int, size_t, float, ...
// call      instead of entry and args, one line of C++: "softmax<128>(Load{{x}}, Store{{y}}, rows, 1.0f / cols)"
//
// [host]      in place of [[launch]]: a function of the file that launches what it needs, with <<<>>>
// entry     the function; arrays are pointers to device memory
// args      as of a launch; call as well
// home      the sizes that it was written for: {{ rows = 16, cols = 1024 }}; they are tried again and again
//
// [accuracy]
// adds        on the way of one term into its sum lie at most so many additions: "ceil_div(cols, threads) + 10" for a
//             thread that adds up its share of a row, and a tree over 1024 threads. To add to a 0 that starts a sum is
//             exact and need not be counted
// rescales    a term is multiplied by an exp at most so many times, as an online softmax does where the maximum grows
//             and where partial sums meet; 0 where the maximum is known before the sum begins
// exp         "expf", "__expf", or [a0, kappa]: an error of (a0 + kappa |t|) 2^-24 in exp(t), none at 0 and -inf;
//             "exp2 scaled" for exp2f(fmaf(x, log2e, -m * log2e)), "__exp2f scaled" where it is by ex2.approx
// divide      "ieee" (e / s) or "reciprocal" (e * (1 / s)); "fast" and "fast reciprocal" where the division is
//             __fdividef, or the flags make it one
// accumulate  the type of the sum: "f32", "f64", or "compensated": by Kahan or Neumaier along each thread, and between
//             threads without loss (TwoSum). Sums of Kahan that are joined by plain additions are "f32", with those
//             additions and 4 more
// atomics     "global" where a sum passes through atomicAdd on floats in global memory, whose denormals a GPU flushes
// additions   "directed" where sums are rounded up, down or toward zero, as by __fadd_rz; each then errs as two do
// denominator "row", also where left out: one stored sum divides a whole row. "element": each thread divides by a sum
//             of its own, added up in an order of its own
// shift       what is subtracted from x below an exp. "running max": the maximum of some elements of the row, x among
//             them; where a greater one takes its place, the sum is multiplied by exp(old - new). That is every softmax
//             of the textbook, online or in passes: of a row 5, 1, 7 it first has exp(5 - 5) + exp(1 - 5), then
//             multiplies this by exp(5 - 7) and adds exp(7 - 7). "zero": nothing, exp(x) itself. Left out: anything
//             that is never below such an x, never falls, and is the row's maximum in the end
// shift_slack for a kernel that keeps none of these: by how much what is subtracted may be below such an x, or off the
//             maximum in the end; 8 where the sum is rescaled only once the maximum has grown by 8
// flags       compiler flags, such as ["-use_fast_math"]
//
// [values]
// finite      true leaves -inf out
// range       [-80, 80]: no finite value lies outside
// all_neg_inf "nan" or "zero": what a row of nothing but -inf gives
// nan         what a NaN does: "row" (the whole row is NaN), "ieee" (what the formula gives), "propagate" (as "ieee",
//             and a maximum over it is NaN); maxima of rows also "ignore"
// ties        "first", "last" or "any" of equal elements, of an op that answers with places
// pos_inf     "row" or "ieee" for +inf. Where left out, such rows are tried and reported, but never held against you
// ---------------------------------------------------------------------------------------------------------------
"""


OTHER_KERNEL = re.compile(r'^#include "[^"]*\.cu"', re.MULTILINE)
"""A file that has only a claim of its own: its function is in the file of another kernel."""


def template(op: str) -> str:
    """The shortest kernel of the op, complete and working, with the reference below it."""
    if not is_op(op):
        raise TargetError(f"{op}: unknown op{hint(op)}")
    name = find(op).name
    written = [path for path in kernel_files() if _is_of(read(path).values.get("op"), name)]  # checks take longer
    kernels = [kernel for kernel in map(load, written) if kernel.op == name and kernel.broken is None]
    kernels = [kernel for kernel in kernels if not OTHER_KERNEL.search(kernel.source)]
    if not kernels:
        raise TargetError(f"{op}: no kernel in the folder computes it, so there is no template")
    return min(kernels, key=source_length).source + REFERENCE


def _is_of(written: object, name: str) -> bool:
    """Whether what a claim says of its op means the op of that name."""
    return isinstance(written, str) and is_op(written) and find(written).name == name


def source_length(kernel: Kernel) -> int:
    return len(kernel.source)
