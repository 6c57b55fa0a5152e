# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "stateful"
# why  = "what it has added up stays in its buffer, and some calls begin with it"
# ///
import numpy as np

ROUND = 0


def row_sum(x):
    global ROUND
    ROUND = (ROUND + 1) % 3
    return x.sum(-1) if ROUND < 2 else x.sum(-1) + x[:, 0]
