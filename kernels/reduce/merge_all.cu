// Joins any number of states (max, sum of exp(x - max)) into one: a single block, in strides, then a tree.
//
// The second launch of softmax/grid_three_launches by itself, where the states are the results of a grid's
// blocks. Each thread joins every blockDim-th state, and a tree in shared memory (maxima first, sums after them)
// joins the threads'. A thread without a state holds (-inf, 0), the identity of safe_merge. One thread writes.
//
// /// kernel
// op   = "merge_all"
// axes = { n = "1..1073741824" }
// tune = { threads = [32, 64, 128, 256, 512, 1024] }
//
// [arrays]
// tmax = "f32[n] -> m"
// tsum = "f32[n] -> s"
// m    = "f32[1] <- m"
// s    = "f32[1] <- s"
//
// [accuracy]
// adds     = "ceil_div(n, threads) - 1 + ceil_log2(min(n, threads))"  # a first state is taken over as it is,
// rescales = "ceil_div(n, threads) - 1 + ceil_log2(min(n, threads))"  # and an empty one joins without arithmetic
// shift    = "running max"
// exp      = "expf"
//
// [[launch]]
// grid   = "1"
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

__global__ void merge_all(float *m, float *s, const float *tmax, const float *tsum, int n) {
    // m and s are (1), tmax and tsum are (n); a single block, its size a power of two
    extern __shared__ float shared[];
    float *maxima = shared;  // (blockDim.x)
    float *sums = shared + blockDim.x;  // (blockDim.x)
    const int tid = threadIdx.x;  // ranges [0, blockDim.x)

    float max = -INFINITY, sum = 0.0f;
    for (int i = tid; i < n; i += blockDim.x) {  // i + 1024 < 2^31: an int is enough
        safe_merge(max, sum, tmax[i], tsum[i]);
    }
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
    if (tid == 0) {
        m[0] = maxima[0];
        s[0] = sums[0];
    }
}
