"""Every key of a claim: the table that it belongs to, what it means, and its words where it takes one of a few.

The readers of a claim refuse any other key and any other word. docs/kernel-file.md explains each.
Knows names; never how a value is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from kfuzz.oracle.elements import NARROW
from kfuzz.oracle.rounding import ACCUMULATORS, Atomics, Denominator, Divide, RoundedSums, Shift
from kfuzz.oracle.verdict import SpecialRow, Ties


@dataclass(frozen=True)
class Key:
    """A key of a table, in a sentence, and the words that it may have."""

    meaning: str
    words: tuple[str, ...] = ()


ENTRY = Key("the function, with its template arguments")
ARGS = Key("what the function is handed, in the order of its parameters; left out, the parameters by their names")
CALL = Key("function and arguments as one line of C++, in place of entry and args")
HOME = Key("the shape that the function was written for")

TOP: Mapping[str, Key] = {
    "op": Key("what the kernel computes: an op of the oracle, or a path to a formula"),
    "axes": Key("the sizes for which the kernel is right"),
    "tune": Key("launch parameters, each with the values that it may have"),
    "where": Key("conditions on axes and tune that hold wherever the kernel may be launched"),
    "let": Key("sizes and conditions that follow from others"),
    "arrays": Key("the arrays, each with its element type, shape and role"),
    "align": Key("the bytes to which the bases of arrays are aligned at least"),
    "warp_synchronous": Key("whether the kernel needs the lanes of a warp to go in step"),
    "launch": Key("the launches, in order"),
    "host": Key("a function of the file that makes the launches, in place of [[launch]]"),
    "accuracy": Key("how the kernel rounds"),
    "values": Key("the values for which the kernel is right"),
    "scalars": Key("constants of the kernel, in place of the op's own"),
    "broken": Key("what is wrong on purpose, in a kernel that must be found"),
}
LAUNCH: Mapping[str, Key] = {
    "entry": ENTRY,
    "args": ARGS,
    "call": CALL,
    "grid": Key("the blocks of the grid, along one to three axes"),
    "block": Key("the threads of a block, along one to three axes"),
    "shared": Key("the bytes of dynamic shared memory of a block"),
    "cluster": Key("the blocks of a cluster, along one to three axes"),
    "cooperative": Key("whether all blocks run at once"),
    "when": Key("the condition under which the launch is made"),
}
HOST: Mapping[str, Key] = {"entry": ENTRY, "args": ARGS, "call": CALL, "home": HOME}
CALLABLE: Mapping[str, Key] = {
    "entry": Key("the Python function"),
    "args": Key("what the function is called with"),
    "given": Key("parameters that are not arrays, by name"),
    "returns": Key("the outputs that the function returns"),
    "library": Key("the library whose arrays the function takes"),
    "strides": Key("whether arrays may have any strides", ("contiguous", "any")),
    "stream": Key("whether the function may work on any stream, or on the current one", ("any", "current")),
    "home": HOME,
    "reference": Key("the function of the file that says what is right"),
}
ACCURACY: Mapping[str, Key] = {
    "adds": Key("at most so many additions on the way of a term into its sum"),
    "rescales": Key("at most so many products of a term with an exp"),
    "exp": Key("the error of an exp"),
    "divide": Key("how a row is divided by its sum", get_args(Divide)),
    "accumulate": Key("the number format of sums", tuple(ACCUMULATORS)),
    "atomics": Key("whether a sum passes through atomicAdd on floats in global memory", get_args(Atomics)),
    "additions": Key("how an addition is rounded", get_args(RoundedSums)),
    "denominator": Key("whether one stored sum divides a whole row", get_args(Denominator)),
    "shift": Key("what is subtracted below an exp", get_args(Shift)),
    "shift_slack": Key("how far the shift may be from the true maximum"),
    "flags": Key("compiler flags that change the rounding"),
    "form": Key("which of the op's forms is computed"),
    "keep": Key("values that are held in a narrower format between two steps"),
    "operand": Key("the format in which a matrix product sees its operands", tuple(NARROW)),
    "shared": Key("the sums of which one stored value serves a whole row"),
    "functions": Key("the errors of functions, by name"),
}
VALUES: Mapping[str, Key] = {
    "finite": Key("whether -inf is left out"),
    "range": Key("the least and the greatest finite value"),
    "all_neg_inf": Key("what a row of nothing but -inf becomes", ("nan", "zero")),
    "nan": Key("what a NaN in a row does", get_args(SpecialRow)),
    "pos_inf": Key("what +inf in a row does", get_args(SpecialRow)),
    "ties": Key("which of equal elements is meant", get_args(Ties)),
}
BROKEN: Mapping[str, Key] = {
    "kind": Key("the kind of finding that must be reported"),
    "severity": Key("how grave it is"),
    "why": Key("one sentence that says what is wrong"),
}
TABLES: Mapping[str, Mapping[str, Key]] = {
    "": TOP, "launch": LAUNCH, "host": HOST, "call": CALLABLE, "accuracy": ACCURACY, "values": VALUES, "broken": BROKEN,
}  # fmt: skip
