// (max, sum of exp(x - max)) of one long vector in a single launch: the last block to finish joins all results.
//
// The first part is that of reduce/max_sum_grid. Then each block leaves its state in memory and takes a
// ticket. The block with the last ticket knows that all states are there: every block makes its state visible
// (__threadfence) before it takes its ticket, and the last one reads only after it has taken its own. It
// joins the states in the order of the blocks, so that the answer does not depend on which block comes last.
//
// /// kernel
// op     = "max_sum"
// axes   = { n = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024], max_blocks = [1, 2, 3, 37, 1024, 65535] }
//
// [arrays]
// x       = "f32[n] -> x"
// m       = "f32[1] <- m"
// s       = "f32[1] <- s"
// tmax    = "f32[blocks]"
// tsum    = "f32[blocks]"
// tickets = "u32[1] = 0"
//
// [let]
// blocks   = "min(max_blocks, ceil_div(n, threads))"
// elements = "ceil_div(n, blocks * threads)"  # of a thread
// states   = "ceil_div(blocks, threads)"      # of a thread of the last block
// halvings = "ceil_log2(min(n, threads)) + ceil_log2(min(blocks, threads))"  # of both trees; empty states add nothing
// joins    = "elements - 1 + states - 1 + halvings"  # a thread's first one is taken over as it is
//
// [accuracy]
// adds     = "joins"
// rescales = "joins"
// shift    = "running max"
// exp      = "expf"
//
// [[launch]]
// grid   = "blocks"
// block  = "threads"
// shared = "2 * 4 * threads"
// ///

__device__ void safe_merge(float &max, float &sum, float other_max, float other_sum) {
    // joins the other state into (max, sum); a max of -inf marks an empty state, whose sum means nothing
    if (other_max == -INFINITY) {
        return;
    }
    if (max == -INFINITY) {
        max = other_max;
        sum = other_sum;
    } else if (max >= other_max) {
        sum += other_sum * expf(other_max - max);
    } else {
        sum = sum * expf(max - other_max) + other_sum;
        max = other_max;
    }
}

__device__ void block_merge(float &max, float &sum) {
    // joins the states of all threads (a power of two of them) into thread 0's
    extern __shared__ float shared[];
    float *maxima = shared;  // (blockDim.x)
    float *sums = shared + blockDim.x;  // (blockDim.x)
    const int tid = threadIdx.x;  // ranges [0, blockDim.x)
    maxima[tid] = max;
    sums[tid] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        // tid < half is asked before the partner is read: tid + half would lie outside for the others
        if (tid < half) {
            safe_merge(maxima[tid], sums[tid], maxima[tid + half], sums[tid + half]);
        }
        __syncthreads();
    }
    max = maxima[0];
    sum = sums[0];
}

__global__ void reduce_max(float *m, float *s, float *tmax, float *tsum, unsigned *tickets, const float *x, int n) {
    // m and s are (1), tmax and tsum are (gridDim.x), tickets is (1) and 0, x is (n)
    __shared__ bool is_last;
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    float max = -INFINITY, sum = 0.0f;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float value = x[i];
        if (value > max) {  // max may still be -inf, and then so is max - value: the sum of 0 stays 0
            sum = sum * expf(max - value) + 1.0f;
            max = value;
        } else if (value > -INFINITY) {  // so max is finite; without the question -inf - -inf would be NaN
            sum += expf(value - max);
        }
    }
    block_merge(max, sum);
    if (threadIdx.x == 0) {
        tmax[blockIdx.x] = max;
        tsum[blockIdx.x] = sum;
        __threadfence();  // the state is there before the ticket is taken
        is_last = atomicAdd(tickets, 1u) == gridDim.x - 1;
        __threadfence();  // and the others' are read after it
    }
    __syncthreads();  // also: all have read the block's own result before shared memory is used anew
    if (!is_last) {
        return;
    }

    max = -INFINITY;
    sum = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
        safe_merge(max, sum, tmax[i], tsum[i]);
    }
    block_merge(max, sum);
    if (threadIdx.x == 0) {  // all threads know it; one writes
        m[0] = max;
        s[0] = sum;
    }
}
