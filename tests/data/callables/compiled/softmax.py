# /// kernel
# op     = "softmax"
# axes   = { rows = "1..16", cols = [7, 64, 200] }
# ///
import torch


@torch.compile
def softmax(x):
    top = x.argmax(1, keepdim=True)
    powers = torch.exp(x - x.gather(1, top))
    return powers / powers.sum(1, keepdim=True)
