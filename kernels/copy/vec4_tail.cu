// A copy of any length in vectors of four, and the last one to three elements by the first threads.
//
// /// kernel
// op     = "copy"
// axes   = { cols = "1..1073741824" }
// tune   = { threads = [64, 256, 1024], blocks = [1, 7, 1024] }
// arrays = { x = "f32[cols] -> x", y = "f32[cols] <- y" }
// align  = 16
//
// [[launch]]
// grid  = "blocks"
// block = "threads"
// args  = ["y", "x", "cols"]
// ///

__global__ void copy_vec4_tail(float *y, const float *x, int n) {
    // y and x are (n)
    const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int i = first; i < n / 4; i += step) {
        reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(x)[i];
    }
    for (int i = n / 4 * 4 + first; i < n; i += step) {  // the tail
        y[i] = x[i];
    }
}
