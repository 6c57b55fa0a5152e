// reduce/merge_all, whose tree reads the partner's state before it asks whether there is a partner.
//
// The upper half of the threads reads behind the end: of the maxima into the sums, which others are writing, and of the
// sums out of the allocation. What they read is thrown away, so that no output is ever wrong, and an optimising compiler
// moves the loads under the question and hides them even from compute-sanitizer. The source is wrong all the same.
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
// exp      = "expf"
//
// [broken]
// kind = "out-of-bounds"
// why  = "threads beyond half read maxima[tid + half] and sums[tid + half] before asking tid < half"
//
// [[launch]]
// entry  = "merge_all"
// grid   = "1"
// block  = "threads"
// shared = "2 * 4 * threads"
// args   = ["m", "s", "tmax", "tsum", "n"]
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
        const float other_max = maxima[tid + half];
        const float other_sum = sums[tid + half];
        if (tid < half) {
            safe_merge(maxima[tid], sums[tid], other_max, other_sum);
        }
        __syncthreads();
    }
    if (tid == 0) {
        m[0] = maxima[0];
        s[0] = sums[0];
    }
}
