"""group_norm: y = (x - mean) / sqrt(var + eps) * w + b, with the mean and the variance of each group of channels.

An instance norm has one channel in each group. The variance is worked out by one of three algorithms; a kernel may
expand (x - mean) r to x r - mean r, or fold the rest into x (r w) + (b - mean (r w)).
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.normalizing import affine, over_places

INPUTS = {
    "x": "float[batch, groups, channels, places]", "w": "float[groups, channels]", "b": "float[groups, channels]",
}  # fmt: skip
OPTIONAL = {"w": 1.0, "b": 0.0, "channels": 1}
SCALARS = {"eps": 1e-5}
OUTPUTS = {"y": "float[batch, groups, channels, places]"}
ALSO = {"instance_norm": "group_norm(x[batch, groups, places], w[groups], b[groups])"}
FORMS = (
    "two pass", "welford", "moments", "two pass expanded", "welford expanded", "moments expanded",
    "two pass folded", "welford folded", "moments folded",
)  # fmt: skip


def formula(N: System, x: Quantity, w: Quantity, b: Quantity, eps: Quantity) -> Quantity:
    mean, var = over_places(N, x, 2)
    return affine(N, x, mean, N.rsqrt(var + eps), beside(w), beside(b))


def beside(v: Quantity) -> Quantity:
    """A number for each channel, beside its places."""
    return v[..., None]
