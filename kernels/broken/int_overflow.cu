// Softmax of each row, one block a row, straight from the formula, with the start of a row in an int.
//
// blockIdx.x * cols is correct in 32 unsigned bits; as an int it is negative from 2^31 elements on, 8 GB an array,
// and so is every index of the rows beyond. The arrays need not fit on a GPU: blocks of the last rows show it.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..32768" }
// tune   = { threads = [32, 64, 128, 256] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
//
// [accuracy]
// adds     = "ceil_div(cols, threads) - 1 + ceil_log2(threads)"
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
//
// [broken]
// kind = "illegal-address"
// why  = "row * cols is held in an int, which is negative from 2^31 elements on."
//
// [[launch]]
// grid   = "rows"
// block  = "threads"
// shared = "4 * threads"
// ///

__global__ void softmax_int_start(float *y, const float *x, int cols) {
    // x and y are [gridDim.x, cols]; a block has a power of two of threads, and a float of shared memory for each
    extern __shared__ float shared[];
    const int thread = threadIdx.x;         // ranges [0, threads)
    const int start = blockIdx.x * cols;    // BUG: of the rows beyond 2^31 elements it is negative

    float largest = -INFINITY;
    for (int col = thread; col < cols; col += blockDim.x) {
        largest = fmaxf(largest, x[start + col]);
    }
    shared[thread] = largest;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half) {
            shared[thread] = fmaxf(shared[thread], shared[thread + half]);
        }
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();

    float sum = 0.0f;
    for (int col = thread; col < cols; col += blockDim.x) {
        sum += expf(x[start + col] - largest);
    }
    shared[thread] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half) {
            shared[thread] += shared[thread + half];
        }
        __syncthreads();
    }
    sum = shared[0];

    for (int col = thread; col < cols; col += blockDim.x) {
        y[start + col] = expf(x[start + col] - largest) / sum;
    }
}
