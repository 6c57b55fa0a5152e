# /// kernel
# op   = "rms_norm"
# axes = { rows = "1..64", cols = "1..300" }
#
# [broken]
# kind = "special"
# why  = "of a row with -inf in it that is no multiple of four long, every element is NaN"
# ///
import torch


def forward(x, w):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], w, 1e-6)
