// Cross-entropy of each row and its label by a block that reads the row once: a running maximum, and the sum below it.
//
// A thread takes four vectors at a time and changes its maximum once for all of them. The block meets once, at the end.
// The loss is log(sum) - (x_label - max): (max + log(sum)) - x_label loses digits where the maximum is large.
//
// /// kernel
// op     = "cross_entropy"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", labels = "i32[rows] -> labels", loss = "f32[rows] <- loss" }
// align  = 4
//
// [accuracy]  # within four vectors, the rounds, the halvings
// form      = "log s - (x - m)"
// adds      = "5 + ceil_div(cols, 16 * threads) + ceil_log2(threads)"
// rescales  = "ceil_div(cols, 16 * threads) + 2"
// shift     = "running max"
// exp       = "expf"
// functions = { log = "logf" }
//
// [[launch]]
// entry = "cross_entropy_online_block<float, {threads}>"
// grid  = "rows"
// block = "threads"
// ///

#include "../softmax/four_vectors.cuh"
#include "../softmax/parts_joined.cuh"

template <class E, int THREADS>
__global__ void __launch_bounds__(THREADS)
cross_entropy_online_block(float *__restrict__ loss, const E *__restrict__ x, const int *__restrict__ labels, int cols) {
    // loss and labels are (rows), x is (rows, cols), labels in [0, cols); a block a row
    constexpr int warps = THREADS / 32;
    __shared__ float2 of_warp[warps];
    const Row<E> row(x, blockIdx.x, cols);
    float max = row.template element<PLAIN>(row.edge(threadIdx.x), -INFINITY);
    float sum = expf(max - finite_or_zero(max));  // 0 where there is none
    for (int i = threadIdx.x; i < row.vectors; i += 4 * THREADS) {
        Vector<E> four[4];
        load_four<THREADS, PLAIN>(four, row, i, row.vectors);
        take(four, max, sum);
    }
    const float2 of_lanes = lanes_joined<32>(make_float2(max, sum));
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = of_lanes;
    }
    __syncthreads();
    const float2 all = lanes_joined<warps>(of_warp[threadIdx.x % warps]);
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(all.y) - (static_cast<float>(row.x[labels[blockIdx.x]]) - all.x);
    }
}
