// SwiGLU, four elements a thread: y = silu(a) b.
//
// Row lengths are a multiple of four, so that every row begins at an aligned float4.
//
// /// kernel
// op     = "swiglu"
// axes   = { rows = "1..65535", cols = { min = 4, max = 1073741824, multiple = 4 } }
// tune   = { threads = [64, 256, 1024] }
// arrays = { a = "f32[rows, cols] -> a", b = "f32[rows, cols] -> b", y = "f32[rows, cols] <- y" }
// align  = 16
// launch = [{ grid = "ceil_div(cols, 4 * threads), rows", block = "threads" }]
//
// [accuracy]
// form   = "a / (1 + exp(-a))"
// exp    = "expf"
// divide = "ieee"
// ///

__device__ float silu(float x) {
    return x / (1.0f + expf(-x));
}

__global__ void swiglu_vec4(float *y, const float *a, const float *b, int cols) {
    // y, a and b are (rows, cols), cols is a multiple of 4
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 4 - 1
    if (i >= cols / 4) {
        return;
    }
    const size_t row = static_cast<size_t>(blockIdx.y) * cols;
    const float4 gate = reinterpret_cast<const float4 *>(a + row)[i];
    const float4 by = reinterpret_cast<const float4 *>(b + row)[i];
    reinterpret_cast<float4 *>(y + row)[i] =
        make_float4(silu(gate.x) * by.x, silu(gate.y) * by.y, silu(gate.z) * by.z, silu(gate.w) * by.w);
}
