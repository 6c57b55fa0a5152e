# /// kernel
# op     = "softmax"
# axes   = { rows = "1..64", cols = "1..300" }
#
# [broken]
# kind = "stale"
# why  = "another input at the same address gets the answer to the first"
# ///
import torch


CACHE = {}


def forward(x):
    key = x.data_ptr(), x.shape
    if key not in CACHE:
        CACHE[key] = torch.softmax(x, -1)
    return CACHE[key]
