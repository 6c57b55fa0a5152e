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

from kfuzz.oracle.errors import OracleError
from kfuzz.oracle.find import op_names
from kfuzz.oracle.judge import judge
from kfuzz.oracle.rounding import EXP2_SCALED, EXPF, FAST_EXP2_SCALED, FAST_EXPF, Accuracy, ExpModel, Order
from kfuzz.oracle.verdict import AnswerError, Special, Verdict
from kfuzz.oracle.want import want

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
