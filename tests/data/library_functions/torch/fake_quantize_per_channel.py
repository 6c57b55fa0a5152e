# each: TO = i8, u8
# /// kernel
# op       = "../ops/static_fake_quantize.py"
# axes     = { rows = "1..16", cols = "1..300" }
# arrays   = { x = "f32[rows, cols] -> x", scale = "f32[rows, 1] -> scale", zero = "TO[rows, 1] -> zero", y = "f32[rows, cols] <- y" }
# scalars  = { height = 1 }
# accuracy = { form = "TO" }
# quantize = { apply = "multiply", saturate = "finite" }
# values   = { finite = true }
# ///
import torch

RANGE = {"i8": (-128, 127), "u8": (0, 255)}["TO"]


def fake_quantize(x, scale, zero):
    return torch.fake_quantize_per_channel_affine(x, scale.reshape(-1), zero.int().reshape(-1), 0, *RANGE)
