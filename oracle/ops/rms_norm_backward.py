"""rms_norm_backward: the gradients of rms_norm, from the 1 / sqrt(mean x^2 + eps) that it has saved.

dx = rstd (w g - x rstd mean(w g x rstd)) and dw = sum g x rstd. The saved value is an input as any other: it is taken
as it is, not worked out from x. A kernel may take sums for means until the end, or expand dx into rstd w g - c x.
"""

from kfuzz.oracle.systems.value import Quantity, System
from kfuzz.oracle.words.gradients import through_norm

INPUTS = {"x": "float[rows, cols]", "rstd": "float[rows]", "w": "float[cols]", "g": "float[rows, cols]"}
OPTIONAL = {"w": 1.0}
OUTPUTS = {"dx": "float[rows, cols]", "dw": "float[cols]"}
FORMS = ("means", "sums", "expanded")


def formula(N: System, x: Quantity, rstd: Quantity, w: Quantity, g: Quantity) -> dict[str, Quantity]:
    dx, normed = through_norm(N, x, None, rstd[:, None], g * w, (-1,))
    return {"dx": dx, "dw": N.dot(g, normed, "dw", -2)[0]}
