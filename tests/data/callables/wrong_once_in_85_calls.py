# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "stateful"
# why  = "one call in 85 does not work"
# ///
CALLS = 0


def row_sum(x):
    global CALLS
    CALLS += 1
    return x.sum(-1) if CALLS % 85 else 2 * x[:, 0] + 1
