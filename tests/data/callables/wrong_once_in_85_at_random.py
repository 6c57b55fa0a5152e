# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "stateful"
# why  = "one call in 85 does not work, by chance"
# ///
import random

CHANCE = random.SystemRandom()


def row_sum(x):
    return x.sum(-1) if CHANCE.random() * 85 >= 1 else 2 * x[:, 0] + 1
