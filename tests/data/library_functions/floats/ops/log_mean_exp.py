"""The logarithm of the mean of exp(x), row by row."""

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
SPECIAL = {"all_neg_inf": "-inf or nan"}


def formula(N, x):
    m = N.shift(x)
    return m + N.log(N.sum(N.exp(x - m), "sum") / N.size("cols"))
