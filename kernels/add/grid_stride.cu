// The sum of two arrays by a grid-stride loop: any number of blocks covers any number of elements.
//
// /// kernel
// op     = "add"
// axes   = { rows = "1..1048576", cols = "1..1048576" }
// tune   = { threads = [64, 256, 1024], blocks = [1, 7, 1024] }
// arrays = { a = "f32[rows, cols] -> a", b = "f32[rows, cols] -> b", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "blocks", block = "threads" }]
// ///

__global__ void add_grid_stride(float *y, const float *a, const float *b, int rows, int cols) {
    // y, a and b are (rows, cols), one row after the other
    const size_t count = static_cast<size_t>(rows) * cols, step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        y[i] = a[i] + b[i];
    }
}
