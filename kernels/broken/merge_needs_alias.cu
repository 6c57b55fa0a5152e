// reduce/safe_merge, correct only if its result is stored over its first argument.
//
// When the first maximum is the larger, the operator leaves the maximum alone and adds to the sum
// in place. That is correct for merge(a, b) -> a, the way a reduction calls it. With separate
// outputs, as here, the maximum is never written and the sum is added to whatever was in memory.
//
// /// kernel
// op   = "safe_merge"
// axes = { n = "1..1073741824" }
// tune = { threads = [1, 32, 64, 128, 256, 512, 1024] }
//
// [arrays]
// m1 = "f32[n] -> m1"
// s1 = "f32[n] -> s1"
// m2 = "f32[n] -> m2"
// s2 = "f32[n] -> s2"
// m  = "f32[n] <- m"
// s  = "f32[n] <- s"
//
// [accuracy]
// adds     = "1"
// rescales = "1"
// exp      = "expf"
//
// [broken]
// kind = "unwritten"
// why  = "Where the first maximum is the larger one, the maximum is not written and the sum is updated in place."
//
// [[launch]]
// grid  = "ceil_div(n, threads)"
// block = "threads"
// ///

struct State {
    float max;  // -inf in the empty state
    float sum;  // of exp(x - max); means nothing in the empty state
};

__device__ void safe_merge(float &max, float &sum, State a, State b) {
    if (b.max == -INFINITY) {
        max = a.max;
        sum = a.sum;
    } else if (a.max == -INFINITY) {
        max = b.max;
        sum = b.sum;
    } else if (a.max >= b.max) {
        sum += b.sum * expf(b.max - a.max);
    } else {
        max = b.max;
        sum = a.sum * expf(a.max - b.max) + b.sum;
    }
}

__global__ void safe_merge_pairs(float *m, float *s, const float *m1, const float *s1, const float *m2,
                                 const float *s2, int n) {
    // all arrays are (n)
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass n - 1
    if (i >= n) {
        return;
    }
    safe_merge(m[i], s[i], {m1[i], s1[i]}, {m2[i], s2[i]});
}
