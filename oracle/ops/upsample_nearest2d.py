"""upsample_nearest2d: each element of y is that of x at floor(i height / out_h), floor(j width / out_w), exactly.

Where a kernel's float32 quotient may fall on either side of an integer, both neighbours are right.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.resizing import nearest

INPUTS = {"x": "float[channels, height, width]"}
OPTIONAL = {"channels": 1, "height": 1}
AXES = {"out_h": "2 * height", "out_w": "2 * width"}
OUTPUTS = {"y": "float[channels, out_h, out_w]"}
WHERE = ("height >= 1", "width >= 1")
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}


def formula(N: System, x: Quantity) -> Quantity:
    return nearest(N, x, (N.size("out_h"), N.size("out_w")))
