"""One function of a number, element by element."""

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FUNCTIONS = {
    "sigmoid": lambda N, x: N.sigmoid(x),
    "silu": lambda N, x: x * N.sigmoid(x),
    "softplus": lambda N, x: N.maximum(x, 0.0) + N.log1p(N.exp(-abs(x))),
    "logsigmoid": lambda N, x: N.minimum(x, 0.0) - N.log1p(N.exp(-abs(x))),
    "gelu": lambda N, x: x * (0.5 * N.erfc(-x * 0.7071067811865476)),
    "ndtr": lambda N, x: 0.5 * N.erfc(-x * 0.7071067811865476),
    "mish": lambda N, x: x * N.tanh(N.maximum(x, 0.0) + N.log1p(N.exp(-abs(x)))),
    "tanh": lambda N, x: N.tanh(x),
    "erf": lambda N, x: N.erf(x),
    "erfc": lambda N, x: N.erfc(x),
    "exp": lambda N, x: N.exp(x),
    "expm1": lambda N, x: N.expm1(x),
    "log1p": lambda N, x: N.log1p(x),
}


def formula(N, x):
    return FUNCTIONS["FUNCTION"](N, x)
