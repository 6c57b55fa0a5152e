// Sorts each row by counting: an element's rank is the number of elements that come before it, one block a row.
//
// n^2 comparisons of values in shared memory, and no barrier but one: simple, and fast enough for the few experts of a router.
// Equal elements keep their order, because the one with the lower index counts as before. NaN comes last, as in torch.
//
// /// kernel
// op     = "sort"
// axes   = { rows = "1..2147483647", cols = "1..1024" }
// tune   = { threads = [32, 128] }
// arrays = { x = "f32[rows, cols] -> x", values = "f32[rows, cols] <- values", indices = "i32[rows, cols] <- indices" }
// values = { ties = "first", nan = "row" }
// claims = { batch_invariant = true }
//
// [[launch]]
// grid   = "rows"
// block  = "threads"
// shared = "4 * cols"
// ///

__device__ bool is_before(float a, int a_place, float b, int b_place) {
    // whether a comes before b: numbers before NaN, the lesser number, the first of equals
    const bool are_equal = isnan(a) ? isnan(b) : a == b;
    return are_equal ? a_place < b_place : isnan(b) || a < b;
}

__global__ void sort_rank_block(float *values, int *indices, const float *x, int cols) {
    // values, indices and x are (rows, cols); a block a row
    extern __shared__ float row[];  // [cols]
    const size_t first = static_cast<size_t>(blockIdx.x) * cols;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        row[col] = x[first + col];
    }
    __syncthreads();
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        int rank = 0;
        for (int other = 0; other < cols; ++other) {
            rank += is_before(row[other], other, row[col], col);
        }
        values[first + rank] = row[col];
        indices[first + rank] = col;
    }
}
