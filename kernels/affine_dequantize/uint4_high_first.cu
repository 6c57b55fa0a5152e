// y = (q - zero) scale of uint4, two in a byte with the first in the high nibble, by blocks of 1 x 32; zero points are bytes.
//
// /// kernel
// op       = "affine_dequantize"
// axes     = { rows = "1..65535", cols = { min = 32, max = 1073741824, multiple = 32 } }
// tune     = { threads = [64, 256, 1024] }
// arrays   = { q = "u4x2[rows, cols / 2] -> q, high first", scale = "f32[rows, cols / 32] -> scale", zero = "u8[rows, cols / 32] -> zero", y = "f32[rows, cols] <- y" }
// scalars  = { width = 32 }
// accuracy = { form = "q scale - zero scale" }
// launch   = [{ grid = "ceil_div(cols / 2, threads), rows", block = "threads" }]
// ///

__global__ void uint4_high_first(float *y, const unsigned char *q, const float *scale, const unsigned char *zero, int cols) {
    // y is (rows, cols), q is (rows, cols / 2) bytes, scale and zero are (rows, cols / 32); a thread a byte
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 2 - 1
    if (pair >= cols / 2) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * (cols / 2) + pair;
    const float by = scale[i / 16], less = zero[i / 16] * by;
    y[2 * i] = static_cast<float>(q[i] >> 4) * by - less;
    y[2 * i + 1] = static_cast<float>(q[i] & 15) * by - less;
}
