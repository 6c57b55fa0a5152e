"""What is right: exact definitions, enclosures and verdicts for the ops that kernels compute.

Knows mathematics and float32; never CUDA, Hypothesis or anything of `fuzz`.
"""

from oracle.judge import judge
from oracle.op import OracleError, op_names
from oracle.rounding import EXPF, FAST_EXPF, Accuracy, ExpModel, Order
from oracle.verdict import Special, Verdict
from oracle.want import want

__all__ = [
    "EXPF",
    "FAST_EXPF",
    "Accuracy",
    "ExpModel",
    "OracleError",
    "Order",
    "Special",
    "Verdict",
    "judge",
    "op_names",
    "want",
]
