// RMS norm of each row by a block that holds it in registers as it lies in memory: read once, written once, one barrier.
//
// Every block reads the weights, and they lie in the caches. Two vectors of them are requested together
// with the row, which gains half a percent to 1 % at 4,096, 16,384 and 32,768 columns; more vectors cost
// registers, and time. The first-level cache gets what shared memory leaves, which here is all of it.
// As in softmax/packed_in_registers, threads and vectors a thread are template parameters, and __launch_bounds__
// says how many blocks a multiprocessor runs at once. block_in_registers_bf16 is the same kernel for 16 bits.
//
// /// kernel
// op     = "rms_norm"
// axes   = { rows = "1..2147483647", cols = "1..16384" }  # longer rows are faster in clusters
// tune   = { threads = [64, 128, 256, 512, 1024], vectors = [2, 4, 8] }
// where  = ["cols <= 4 * threads * vectors"]
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors, two adds of its four sums, its element of the edge; then the halvings
// adds      = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(18, cols / 4))))"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry = "rms_norm_block_in_registers<float, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// ///

#include "../held_row.cuh"

template <class E, int THREADS, int VECTORS>
__global__ void __launch_bounds__(THREADS, resident_packed_blocks(THREADS, VECTORS))
rms_norm_block_in_registers(E *__restrict__ y, const E *__restrict__ x, const E *__restrict__ w, int cols) {
    // y and x are (rows, cols), w is (cols); a block a row
    constexpr int width = Vector<E>::width, AHEAD = 2;
    __shared__ OfWarps<float, THREADS> sums_of_warps;
    HeldRow<E, THREADS, VECTORS> mine(x, cols, packed_zeros<E>(), 0.0f);
    y += static_cast<size_t>(blockIdx.x) * cols;
    const bool is_aligned = is_placed_alike(y, mine.row.x) && is_placed_alike(w, mine.row.x);
    Packed<E> weights[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        if (is_aligned && mine.has(k)) {
            weights[k] = mine.packed_at(w, k);
        }
    }

    float sums[4] = {mine.edge * mine.edge, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        const Vector<E> v = mine.floats(k);
#pragma unroll
        for (int j = 0; j < width; ++j) {
            sums[j % 4] += v.of[j] * v.of[j];
        }
    }
    const float sum = sum_of_row((sums[0] + sums[1]) + (sums[2] + sums[3]), sums_of_warps);
    const float scale = rsqrtf(sum / cols + 1e-6f);

#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        mine.forget(k);
        if (mine.has(k)) {
            const Vector<E> by = !is_aligned ? load_singly(w + mine.place(k)) : floats_in(k < AHEAD ? weights[k % AHEAD] : mine.packed_at(w, k));
            Vector<E> v = mine.floats(k);
#pragma unroll
            for (int j = 0; j < width; ++j) {
                v.of[j] = v.of[j] * scale * by.of[j];
            }
            if (is_aligned) {
                narrow(y + mine.place(k), v);
            } else {
                store_singly(y + mine.place(k), v);
            }
        }
    }
    if (mine.col >= 0) {
        y[mine.col] = static_cast<E>(mine.edge * scale * static_cast<float>(w[mine.col]));
    }
}
