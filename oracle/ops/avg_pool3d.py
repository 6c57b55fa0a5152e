"""avg_pool3d: y = the mean of each window; zeros beyond an end are counted, unless `exclude_pad` is 1."""

from kfuzz.oracle.systems.value import ABSENT, Quantity, System
from kfuzz.oracle.words.sliding import POOL_AXES, POOL_WHERE, POOLED, pool_places, pool_windows

INPUTS = {"x": "float[batch, channels, depth, height, width]"}
AXES = {**POOL_AXES, "exclude_pad": 0}
OUTPUTS = {"y": f"float{POOLED}"}
WHERE = (*POOL_WHERE, "exclude_pad <= 1")
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {
    "avg_pool1d": "avg_pool3d(x[batch, channels, width])",
    "avg_pool2d": "avg_pool3d(x[batch, channels, height, width])",
}


def formula(N: System, x: Quantity) -> Quantity:
    seen = pool_windows(N, x, ABSENT)
    if not N.size("exclude_pad"):
        return N.mean(seen, "window")
    count = (pool_places(N, x.shape[-3:]) >= 0).sum(axis=-1, keepdims=True)
    return N.sum(seen, "window") / N.input(count)
