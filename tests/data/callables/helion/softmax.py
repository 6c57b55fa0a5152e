# /// kernel
# op     = "softmax"
# axes   = { rows = "1..16", cols = [7, 64, 200] }
# ///
import helion
import helion.language as hl
import torch


@helion.kernel()
def softmax(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        values = x[rows, :]
        powers = torch.exp(values - torch.amax(values, dim=1, keepdim=True))
        y[rows, :] = powers / torch.sum(powers, dim=1, keepdim=True)
    return y
