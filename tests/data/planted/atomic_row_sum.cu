// Sum of each row, one block a row: every thread adds its share to one cell by atomicAdd, in global memory.
//
// A GPU flushes denormal operands and results of such an addition: 6.8e-41 + -3.4e-41 is 0 on an H200.
//
// /// kernel
// op       = "row_sum"
// axes     = { rows = "1..65535", cols = "1..1048576" }
// tune     = { threads = [32, 256] }
// arrays   = { x = "f32[rows, cols] -> x", y = "f32[rows] = 0 <- y" }
// accuracy = { atomics = "global" }
// launch   = [{ entry = "atomic_row_sum", grid = "rows", block = "threads" }]
// ///

__global__ void atomic_row_sum(float *y, const float *x, int cols) {
    const float *row = x + static_cast<size_t>(blockIdx.x) * cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        atomicAdd(&y[blockIdx.x], row[i]);
    }
}
