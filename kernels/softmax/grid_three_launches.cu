// Softmax of one long vector in three launches: a grid of blocks, one block over their results, a grid that writes.
//
// A vector too long for one block. In the first launch each thread runs online over its share, keeping a
// maximum and the sum of exp(x - max), and each block joins its threads' states in a tree in shared memory. The
// second launch, a single block, joins the blocks' states. The third writes exp(x - max) / sum. A launch is the
// barrier between blocks. The grid may be far smaller than the vector; then the threads loop more often.
//
// safe_merge joins states. A maximum of -inf marks its identity, which
// represents padding, threads without elements, and leading elements of -inf.
//
// /// kernel
// op     = "softmax"
// axes   = { n = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024], max_blocks = [1, 2, 3, 37, 1024, 65535] }
//
// [let]
// blocks   = "min(max_blocks, ceil_div(n, threads))"
// elements = "ceil_div(n, blocks * threads)"  # of a thread in the first launch
// states   = "ceil_div(blocks, threads)"      # of a thread in the second
// halvings = "ceil_log2(min(n, threads)) + ceil_log2(min(blocks, threads))"  # of both trees; empty states add nothing
// joins    = "elements - 1 + states - 1 + halvings"  # a thread's first one is taken over as it is
//
// [arrays]
// x    = "f32[n] -> x"
// y    = "f32[n] <- y"
// tmax = "f32[blocks]"
// tsum = "f32[blocks]"
// m    = "f32[1]"
// s    = "f32[1]"
//
// [accuracy]
// adds     = "joins"
// rescales = "joins"
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
//
// [[launch]]
// entry  = "reduce_max"
// grid   = "blocks"
// block  = "threads"
// shared = "2 * 4 * threads"
//
// [[launch]]
// entry  = "reduce_blocks"
// grid   = "1"
// block  = "threads"
// shared = "2 * 4 * threads"
//
// [[launch]]
// entry = "normalize"
// grid  = "blocks"
// block = "threads"
// ///

#include "../reduce/max_sum_grid.cu"

__global__ void normalize(float *y, const float *x, const float *m, const float *s, int n) {
    // y and x are (n), m and s are (1)
    const float max = m[0];
    const float sum = s[0];
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = expf(x[i] - max) / sum;  // nothing but -inf has the maximum -inf, and exp(-inf - -inf) is NaN
    }
}
