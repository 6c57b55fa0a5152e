"""adamw: one step of AdamW, with the corrections 1 - beta^step as numbers that the host has worked out.

m = beta1 m + (1 - beta1) g and v = beta2 v + (1 - beta2) g^2; then
p = p - lr decay p - lr (m / correction1) / (sqrt(v / correction2) + eps).

A mean may be beta m - beta g + g, as from a linear interpolation. The root may be that of v by that of its correction.
The decay may be a factor 1 - lr decay, a term, or a part of the step.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.gradients import total

INPUTS = {"p": "float[n]", "g": "float[n]", "m": "float[n]", "v": "float[n]"}
SCALARS = {
    "lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "decay": 0.01, "correction1": 0.1, "correction2": 0.001,
}  # fmt: skip
OUTPUTS = {"p": "float[n]", "m": "float[n]", "v": "float[n]"}
FORMS = tuple(
    f"{mean}, {root}, {decay}"
    for mean in ("means of two terms", "means of three terms")
    for root in ("root of a quotient", "quotient of roots")
    for decay in ("decay is a factor", "decay is a term", "decay within the step")
)


def formula(
    N: System, p: Quantity, g: Quantity, m: Quantity, v: Quantity, lr: Quantity, beta1: Quantity, beta2: Quantity,
    eps: Quantity, decay: Quantity, correction1: Quantity, correction2: Quantity,
) -> dict[str, Quantity]:  # fmt: skip
    m, v = moved(N, m, g, beta1), moved(N, v, g * g, beta2)
    is_whole = "root of a quotient" in N.form
    step = (m / correction1) / ((N.sqrt(v / correction2) if is_whole else N.sqrt(v) / N.sqrt(correction2)) + eps)
    if N.form.endswith("factor"):
        p = p * (1.0 - lr * decay) - lr * step
    elif N.form.endswith("term"):
        p = total(N, [p, -(lr * decay * p), -(lr * step)], "p")
    else:
        p = p - lr * (step + decay * p)
    return {"p": p, "m": m, "v": v}


def moved(N: System, mean: Quantity, x: Quantity, beta: Quantity) -> Quantity:
    """A running mean, moved towards x."""
    if N.form.startswith("means of three"):
        return total(N, [beta * mean, -(beta * x), x], "moved")
    return beta * mean + (1.0 - beta) * x
