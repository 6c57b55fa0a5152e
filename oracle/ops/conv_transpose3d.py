"""conv_transpose3d: each x adds x w to a window of y; the windows are a stride apart. + bias.

A kernel may multiply the zeros between the places of x, or leave them out; they cost no rounding.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.sliding import convolve_transposed

INPUTS = {
    "x": "float[batch, groups, channels, depth, height, width]",
    "w": "float[groups, channels, filters, kernel_d, kernel_h, kernel_w]",
    "bias": "float[groups, filters]",
}
OPTIONAL = {"bias": 0.0, "groups": 1}
AXES = {
    "stride_d": 1, "stride_h": 1, "stride_w": 1,
    "pad_d": 0, "pad_h": 0, "pad_w": 0,
    "dilation_d": 1, "dilation_h": 1, "dilation_w": 1,
    "output_pad_d": 0, "output_pad_h": 0, "output_pad_w": 0,
}  # fmt: skip
OUTPUTS = {
    "y": "float[batch, groups, filters, "
    "(depth - 1) * stride_d - 2 * pad_d + dilation_d * (kernel_d - 1) + output_pad_d + 1, "
    "(height - 1) * stride_h - 2 * pad_h + dilation_h * (kernel_h - 1) + output_pad_h + 1, "
    "(width - 1) * stride_w - 2 * pad_w + dilation_w * (kernel_w - 1) + output_pad_w + 1]"
}
WHERE = (
    "(depth - 1) * stride_d + dilation_d * (kernel_d - 1) + output_pad_d >= 2 * pad_d",
    "(height - 1) * stride_h + dilation_h * (kernel_h - 1) + output_pad_h >= 2 * pad_h",
    "(width - 1) * stride_w + dilation_w * (kernel_w - 1) + output_pad_w >= 2 * pad_w",
)
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {
    "conv_transpose1d": "conv_transpose3d(x[batch, channels, width], w[channels, filters, kernel_w], bias[filters])",
    "conv_transpose2d": "conv_transpose3d(x[batch, channels, height, width], "
    "w[channels, filters, kernel_h, kernel_w], bias[filters])",
    "grouped_conv_transpose1d": "conv_transpose3d(x[batch, groups, channels, width], "
    "w[groups, channels, filters, kernel_w], bias[groups, filters])",
    "grouped_conv_transpose2d": "conv_transpose3d(x[batch, groups, channels, height, width], "
    "w[groups, channels, filters, kernel_h, kernel_w], bias[groups, filters])",
    "depthwise_conv_transpose1d": "conv_transpose3d(x[batch, groups, width], w[groups, kernel_w], bias[groups])",
    "depthwise_conv_transpose2d": "conv_transpose3d(x[batch, groups, height, width], "
    "w[groups, kernel_h, kernel_w], bias[groups])",
}
FORMS = ("bias last", "sums start at bias")


def formula(N: System, x: Quantity, w: Quantity, bias: Quantity) -> Quantity:
    return convolve_transposed(N, x, w, bias)
