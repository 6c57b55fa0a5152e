// Log-softmax of each row in bfloat16 by a block that holds it in registers, two elements a register; it computes in float.
//
// The kernel of log_softmax/block_in_registers with vectors of eight, and __expf: what it leaves out is lost in the rounding.
//
// /// kernel
// op     = "log_softmax"
// axes   = { rows = "1..2147483647", cols = "1..65536" }
// tune   = { threads = [64, 128, 256, 512, 1024], vectors = [2, 4, 8] }
// where  = ["cols <= 8 * threads * vectors"]
// arrays = { x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
// align  = 4
//
// [accuracy]  # a thread's vectors give each of its four sums two terms; its element of the edge; then the halvings
// form      = "x - m - log s"
// adds      = "2 * ceil_div(cols, 8 * threads) + 2 + ceil_log2(min(threads, min(cols, max(38, cols / 8))))"
// rescales  = 1
// shift     = "running max"
// exp       = "__expf"
// functions = { log = "logf" }
//
// [[launch]]
// entry = "log_softmax_block_in_registers<__nv_bfloat16, {threads}, {vectors}>"
// grid  = "rows"
// block = "threads"
// ///

#include "block_in_registers.cu"
