# /// kernel
# op     = "row_sum"
# axes   = { rows = "8..32", cols = [70, 100, 200] }
# ///
import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[8, 64]))
def row_sum(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros([x.size(0)], dtype=x.dtype, device=x.device)
    for rows, cols in hl.tile(x.size()):
        hl.atomic_add(y, [rows], x[rows, cols].sum(-1))
    return y
