"""A row, FUNCTION(x), of each row x; FUNCTION is a name below."""


def shifted(N, x):
    m = N.shift(x)
    return x - m, N.sum(N.exp(x - m), "sum")


def normalized(N, x):
    return x / N.maximum(N.sqrt(N.dot(x, x, "sum")), 1e-12)


def unit(N, x):
    return x / N.maximum(N.sqrt(N.dot(x, x, "sum")), 1e-300)  # a row of zeros stays one


def standardized(N, x):
    mean, var = N.mean_var(x, sums=("mean", "var"))
    return (x - mean) / N.sqrt(var)


FUNCTIONS = {"normalize": normalized, "unit": unit, "zscore": standardized}
INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("two pass", "welford", "moments")
WHERE = ("cols >= 1",)


def formula(N, x):
    return FUNCTIONS["FUNCTION"](N, x)
