// GELU by erf, four elements a thread; the rest of a row after the last four is computed one by one.
//
// Rows may have any length, so only a row that begins at an aligned float4 is read in fours; the others go one by one.
//
// /// kernel
// op       = "gelu"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [64, 256] }
// arrays   = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align    = 16
// accuracy = { functions = { erf = "erff" } }
// launch   = [{ grid = "ceil_div(cols, 4 * threads), rows", block = "threads" }]
// ///

__device__ float gelu(float x) {
    return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
}

__global__ void gelu_vec4(float *y, const float *x, int cols) {
    // y and x are (rows, cols)
    const size_t row = static_cast<size_t>(blockIdx.y) * cols;
    const size_t first = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;  // may pass cols - 1
    if (row % 4 == 0 && first + 4 <= cols) {
        const float4 v = *reinterpret_cast<const float4 *>(x + row + first);
        *reinterpret_cast<float4 *>(y + row + first) = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
        return;
    }
    for (size_t col = first; col < first + 4 && col < cols; ++col) {
        y[row + col] = gelu(x[row + col]);
    }
}
