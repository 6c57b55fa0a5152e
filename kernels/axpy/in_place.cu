// y = alpha x + y in place, as saxpy of BLAS, one thread an element.
//
// /// kernel
// op      = "axpy"
// axes    = { n = "1..1073741824" }
// tune    = { threads = [64, 256, 1024] }
// scalars = { alpha = 2.0 }
// arrays  = { x = "f32[n] -> x", y = "f32[n] -> y <- y" }
//
// [[launch]]
// grid  = "ceil_div(n, threads)"
// block = "threads"
// args  = ["n", "alpha", "x", "y"]
// ///

__global__ void axpy_in_place(int n, float alpha, const float *x, float *y) {
    // x and y are (n)
    const int i = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    if (i < n) {
        y[i] = alpha * x[i] + y[i];
    }
}
