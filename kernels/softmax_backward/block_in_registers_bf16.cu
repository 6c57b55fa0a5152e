// The gradient of a softmax in bfloat16 by its answer y, by a block that holds rows of y and g in registers.
//
// The kernel of softmax_backward/block_in_registers with vectors of eight; sums and everything between are float.
//
// /// kernel
// op     = "softmax_backward"
// axes   = { rows = "1..2147483647", cols = "1..32768" }
// tune   = { threads = [64, 128, 256, 512, 1024], vectors = [2, 4, 8] }
// where  = ["cols <= 8 * threads * vectors", "threads * vectors <= 4096"]
// arrays = { y = "bf16[rows, cols] -> y", g = "bf16[rows, cols] -> g", dx = "bf16[rows, cols] <- dx" }
// align  = 4
//
// [accuracy]  # a thread's vectors give each of its four sums two terms; its element of the edge; then the halvings
// form = "y (g - s)"
// adds = "2 * ceil_div(cols, 8 * threads) + 2 + ceil_log2(min(threads, min(cols, max(38, cols / 8))))"
//
// [[launch]]
// entry = "softmax_backward_block_in_registers<__nv_bfloat16, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// ///

#include "block_in_registers.cu"
