"""gumbel_max: the token with the greatest logits / temperature - log(-log(u)), for given uniform numbers u.

A u of 0 is -inf as a Gumbel number: its token never wins against any other.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"logits": "float[rows, cols]", "u": "uniform[rows, cols]"}
OUTPUTS = {"token": "int[rows]"}
SCALARS = {"temperature": 1.0}


def formula(N: System, logits: Quantity, u: Quantity, temperature: Quantity) -> Quantity:
    return N.places(logits / temperature - N.log(-N.log(u)))
