"""swiglu: y = silu(a) b, element by element."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "float[rows, cols]", "b": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("a / (1 + exp(-a))", "a sigmoid(a)")


def formula(N: System, a: Quantity, b: Quantity) -> Quantity:
    gate = a * N.sigmoid(a) if N.form == "a sigmoid(a)" else a / (1.0 + N.exp(-a))
    return N.keep(gate, "gate") * b
