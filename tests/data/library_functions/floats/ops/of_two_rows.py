"""One number, FUNCTION(x, t), of each two rows x and t; FUNCTION is a name below."""


def cosine(N, x, t):
    xx, tt = N.dot(x, x, "xx"), N.dot(t, t, "tt")
    return N.dot(x, t, "xt") / (N.sqrt(xx) * N.sqrt(tt))


def distance(N, x, t):
    d = x - t
    return N.sqrt(N.dot(d, d, "sum"))


FUNCTIONS = {
    "cosine": cosine,
    "distance": distance,
    "squared_distance": lambda N, x, t: N.dot(x - t, x - t, "sum"),
    "dot": lambda N, x, t: N.dot(x, t, "sum"),
}
INPUTS = {"x": "float[rows, cols]", "t": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}


def formula(N, x, t):
    return FUNCTIONS["FUNCTION"](N, x, t)
