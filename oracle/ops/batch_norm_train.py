"""batch_norm_train: y = (x - mean) / sqrt(var + eps) * w + b with the batch's own mean and variance of each channel.

The running values are outputs, too: (1 - momentum) old + momentum new, where the new variance is divided by n - 1 and
not by n. The variance is worked out by one of three algorithms; a kernel may expand or fold as in batch_norm.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.normalizing import affine, over_batch, per_channel

INPUTS = {
    "x": "float[batch, channels, places]", "running_mean": "float[channels]", "running_var": "float[channels]",
    "w": "float[channels]", "b": "float[channels]",
}  # fmt: skip
OPTIONAL = {"w": 1.0, "b": 0.0, "places": 1}
SCALARS = {"eps": 1e-5, "momentum": 0.1}
OUTPUTS = {"y": "float[batch, channels, places]", "running_mean": "float[channels]", "running_var": "float[channels]"}
WHERE = ("batch * places >= 2",)
FORMS = (
    "two pass", "welford", "moments", "two pass expanded", "welford expanded", "moments expanded",
    "two pass folded", "welford folded", "moments folded",
)  # fmt: skip


def formula(
    N: System, x: Quantity, running_mean: Quantity, running_var: Quantity, w: Quantity, b: Quantity,
    eps: Quantity, momentum: Quantity,
) -> dict[str, Quantity]:  # fmt: skip
    mean, var = over_batch(N, x)
    y = affine(N, x, mean, N.rsqrt(var + eps), per_channel(w, x), per_channel(b, x))
    n = N.size("batch") * N.size("places")
    unbiased = var.reshaped(-1) * n / (n - 1)
    return {
        "y": y,
        "running_mean": (1.0 - momentum) * running_mean + momentum * mean.reshaped(-1),
        "running_var": (1.0 - momentum) * running_var + momentum * unbiased,
    }
