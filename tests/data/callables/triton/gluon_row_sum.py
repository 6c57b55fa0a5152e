# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..256" }
# ///
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def sum_kernel(y, x, rows, cols, ROWS: gl.constexpr, COLS: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(gl.float32, [ROWS, COLS], x.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    first = gl.program_id(0) * ROWS
    total = gl.zeros([ROWS], gl.float32, gl.SliceLayout(1, layout))
    phase = 0
    for start in range(0, cols, COLS):
        mbarrier.expect(full, x.block_type.nbytes)
        tma.async_copy_global_to_shared(x, [first, start], full, tile)
        mbarrier.wait(full, phase)
        total += gl.sum(tile.load(layout), 1)
        phase ^= 1
    mbarrier.invalidate(full)
    row = first + gl.arange(0, ROWS, gl.SliceLayout(1, layout))
    gl.store(y + row, total, mask=row < rows)


def row_sum(x):
    rows, cols = x.shape
    y = x.new_empty(rows)
    held = x.new_empty(rows, triton.cdiv(cols, 4) * 4)
    held[:, :cols] = x
    layout = gl.NVMMASharedLayout.get_default_for([16, 16], gl.float32)
    described = TensorDescriptor(held, [rows, cols], [held.stride(0), 1], [16, 16], layout)
    sum_kernel[(triton.cdiv(rows, 16),)](y, described, rows, cols, ROWS=16, COLS=16)
    return y
