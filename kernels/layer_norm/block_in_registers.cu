// Layer norm of each row by a block that holds it in registers as it lies in memory: read once, written once, one barrier.
//
// Each warp sums the squares of the differences from its own mean, and Chan's formula joins the warps: no digits are lost however
// large the mean is, and the block meets once.
// As in softmax/packed_in_registers, threads and vectors a thread are template parameters, and __launch_bounds__
// says how many blocks a multiprocessor runs at once. block_in_registers_bf16 is the same kernel for 16 bits.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..2147483647", cols = "1..16384" }  # longer rows are faster in clusters
// tune   = { threads = [64, 128, 256, 512, 1024], vectors = [2, 4, 8] }
// where  = ["cols <= 4 * threads * vectors"]
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors, two adds of its four sums, its element of the edge; then the halvings
// form      = "welford"
// adds      = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry = "layer_norm_block_in_registers<float, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// ///

#include "mean_and_squares.cuh"

template <class E, int THREADS, int VECTORS>
__global__ void __launch_bounds__(THREADS, resident_packed_blocks(THREADS, VECTORS))
layer_norm_block_in_registers(E *__restrict__ y, const E *__restrict__ x, const E *__restrict__ w,
                              const E *__restrict__ b, int cols) {
    // y and x are (rows, cols), w and b are (cols); a block a row
    constexpr int width = Vector<E>::width, AHEAD = 1;
    __shared__ OfWarps<float4, THREADS> of_warps;
    HeldRow<E, THREADS, VECTORS> mine(x, cols, packed_zeros<E>(), 0.0f);
    y += static_cast<size_t>(blockIdx.x) * cols;
    const E *const at = mine.row.x;
    const bool is_aligned = is_placed_alike(y, at) && is_placed_alike(w, at) && is_placed_alike(b, at);
    Packed<E> weights[AHEAD], biases[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        if (is_aligned && mine.has(k)) {
            weights[k] = mine.packed_at(w, k);
            biases[k] = mine.packed_at(b, k);
        }
    }

    const float4 of_warp = parts_of_warp(mine);
    const float2 moments = mean_and_squares(of_warp, cols, of_warps);
    const float mean = moments.x;
    const float scale = rsqrtf(moments.y / cols + 1e-5f);

#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        mine.forget(k);
        if (mine.has(k)) {
            Vector<E> v = mine.floats(k), by, plus;
            if (is_aligned) {
                by = floats_in(k < AHEAD ? weights[k % AHEAD] : mine.packed_at(w, k));
                plus = floats_in(k < AHEAD ? biases[k % AHEAD] : mine.packed_at(b, k));
            } else {
                by = load_singly(w + mine.place(k));
                plus = load_singly(b + mine.place(k));
            }
#pragma unroll
            for (int j = 0; j < width; ++j) {
                v.of[j] = (v.of[j] - mean) * scale * by.of[j] + plus.of[j];
            }
            if (is_aligned) {
                narrow(y + mine.place(k), v);
            } else {
                store_singly(y + mine.place(k), v);
            }
        }
    }
    if (mine.col >= 0) {
        y[mine.col] = static_cast<E>((mine.edge - mean) * scale * static_cast<float>(w[mine.col]) + static_cast<float>(b[mine.col]));
    }
}
