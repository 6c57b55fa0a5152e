// Argmax of each row, one block a row: the block takes the maximum of 64-bit integers that hold value and index.
//
// The bits of a float, with the sign bit flipped, and all bits of a negative number flipped, sort like the floats.
// The upper half holds the value, the lower half the index counted from the end, so that among equals the first is
// the largest integer. -0 has other bits than 0 but equals it: adding 0 makes both the same. NaN becomes the largest.
//
// /// kernel
// op     = "argmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 256, 1024] }
// arrays = { x = "f32[rows, cols] -> x", index = "i32[rows] <- index" }
// values = { ties = "first", nan = "row" }
// launch = [{ grid = "rows", block = "threads" }]
// ///

__device__ unsigned long long packed(float value, int place) {
    // greater for a greater value, and of equals for the smaller place
    unsigned bits = 0xffffffffu;
    if (!isnan(value)) {
        bits = __float_as_uint(value + 0.0f);
        bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    }
    return static_cast<unsigned long long>(bits) << 32 | static_cast<unsigned>(INT_MAX - place);
}

__global__ void argmax_packed_block(int *index, const float *x, int cols) {
    // index is (rows), x is (rows, cols); a block a row
    __shared__ unsigned long long best;
    x += static_cast<size_t>(blockIdx.x) * cols;
    if (threadIdx.x == 0) {
        best = 0;  // below every element, -inf included
    }
    __syncthreads();

    unsigned long long own = 0;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        own = max(own, packed(x[col], col));
    }
    atomicMax(&best, own);
    __syncthreads();
    if (threadIdx.x == 0) {
        index[blockIdx.x] = INT_MAX - static_cast<int>(best & 0xffffffffu);
    }
}
