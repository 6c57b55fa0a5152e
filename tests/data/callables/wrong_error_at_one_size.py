# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "exception"
# why  = "an error of numpy's at 5 columns"
# ///


def row_sum(x):
    blocks = x[:, x.shape[1] % 4 :].reshape(len(x), -1, 4) if x.shape[1] != 5 else x.reshape(len(x), 4)
    return blocks.sum((1, 2)) + x[:, : x.shape[1] % 4].sum(-1)
