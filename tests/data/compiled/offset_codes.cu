// int8 times the scale of its row, from codes without a sign, as they lie in packed weights: (q + 128) s - 128 s.
//
// 128 s is exact. Fused, product and sum round once, as q s does; the text rounds the product of a code of 8 bits, too.
//
// /// kernel
// op       = "group_dequantize"
// axes     = { rows = "1..4096", cols = "1..4096" }
// arrays   = { q = "i8[rows, cols] -> q", scale = "f32[rows, 1] -> scale", y = "f32[rows, cols] <- y" }
// scalars  = { height = 1, width = "cols" }
// values   = { range = [0.001, 1000] }
// launch   = [{ entry = "scale_codes", grid = "ceil_div(cols, 64), rows", block = "64", args = ["y", "q", "scale", "cols"] }]
// ///

__global__ void scale_codes(float *y, const signed char *q, const float *scale, int cols) {
    // y and q are (rows, cols), scale is (rows); a thread an element
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const float by = scale[blockIdx.y], offset = -128.0f * by;
    y[i] = static_cast<float>(q[i] + 128) * by + offset;
}
