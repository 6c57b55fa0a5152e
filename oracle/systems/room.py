"""The factors that widen a bound for what its formula leaves out, each named by how much it covers.

A factor for k roundings covers their second order; a factor for k operations covers the error of float64 itself.
"""

from kfuzz.oracle.numbers.enclosure import ROUND_64

ROUNDINGS_16 = 1 + 2.0**-20
"""docs/numerics.md#room: a difference and its next rounding."""
ROUNDINGS_256 = 1 + 2.0**-16
"""docs/numerics.md#room: a function's own error, counted in units of u."""
ROUNDINGS_4096 = 1 + 2.0**-12
"""docs/numerics.md#room: an exp with its rounded argument."""
ROUNDINGS_16384 = 1 + 2.0**-10
"""docs/numerics.md#room: exponents that add up along a term's way."""

OPERATIONS_4 = 1 + 2.0**-50
"""docs/numerics.md#room: a size that is then compared with a power of two."""
OPERATIONS_128 = 1 + 2.0**-45
"""docs/numerics.md#room: a bound of a few products and one root."""
OPERATIONS_4096 = 1 + 2.0**-40
"""docs/numerics.md#room: a bound that contains one sum."""
OPERATIONS_4M = 1 + 2.0**-30
"""docs/numerics.md#room: the bound of a weighted mean, with its products of matrices."""
SUM_ROUND = ROUND_64
"""docs/numerics.md#float64-tier: a sum of exponentials and its bounds."""
PHASE_DOUBT = 2.0**-48
"""docs/numerics.md#measured-functions: a place in a sine's period, counted in turns."""

BALL_POINT = 2.0**-100
"""docs/numerics.md#room: the middle of two balls."""
BALL_SUM = 2.0**-90
"""docs/numerics.md#room: sums of balls, relative to the sum of their sizes."""
BALL_MEAN = 2.0**-80
"""docs/numerics.md#room: a weighted mean over balls."""
LONG_ERF = 2.0**-60
"""docs/numerics.md#room: an erf of 100 bits, written with 30 digits and read as an 80-bit number."""

NO_OVERFLOW = 1 - 2.0**-20
"""docs/numerics.md#overflow: below this part of the largest number no partial sum overflows."""
NO_OVERFLOW_OF_WEIGHTS = 1 - 2.0**-10
"""docs/numerics.md#overflow: the same for e v, whose weights are known only to e^(their errors)."""
