"""conv3d: y = the sum of x w over channels and window, + bias; strided, padded, dilated, in groups.

A kernel may multiply the zeros of the padding or leave them out: beside an infinite weight both are right.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.sliding import convolve

INPUTS = {
    "x": "float[batch, groups, channels, depth, height, width]",
    "w": "float[groups, filters, channels, kernel_d, kernel_h, kernel_w]",
    "bias": "float[groups, filters]",
}
OPTIONAL = {"bias": 0.0, "groups": 1}
AXES = {
    "stride_d": 1, "stride_h": 1, "stride_w": 1,
    "pad_d": 0, "pad_h": 0, "pad_w": 0,
    "dilation_d": 1, "dilation_h": 1, "dilation_w": 1,
}  # fmt: skip
OUTPUTS = {
    "y": "float[batch, groups, filters, "
    "(depth + 2 * pad_d - dilation_d * (kernel_d - 1) - 1) // stride_d + 1, "
    "(height + 2 * pad_h - dilation_h * (kernel_h - 1) - 1) // stride_h + 1, "
    "(width + 2 * pad_w - dilation_w * (kernel_w - 1) - 1) // stride_w + 1]"
}
WHERE = (
    "depth + 2 * pad_d > dilation_d * (kernel_d - 1)",
    "height + 2 * pad_h > dilation_h * (kernel_h - 1)",
    "width + 2 * pad_w > dilation_w * (kernel_w - 1)",
)
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {
    "conv1d": "conv3d(x[batch, channels, width], w[filters, channels, kernel_w], bias[filters])",
    "conv2d": "conv3d(x[batch, channels, height, width], w[filters, channels, kernel_h, kernel_w], bias[filters])",
    "grouped_conv1d": "conv3d(x[batch, groups, channels, width], "
    "w[groups, filters, channels, kernel_w], bias[groups, filters])",
    "grouped_conv2d": "conv3d(x[batch, groups, channels, height, width], "
    "w[groups, filters, channels, kernel_h, kernel_w], bias[groups, filters])",
    "depthwise_conv1d": "conv3d(x[batch, groups, width], w[groups, kernel_w], bias[groups])",
    "depthwise_conv2d": "conv3d(x[batch, groups, height, width], w[groups, kernel_h, kernel_w], bias[groups])",
}
FORMS = ("bias last", "sums start at bias")


def formula(N: System, x: Quantity, w: Quantity, bias: Quantity) -> Quantity:
    return convolve(N, x, w, bias)
