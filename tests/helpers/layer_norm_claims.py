"""A layer norm whose claim a test chooses."""

from pathlib import Path

from kfuzz.claims.kernel import Kernel, load

LAYER_NORM = """// layer_norm, one thread a row, in two passes.
//
// /// kernel
// op     = "layer_norm"
// axes   = {{ rows = "1..1000", cols = "1..1000" }}
// arrays = {{ x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y" }}
//
// [accuracy]
{accuracy}
//
// [[launch]]
// entry = "layer_norm"
// grid  = "ceil_div(rows, 32)"
// block = "32"
// args  = ["x", "w", "b", "y", "rows", "cols"]
// ///

extern "C" __global__ void layer_norm(const float* x, const float* w, const float* b, float* y, int rows, int cols) {{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f, squares = 0.0f;
    for (int col = 0; col < cols; col++) sum += x[row * cols + col];
    float mean = sum / cols;
    for (int col = 0; col < cols; col++) {{
        float off = x[row * cols + col] - mean;
        squares += off * off;
    }}
    float scale = rsqrtf(squares / {divisor} + 1e-5f);
    for (int col = 0; col < cols; col++) y[row * cols + col] = (x[row * cols + col] - mean) * scale * w[col] + b[col];
}}
"""
GOOD = '// adds = { mean = "cols", var = "cols" }\n// form = "two pass"\n// functions = { rsqrt = "rsqrtf" }'


def kernel_of(folder: Path, accuracy: str = GOOD, divisor: str = "cols") -> Kernel:
    file = folder / "layer_norm.cu"
    file.write_text(LAYER_NORM.format(accuracy=accuracy, divisor=divisor))
    return load(file)
