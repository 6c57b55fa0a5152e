"""attention_backward: the gradients of attention, from its output o and the logarithm lse of each row's sum of exps.

With p = exp(scale q k^T - lse), dp = g v^T and D = sum g o: dv = p^T g, ds = p (dp - D), dq = scale ds k and
dk = scale ds^T q. o and lse are inputs as any others: they are taken as they are, not worked out from q, k and v.
The scale may come after the sums of dq and dk, or before.
"""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {
    "q": "float[heads, rows, d]", "k": "float[heads, keys, d]", "v": "float[heads, keys, dv]",
    "o": "float[heads, rows, dv]", "lse": "float[heads, rows]", "g": "float[heads, rows, dv]",
}  # fmt: skip
SCALARS = {"scale": "1 / sqrt(d)"}
OUTPUTS = {"dq": "float[heads, rows, d]", "dk": "float[heads, keys, d]", "dv": "float[heads, keys, dv]"}
WHERE = ("d >= 1",)
FORMS = ("scale last", "scale first")


def formula(
    N: System, q: Quantity, k: Quantity, v: Quantity, o: Quantity, lse: Quantity, g: Quantity, scale: Quantity
) -> dict[str, Quantity]:
    p = N.keep(N.exp(N.matmul(q, k.T, "qk") * scale - lse[..., None]), "p")
    ds = p * (N.matmul(g, v.T, "dp") - N.dot(g, o, "D"))
    is_last = N.form == "scale last"
    ds = N.keep(ds if is_last else ds * scale, "ds")
    dq, dk = N.matmul(ds, k, "dq"), N.matmul(ds.T, q, "dk")
    return {"dq": dq * scale if is_last else dq, "dk": dk * scale if is_last else dk, "dv": N.matmul(p.T, g, "dv")}
