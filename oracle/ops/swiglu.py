"""swiglu: y = silu(a) b, element by element."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "float[rows, cols]", "b": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("a / (1 + exp(-a))", "a sigmoid(a)")
SELDOM = {"a / 2 (1 + tanh(a / 2))": "tanh"}


def formula(N: System, a: Quantity, b: Quantity) -> Quantity:
    if N.form == "a / 2 (1 + tanh(a / 2))":
        gate = a * (0.5 + 0.5 * N.tanh(0.5 * a))
    else:
        gate = a * N.sigmoid(a) if N.form == "a sigmoid(a)" else a / (1.0 + N.exp(-a))
    return N.keep(gate, "gate") * b
