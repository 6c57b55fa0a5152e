"""avg_pool3d: y = the mean of each window; zeros beyond an end are counted, unless `exclude_pad` is 1."""

from kfuzz.oracle.systems.value import ABSENT, Quantity, System
from kfuzz.oracle.words.sliding import pool_places, pool_windows

INPUTS = {"x": "float[batch, channels, depth, height, width]"}
AXES = {
    "window_d": 1, "window_h": 1, "window_w": 2,
    "stride_d": "window_d", "stride_h": "window_h", "stride_w": "window_w",
    "pad_d": 0, "pad_h": 0, "pad_w": 0,
    "dilation_d": 1, "dilation_h": 1, "dilation_w": 1,
    "exclude_pad": 0,
}  # fmt: skip
OUTPUTS = {
    "y": "float[batch, channels, "
    "(depth + 2 * pad_d - dilation_d * (window_d - 1) - 1) // stride_d + 1, "
    "(height + 2 * pad_h - dilation_h * (window_h - 1) - 1) // stride_h + 1, "
    "(width + 2 * pad_w - dilation_w * (window_w - 1) - 1) // stride_w + 1]"
}
WHERE = (
    "depth + 2 * pad_d > dilation_d * (window_d - 1)", "2 * pad_d <= window_d",
    "height + 2 * pad_h > dilation_h * (window_h - 1)", "2 * pad_h <= window_h",
    "width + 2 * pad_w > dilation_w * (window_w - 1)", "2 * pad_w <= window_w",
    "exclude_pad <= 1",
)  # fmt: skip
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
