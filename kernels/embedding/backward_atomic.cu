// The gradient of an embedding: each row of g is added to the row of the table that its index names, by atomics.
//
// A row that many indices name is added up in any order, so that two runs may differ in the last bits.
//
// /// kernel
// op     = "backward of embedding"
// axes   = { n = "1..16777216", rows = "1..16777216", cols = "1..65536" }
// tune   = { threads = [32, 128] }
// arrays = { index = "i32[n] -> index", w = "f32[rows, cols] -> w", g = "f32[n, cols] -> g_y", dw = "f32[rows, cols] = 0 <- d_w" }
//
// [[launch]]
// grid  = "n"
// block = "threads"
// args  = ["dw", "index", "g", "cols"]
//
// [claims]
// deterministic = false  # a row of dw is added up in any order
// ///

__global__ void embedding_backward_atomic(float *dw, const int *index, const float *g, int cols) {
    // dw is (rows, cols), of zeros, index is (n) in [0, rows), g is (n, cols); a block a row of g
    dw += static_cast<size_t>(index[blockIdx.x]) * cols;
    g += static_cast<size_t>(blockIdx.x) * cols;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        atomicAdd(&dw[col], g[col]);
    }
}
