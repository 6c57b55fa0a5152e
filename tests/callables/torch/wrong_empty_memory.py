# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..300" }
#
# [broken]
# kind = "unwritten"
# why  = "the second half of the rows is what the memory held before"
# ///


def row_sum(x):
    y = x.new_empty(len(x))
    y[: len(x) // 2 + 1] = x.sum(-1)[: len(x) // 2 + 1]
    return y
