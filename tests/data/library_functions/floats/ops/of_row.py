"""One number, FUNCTION(x), of each row x; FUNCTION is a name below."""


def std(N, x):
    return N.sqrt(N.mean_var(x, sums=("mean", "var"))[1])


FUNCTIONS = {"std": std, "squares": lambda N, x: N.dot(x, x, "sum"), "product": lambda N, x: N.product(x)}
INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}
FORMS = ("two pass", "welford", "moments")
WHERE = ("cols >= 1",)


def formula(N, x):
    return FUNCTIONS["FUNCTION"](N, x)
