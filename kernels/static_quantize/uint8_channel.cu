// uint8 with a scale and a zero point for each row, a channel: q = clamp(rint(x / scale) + zero); four elements a thread.
//
// /// kernel
// op       = "static_quantize"
// axes     = { rows = "1..65535", cols = { min = 4, max = 1073741824, multiple = 4 } }
// tune     = { threads = [64, 256] }
// arrays   = { x = "f32[rows, cols] -> x", scale = "f32[rows, 1] -> scale", zero = "i32[rows, 1] -> zero", q = "u8[rows, cols] <- q" }
// scalars  = { height = 1, width = "cols" }
// align    = 16
// accuracy = { divide = "ieee" }
// quantize = { apply = "divide", saturate = "finite" }
// launch   = [{ grid = "ceil_div(cols / 4, threads), rows", block = "threads" }]
// ///

#include <cstdint>

__device__ __forceinline__ unsigned char code_of(float value, float scale, float zero) {
    return static_cast<unsigned char>(fminf(fmaxf(rintf(value / scale) + zero, 0.0f), 255.0f));
}

__global__ void uint8_channel_static(uint8_t *q, const float *x, const float *scale, const int *zero, int cols) {
    // q and x are (rows, cols), scale and zero are (rows); a thread four neighbours
    const unsigned int four = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 4 - 1
    if (four >= cols / 4) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * (cols / 4) + four;
    const float4 v = reinterpret_cast<const float4 *>(x)[i];
    const float by = scale[blockIdx.y], from = static_cast<float>(zero[blockIdx.y]);
    const uchar4 made = make_uchar4(code_of(v.x, by, from), code_of(v.y, by, from), code_of(v.z, by, from), code_of(v.w, by, from));
    reinterpret_cast<uchar4 *>(q)[i] = made;
}
