// SiLU as x times its sigmoid, four elements a thread.
//
// Row lengths are a multiple of four, so that every row begins at an aligned
// float4. Below -88 exp(-x) overflows, the sigmoid is 0, and so is the product.
//
// /// kernel
// op     = "silu"
// axes   = { rows = "1..65535", cols = { min = 4, max = 1073741824, multiple = 4 } }
// tune   = { threads = [64, 256, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// align  = 16
// launch = [{ grid = "ceil_div(cols, 4 * threads), rows", block = "threads" }]
//
// [accuracy]
// form   = "x sigmoid(x)"
// exp    = "expf"
// divide = "ieee"
//
// [values]
// finite = true  # -inf times a sigmoid of 0 is NaN
// ///

__device__ float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

__global__ void silu_vec4(float *x, int cols) {
    // x is (rows, cols), cols is a multiple of 4; in place
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 4 - 1
    if (i >= cols / 4) {
        return;
    }
    float4 *place = reinterpret_cast<float4 *>(x + static_cast<size_t>(blockIdx.y) * cols) + i;
    const float4 v = *place;
    *place = make_float4(v.x * sigmoid(v.x), v.y * sigmoid(v.y), v.z * sigmoid(v.z), v.w * sigmoid(v.w));
}
