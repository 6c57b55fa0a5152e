// The order of each row by a bitonic network in shared memory, one block a row: log^2 n steps, each with a barrier.
//
// A float becomes an unsigned integer with the same order, NaN the largest; both zeros become one. The row is filled up to
// a power of two with that largest integer at indices beyond the row, so that what is filled in comes after a NaN.
// Comparing the indices of equal elements makes the order stable, which a network by itself is not.
//
// /// kernel
// op     = "argsort"
// axes   = { rows = "1..2147483647", cols = "1..1024" }
// let    = { width = "1 if cols == 1 else 2 if cols == 2 else 4 if cols <= 4 else 32 if cols <= 32 else 256 if cols <= 256 else 1024" }
// tune   = { threads = [32, 128] }
// arrays = { x = "f32[rows, cols] -> x", indices = "i32[rows, cols] <- indices" }
// values = { ties = "first", nan = "row" }
// claims = { batch_invariant = true }
//
// [[launch]]
// grid   = "rows"
// block  = "threads"
// shared = "8 * width"
// ///

__device__ unsigned int key_of(float value) {
    // an integer that is as much larger as the float is
    if (isnan(value)) {
        return 0xffffffffu;
    }
    const unsigned int bits = __float_as_uint(value == 0.0f ? 0.0f : value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__global__ void argsort_bitonic_block(int *indices, const float *x, int cols, int width) {
    // indices and x are (rows, cols); a block a row
    extern __shared__ unsigned long long pairs[];  // [width], a key and the place of its element
    const size_t first = static_cast<size_t>(blockIdx.x) * cols;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const unsigned int key = i < cols ? key_of(x[first + i]) : 0xffffffffu;
        pairs[i] = static_cast<unsigned long long>(key) << 32 | i;
    }
    __syncthreads();
    for (int run = 2; run <= width; run *= 2) {
        for (int far = run / 2; far > 0; far /= 2) {
            for (int i = threadIdx.x; i < width; i += blockDim.x) {
                const int other = i ^ far;
                if (other > i && (pairs[i] > pairs[other]) == ((i & run) == 0)) {
                    const unsigned long long held = pairs[i];
                    pairs[i] = pairs[other];
                    pairs[other] = held;
                }
            }
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        indices[first + i] = static_cast<int>(pairs[i] & 0xffffffffu);
    }
}
