// Cross-entropy of each row in bfloat16 and its label by a block that reads the row once; it computes in float.
//
// The kernel of cross_entropy/online_block with vectors of eight, and __expf, which takes half as long as expf.
//
// /// kernel
// op     = "cross_entropy"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "bf16[rows, cols] -> x", labels = "i32[rows] -> labels", loss = "f32[rows] <- loss" }
// align  = 4
//
// [accuracy]  # within four vectors, the rounds, the halvings
// form      = "log s - (x - m)"
// adds      = "9 + ceil_div(cols, 32 * threads) + ceil_log2(threads)"
// rescales  = "ceil_div(cols, 32 * threads) + 2"
// shift     = "running max"
// exp       = "__expf"
// functions = { log = "logf" }
//
// [[launch]]
// entry = "cross_entropy_online_block<__nv_bfloat16, {threads}>"
// grid  = "rows"
// block = "threads"
// ///

#include "../sixteen_bits.cuh"
#include "online_block.cu"
