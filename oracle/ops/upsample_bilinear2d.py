"""upsample_bilinear2d: y is x between its places, along both axes, by lines.

Place i of an axis lies at (i + 0.5) height / out_h - 0.5, and no lower than 0; where `align_corners` is 1, at
i (height - 1) / (out_h - 1).
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.resizing import linear

INPUTS = {"x": "float[channels, height, width]"}
OPTIONAL = {"channels": 1, "height": 1}
AXES = {"out_h": "2 * height", "out_w": "2 * width", "align_corners": 0}
OUTPUTS = {"y": "float[channels, out_h, out_w]"}
WHERE = ("height >= 1", "width >= 1", "align_corners <= 1")


def formula(N: System, x: Quantity) -> Quantity:
    return linear(N, x, (N.size("out_h"), N.size("out_w")), bool(N.size("align_corners")))
