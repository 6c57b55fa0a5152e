"""y = (x - mean) / sqrt(var + 1e-5), with the mean and the variance of each column."""

from kfuzz.oracle.words.normalizing import affine_channels, over_batch

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
WHERE = ("rows >= 2",)
FORMS = (
    "two pass", "welford", "moments", "two pass expanded", "welford expanded", "moments expanded",
    "two pass folded", "welford folded", "moments folded",
)  # fmt: skip


def formula(N, x):
    mean, var = over_batch(N, x)
    return affine_channels(N, x, mean, N.rsqrt(var + 1e-5), None, None)
