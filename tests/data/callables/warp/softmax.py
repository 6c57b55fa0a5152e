# /// kernel
# op     = "softmax"
# axes   = { rows = "1..16", cols = "1..300" }
# accuracy = { exp = "expf", divide = "ieee", denominator = "row" }
# ///
import warp as wp


@wp.struct
class Row:
    top: float
    total: float


@wp.func
def measure(x: wp.array(dtype=float)):
    row = Row()
    row.top = float(-wp.inf)
    for c in range(x.shape[0]):
        row.top = wp.max(row.top, x[c])
    for c in range(x.shape[0]):
        row.total += wp.exp(x[c] - row.top)
    return row


@wp.kernel
def divide_rows(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    r = wp.tid()
    row = measure(x[r])
    for c in range(x.shape[1]):
        y[r, c] = wp.exp(x[r, c] - row.top) / row.total


def softmax(x):
    y = wp.empty_like(x)
    wp.launch(divide_rows, dim=x.shape[0], inputs=[x], outputs=[y], device=x.device)
    return y
