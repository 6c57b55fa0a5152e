// Layer norm of each row in bfloat16 by a block that holds it in registers, two elements a register; it computes in float.
//
// The kernel of layer_norm/block_in_registers with vectors of eight, for rows of any length and at any alignment.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..2147483647", cols = "1..65536" }
// tune   = { threads = [64, 128, 256, 512, 1024], vectors = [2, 4, 8] }
// where  = ["cols <= 8 * threads * vectors"]
// arrays = { x = "bf16[rows, cols] -> x", w = "bf16[cols] -> w", b = "bf16[cols] -> b", y = "bf16[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors give each of its four sums two terms; its element of the edge; then the halvings
// form      = "welford"
// adds      = "2 * ceil_div(cols, 8 * threads) + 2 + ceil_log2(min(threads, min(cols, max(38, cols / 8))))"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry = "layer_norm_block_in_registers<__nv_bfloat16, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// ///

#include "block_in_registers.cu"
