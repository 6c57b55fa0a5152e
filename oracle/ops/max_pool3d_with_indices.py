"""max_pool3d_with_indices: the maximum of each window, and its place in the volume of x.

Of equal ones any place is right, and a NaN may be dropped or kept, unless a claim says otherwise with `ties` and `nan`.
"""

import numpy as np

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.sliding import POOL_AXES, POOL_WHERE, POOLED, pool_places, pool_windows

INPUTS = {"x": "float[batch, channels, depth, height, width]"}
AXES = POOL_AXES
OUTPUTS = {"y": f"float{POOLED}", "index": f"int{POOLED}"}
WHERE = POOL_WHERE
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {
    "max_pool1d_with_indices": "max_pool3d_with_indices(x[batch, channels, width])",
    "max_pool2d_with_indices": "max_pool3d_with_indices(x[batch, channels, height, width])",
}


def formula(N: System, x: Quantity) -> dict[str, Quantity]:
    seen = pool_windows(N, x, -np.inf)
    return {"y": N.max(seen), "index": N.places(seen, pool_places(N, x.shape[-3:]))}
