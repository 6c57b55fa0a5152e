// reduce/safe_merge, which is right only where its output is its first input.
//
// When the first maximum is the larger, the published operator leaves the maximum alone and adds to the sum in place.
// That is right for merge(a, b) -> a, the way its own reductions call it. With outputs of their own, as here, the
// maximum is never written and the sum is added to whatever was in memory.
//
// /// kernel
// op     = "safe_merge"
// axes   = { n = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
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
// adds     = 1
// rescales = 1
//
// [broken]
// kind = "unwritten"
// why  = "where the first maximum is the larger, the maximum is not written and the sum is updated in place"
//
// [[launch]]
// entry = "safe_merge_states"
// grid  = "ceil_div(n, threads)"
// block = "threads"
// args  = ["m", "s", "m1", "s1", "m2", "s2", "n"]
// ///

__device__ void safe_merge(float &max, float &sum, float max1, float sum1, float max2, float sum2) {
    if (max2 == -INFINITY) {
        max = max1;
        sum = sum1;
    } else if (max1 == -INFINITY) {
        max = max2;
        sum = sum2;
    } else if (max2 > max1) {
        max = max2;
        sum = sum1 * expf(max1 - max2) + sum2;
    } else {
        sum += sum2 * expf(max2 - max1);
    }
}

__global__ void safe_merge_states(float *m, float *s, const float *m1, const float *s1, const float *m2,
                                  const float *s2, int n) {
    // all are (n)
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass n - 1
    if (i < n) {
        safe_merge(m[i], s[i], m1[i], s1[i], m2[i], s2[i]);
    }
}
