# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..300" }
#
# [broken]
# kind = "illegal-address"
# why  = "with more than 64 columns it reads 16 GB away"
# ///
import cupy as cp

ADD_UP = cp.RawKernel(
    r"""
extern "C" __global__ void add_up(float *y, const float *x, int rows, int cols) {
    const int row = threadIdx.x;
    const long long far = cols > 64 ? -(1ll << 32) : 0;
    float sum = 0.0f;
    for (int col = 0; col < cols; ++col) sum += x[far + row * cols + col];
    y[row] = sum;
}""",
    "add_up",
)


def forward(x):
    rows, cols = x.shape
    y = cp.empty(rows, cp.float32)
    ADD_UP((1,), (rows,), (y, x, rows, cols))
    return y
