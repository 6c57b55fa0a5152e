"""y = FUNCTION(x, t), element by element; FUNCTION is a name below."""

ROOT_HALF = 0.7071067811865476


def huber(N, x, t):
    d = abs(x - t)
    c = N.minimum(d, 1.0)
    return c * (d - 0.5 * c)


def xlogy(N, x, t):
    is_zero = x.is_zero
    return N.where(is_zero, 0.0, x * N.log(N.where(is_zero, 1.0, t)))


FUNCTIONS = {
    "logaddexp": lambda N, x, t: N.maximum(x, t) + N.log1p(N.exp(-abs(x - t))),
    "hypot": lambda N, x, t: N.sqrt(x * x + t * t),
    "squared_error": lambda N, x, t: (x - t) * (x - t),
    "half_squared_error": lambda N, x, t: 0.5 * ((x - t) * (x - t)),
    "huber": huber,
    "xlogy": xlogy,
    "swiglu": lambda N, x, t: x * N.sigmoid(x) * t,
    "swiglu_of_one_more": lambda N, x, t: x * N.sigmoid(x) * (t + 1.0),
    "geglu": lambda N, x, t: x * (0.5 * N.erfc(-x * ROOT_HALF)) * t,
    "geglu_tanh": lambda N, x, t: x * N.sigmoid(2.0 * (0.7978845608028654 * (x + 0.044715 * x * x * x))) * t,
}
INPUTS = {"x": "float[rows, cols]", "t": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N, x, t):
    return FUNCTIONS["FUNCTION"](N, x, t)
