"""gemm: C = alpha A B + beta C0 + bias, in batches; a transposed operand is the same op on its transpose."""

from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"a": "float[batch, m, k]", "b": "float[batch, k, n]", "c0": "float[batch, m, n]", "bias": "float[n]"}
OPTIONAL = {"c0": 0.0, "bias": 0.0, "batch": 1}
SCALARS = {"alpha": 1.0, "beta": 0.0}
OUTPUTS = {"c": "float[batch, m, n]"}
SPECIAL = {"nan": "ieee", "pos_inf": "ieee"}
ALSO = {"bmm": "gemm(a, b)", "linear": "gemm(a[m, k], b[n, k], bias)", "matmul": "gemm(a[m, k], b[k, n])"}
FORMS = ("bias last", "bias before c0", "sums start at bias and c0")


def formula(
    N: System, a: Quantity, b: Quantity, c0: Quantity, bias: Quantity, alpha: Quantity, beta: Quantity
) -> Quantity:
    if N.form == "sums start at bias and c0":  # or at one of them; alpha is multiplied into a factor, as in BLAS
        return N.matmul(a if alpha.is_one else alpha * a, b, "k", (bias, beta * c0))
    product = alpha * N.matmul(a, b, "k")
    if N.form == "bias before c0":
        return (product + bias) + beta * c0
    return (product + beta * c0) + bias
