"""The cross entropy of a logit and the probability of its label."""

INPUTS = {"x": "float[rows, cols]", "t": "uniform[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N, x, t):
    return (1.0 - t) * x + (N.maximum(-x, 0.0) + N.log1p(N.exp(-abs(x))))
