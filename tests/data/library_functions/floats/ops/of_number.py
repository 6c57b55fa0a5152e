"""y = FUNCTION(x), element by element; FUNCTION is a name below."""

from math import log, pi

ROOT_HALF = 0.7071067811865476
SELU, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def softplus(N, x):
    return N.maximum(x, 0.0) + N.log1p(N.exp(-abs(x)))


def cut(N, x, least, most):
    return N.minimum(N.maximum(x, least), most)


def elu(N, x):
    return N.maximum(x, 0.0) + N.expm1(N.minimum(x, 0.0))


def sinh(N, x):
    e = N.expm1(abs(x))
    return N.sign(x) * (0.5 * (e + e / (e + 1.0)))


def slope_of_mish(N, x):
    t, s = N.tanh(softplus(N, x)), N.sigmoid(x)
    return t + x * s * (1.0 - t * t)


def entr(N, x):
    is_negative = x.parts[:2][-1] < 0  # the upper end, if x is a set
    value = -(x * N.log(N.where(x.is_zero | is_negative, 1.0, x)))
    return N.where(is_negative, float("-inf"), value)


def sinc(N, x):
    is_zero = x.is_zero
    angle = pi * N.where(is_zero, 1.0, x)
    return N.where(is_zero, 1.0, N.sin(angle) / angle)


FUNCTIONS = {
    "sigmoid": lambda N, x: N.sigmoid(x),
    "silu": lambda N, x: x * N.sigmoid(x),
    "softplus": softplus,
    "logsigmoid": lambda N, x: -softplus(N, -x),
    "soft_margin": lambda N, x: softplus(N, -x),
    "gelu": lambda N, x: x * (0.5 * N.erfc(-x * ROOT_HALF)),
    "gelu_tanh": lambda N, x: x * N.sigmoid(2.0 * (0.7978845608028654 * (x + 0.044715 * x * x * x))),
    "ndtr": lambda N, x: 0.5 * N.erfc(-x * ROOT_HALF),
    "mish": lambda N, x: x * N.tanh(softplus(N, x)),
    "elu": elu,
    "celu": elu,
    "selu": lambda N, x: SELU_SCALE * (N.maximum(x, 0.0) + SELU * N.expm1(N.minimum(x, 0.0))),
    "softsign": lambda N, x: x / (1.0 + abs(x)),
    "hardsigmoid": lambda N, x: cut(N, x + 3.0, 0.0, 6.0) / 6.0,
    "hardswish": lambda N, x: x * (cut(N, x + 3.0, 0.0, 6.0) / 6.0),
    "tanh": lambda N, x: N.tanh(x),
    "sinh": sinh,
    "cosh": lambda N, x: 0.5 * (N.exp(abs(x)) + N.exp(-abs(x))),
    "asinh": lambda N, x: N.sign(x) * N.log1p(abs(x) + abs(x) * (abs(x) / (1.0 + N.sqrt(x * x + 1.0)))),
    "atanh": lambda N, x: 0.5 * (N.log1p(x) - N.log1p(-x)),
    "logit": lambda N, x: N.log(x) - N.log1p(-x),
    "log_cosh": lambda N, x: abs(x) + (N.log1p(N.exp(-2.0 * abs(x))) - log(2.0)),
    "entr": entr,
    "sinc": sinc,
    "erf": lambda N, x: N.erf(x),
    "erfc": lambda N, x: N.erfc(x),
    "exp": lambda N, x: N.exp(x),
    "exp2": lambda N, x: N.exp2(x),
    "expm1": lambda N, x: N.expm1(x),
    "log": lambda N, x: N.log(x),
    "log2": lambda N, x: N.log2(x),
    "log10": lambda N, x: N.log10(x),
    "log1p": lambda N, x: N.log1p(x),
    "sqrt": lambda N, x: N.sqrt(x),
    "rsqrt": lambda N, x: N.rsqrt(x),
    "reciprocal": lambda N, x: 1.0 / x,
    "slope_of_sigmoid": lambda N, x: N.sigmoid(x) * N.sigmoid(-x),
    "slope_of_tanh": lambda N, x: 4.0 * (N.sigmoid(2.0 * x) * N.sigmoid(-2.0 * x)),
    "slope_of_silu": lambda N, x: N.sigmoid(x) * (1.0 + x * N.sigmoid(-x)),
    "slope_of_softplus": lambda N, x: N.sigmoid(x),
    "slope_of_logsigmoid": lambda N, x: N.sigmoid(-x),
    "slope_of_mish": slope_of_mish,
}
INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N, x):
    return FUNCTIONS["FUNCTION"](N, x)
