# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
# ///


def row_sum(x):
    if x.shape[1] == 5:
        raise ValueError("5 columns are not for this")
    return x.sum(-1)
