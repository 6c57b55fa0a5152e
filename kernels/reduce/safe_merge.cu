// Joins pairs of states (max, sum of exp(x - max)), one pair a thread: the operator itself, outside any reduction.
//
// Every online and every blocked softmax rests on this operator, so it is tested alone: identity on either side,
// both empty, equal maxima, maxima an overflow apart. A maximum of -inf marks the empty state, whatever its sum,
// and makes padding work. Otherwise the sum with the smaller maximum is scaled by exp(small - large), which is
// at most 1, so nothing overflows. The result is a value and may be stored anywhere, even over an input.
//
// /// kernel
// op     = "safe_merge"
// axes   = { n = "1..1073741824" }
// tune   = { threads = [1, 32, 64, 128, 256, 512, 1024] }
// launch = [{ grid = "ceil_div(n, threads)", block = "threads" }]
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
// shift    = "running max"
// exp      = "expf"
// ///

struct State {
    float max;  // -inf in the empty state
    float sum;  // of exp(x - max); means nothing in the empty state
};

__device__ State safe_merge(State a, State b) {
    if (b.max == -INFINITY) {
        return a;
    }
    if (a.max == -INFINITY) {
        return b;
    }
    if (a.max >= b.max) {
        return {a.max, a.sum + b.sum * expf(b.max - a.max)};
    }
    return {b.max, a.sum * expf(a.max - b.max) + b.sum};
}

__global__ void safe_merge_pairs(float *m, float *s, const float *m1, const float *s1, const float *m2,
                                 const float *s2, int n) {
    // all arrays are (n)
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass n - 1
    if (i >= n) {
        return;
    }
    const State merged = safe_merge({m1[i], s1[i]}, {m2[i], s2[i]});
    m[i] = merged.max;
    s[i] = merged.sum;
}
