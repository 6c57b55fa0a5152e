"""The oracle: exact definitions, enclosures and verdicts for the ops that kernels compute.

It knows mathematics and float32; it knows nothing of CUDA, Hypothesis or the rest of kfuzz.

It judges any answer, whatever computed it, as plain float32 arrays:

>>> import numpy as np
>>> from kfuzz import oracle
>>> x = np.array([[0.0, 1.0, 2.0], [-np.inf, 3.0, 3.0]], dtype=np.float32)
>>> y = np.array([[0.09003057, 0.24472848, 0.66524094], [0.0, 0.5, 0.4999]], dtype=np.float32)
>>> verdict = oracle.judge("softmax", {"x": x}, {"y": y}, accuracy=oracle.Accuracy(adds=3, rescales=0))
>>> verdict.status, verdict.worst.index, str(verdict.extent.pattern)
('broken', (1, 2), 'tail, 2')
>>> oracle.judge("softmax", {"x": x[0]}, {"y": y[0]}).check().status  # check raises unless it is kept
'kept'
>>> print(oracle.want("softmax", {"x": x}, digits=30)["y"][0, 0])
0.090030573170380457998022101...
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kfuzz.oracle.accuracy.rounding import EXP2_SCALED, EXPF, FAST_EXP2_SCALED, FAST_EXPF, Accuracy, ExpModel, Order
    from kfuzz.oracle.judging.exact_answers import want
    from kfuzz.oracle.judging.find_op import op_names
    from kfuzz.oracle.judging.judge import judge
    from kfuzz.oracle.numbers.errors import OracleError
    from kfuzz.oracle.numbers.verdict import AnswerError, Special, Verdict

__all__ = [
    "EXP2_SCALED",
    "EXPF",
    "FAST_EXP2_SCALED",
    "FAST_EXPF",
    "Accuracy",
    "AnswerError",
    "ExpModel",
    "OracleError",
    "Order",
    "Special",
    "Verdict",
    "judge",
    "op_names",
    "want",
]

_MODULES = {
    "numbers.errors": ("OracleError",),
    "judging.exact_answers": ("want",),
    "judging.find_op": ("op_names",),
    "judging.judge": ("judge",),
    "accuracy.rounding": ("EXP2_SCALED", "EXPF", "FAST_EXP2_SCALED", "FAST_EXPF", "Accuracy", "ExpModel", "Order"),
    "numbers.verdict": ("AnswerError", "Special", "Verdict"),
}
_HOMES = {name: f"kfuzz.oracle.{module}" for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a module at the first use of its name: each worker process imports `elements` and not the arithmetic."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
