"""adaptive_max_pool3d_with_indices: the maximum of each of `out` parts of an axis, and its place in the volume of x.

Part i of `out` parts of n places goes from floor(i n / out) to ceil((i + 1) n / out), so parts may share a place. Of
equal ones any place is right, and a NaN may be dropped or kept, unless a claim says otherwise with `ties` and `nan`.
"""

import numpy as np

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.sliding import adaptive_places, adaptive_windows, sizes_named

INPUTS = {"x": "float[batch, channels, depth, height, width]"}
AXES = {"out_d": 1, "out_h": 1, "out_w": 1}
OUTPUTS = {
    "y": "float[batch, channels, out_d, out_h, out_w]", "index": "int[batch, channels, out_d, out_h, out_w]",
}  # fmt: skip
WHERE = ("depth >= 1", "height >= 1", "width >= 1")
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {
    "adaptive_max_pool1d_with_indices": "adaptive_max_pool3d_with_indices(x[batch, channels, width]) -> "
    "y[batch, channels, out_w], index[batch, channels, out_w]",
    "adaptive_max_pool2d_with_indices": "adaptive_max_pool3d_with_indices(x[batch, channels, height, width]) -> "
    "y[batch, channels, out_h, out_w], index[batch, channels, out_h, out_w]",
}


def formula(N: System, x: Quantity) -> dict[str, Quantity]:
    seen, _ = adaptive_windows(N, x, -np.inf)
    return {"y": N.max(seen), "index": N.places(seen, adaptive_places(x.shape[-3:], sizes_named(N, "out")))}
