# /// kernel
# op     = "row_sum"
# axes   = { rows = "8..32", cols = [70, 100, 200] }
# accuracy = { atomics = "global" }
# ///
import torch
import warp as wp

TILE = wp.constant(64)
THREADS = 64


@wp.kernel
def add_part(x: wp.array2d(dtype=float), y: wp.array(dtype=float)):
    row, part = wp.tid()
    values = wp.tile_load(x[row], shape=TILE, offset=part * TILE)
    total = wp.tile_sum(values)
    wp.tile_atomic_add(y, total, offset=row)


def row_sum(x):
    wp.init()
    y = torch.zeros(x.shape[0], device=x.device)
    parts = -(-x.shape[1] // 64)
    wp.launch_tiled(
        add_part, dim=[x.shape[0], parts], inputs=[wp.from_torch(x)], outputs=[y], block_dim=THREADS, device="cuda"
    )
    return y
