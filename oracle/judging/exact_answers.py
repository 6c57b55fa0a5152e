"""The exact answer to any number of digits, by mpmath, independent of the arithmetic that judges."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.arrays import check_inputs

MOST_DIGITS = 100_000
"""With more digits every exp takes seconds."""


def want(op: str, inputs: Mapping[str, NDArray[Any]], digits: int = 50) -> dict[str, NDArray[np.object_]]:
    """Return the op's outputs as mpmath numbers with so many correct digits.

    40 guard bits cover the sums of 2^30 terms.
    """
    module = find(op)
    if not isinstance(digits, int) or not 1 <= digits <= MOST_DIGITS:
        raise OracleError(f"digits={digits!r}: expected an integer from 1 to {MOST_DIGITS}")
    given = check_inputs(op, module, inputs)
    for role, array in given.items():
        if not array.size:
            raise OracleError(f"{role} has shape {list(array.shape)}: expected at least one element")
    return module.compute(given, {}, bits=int(digits * 3.3219280948873626) + 40)
