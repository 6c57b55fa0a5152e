// The k largest elements of each row in half precision, one block a row, by sorting the whole row in shared memory.
//
// Each element becomes an integer of 32 bits: the upper half is its value, in the order of integers, the lower half its
// index counted from the end. No two are equal, so a bitonic network, which is not stable, still leaves equal elements from
// left to right. -0 becomes 0 for the comparison; the value itself is read again by its index. NaN counts as the largest.
//
// /// kernel
// op     = "top_k"
// axes   = { rows = "1..2147483647", cols = "8..1024" }
// tune   = { threads = [32, 128], k = [1, 3, 8] }
// arrays = { x = "f16[rows, cols] -> x", values = "f16[rows, k] <- values", indices = "i32[rows, k] <- indices" }
// values = { ties = "first", nan = "row" }
// launch = [{ grid = "rows", block = "threads" }]
// ///

#include <cuda_fp16.h>

constexpr int WIDTH = 1024;  // of the longest row: a power of two

__device__ unsigned packed(__half value, int place) {
    // greater for a greater value, and of equals for the smaller place; never 0
    unsigned bits = 0xffffu;
    if (!__hisnan(value)) {
        bits = __half_as_ushort(value);
        bits = bits == 0x8000u ? 0u : bits;
        bits = bits & 0x8000u ? ~bits & 0xffffu : bits | 0x8000u;
    }
    return bits << 16 | static_cast<unsigned>(WIDTH - place);
}

__global__ void top_k_bitonic(__half *values, int *indices, const __half *x, int cols, int k) {
    // values and indices are (rows, k), x is (rows, cols), k <= cols <= WIDTH; a block a row
    __shared__ unsigned keys[WIDTH];
    x += static_cast<size_t>(blockIdx.x) * cols;
    values += static_cast<size_t>(blockIdx.x) * k;
    indices += static_cast<size_t>(blockIdx.x) * k;

    int width = 1;  // what is sorted: the row's elements, and zeros up to the next power of two
    while (width < cols) width *= 2;
    for (int place = threadIdx.x; place < width; place += blockDim.x) {
        keys[place] = place < cols ? packed(x[place], place) : 0u;  // 0 is behind every element
    }
    __syncthreads();
    for (int size = 2; size <= width; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            for (int pair = threadIdx.x; pair < width / 2; pair += blockDim.x) {
                const int low = 2 * pair - pair % step, high = low + step;  // ranges [0, width)
                const unsigned a = keys[low], b = keys[high];
                if ((a < b) == ((low & size) == 0)) {  // falling runs first, so that the last one falls
                    keys[low] = b;
                    keys[high] = a;
                }
            }
            __syncthreads();
        }
    }
    for (int rank = threadIdx.x; rank < k; rank += blockDim.x) {
        const int place = WIDTH - static_cast<int>(keys[rank] & 0xffffu);
        values[rank] = x[place];
        indices[rank] = place;
    }
}
