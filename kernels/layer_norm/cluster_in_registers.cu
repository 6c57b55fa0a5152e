// Layer norm of each row by a cluster of blocks that hold it in registers: read once, written once.
//
// The kernel of layer_norm/block_in_registers, for rows that are too long for one block. Each warp tells its sum to all
// blocks of the cluster, so that the blocks meet twice; two or more run on a multiprocessor at once, and one computes while
// another waits.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..134217727", cols = "1..262144" }
// tune   = { cluster = [2, 4, 8, 16], threads = [256, 512], vectors = [4, 8] }
// where  = ["cols <= 4 * threads * vectors * cluster"]
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [let]
// share = "ceil_div(ceil_div(cols / 4, cluster), 4) * 4"  # vectors of a block
//
// [accuracy]  # a thread's vectors, two adds of its sums, the edge; then the halvings, of threads and of blocks
// form      = "two pass"
// adds      = "ceil_div(share, threads) + 2 + ceil_log2(min(threads, max(18, share))) + ceil_log2(cluster)"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry   = "layer_norm_block_in_registers<float, {threads}, {vectors}, {cluster}>"
// grid    = "cluster * rows"
// cluster = "cluster"
// block   = "threads"
// args    = ["y", "x", "w", "b", "cols"]
// ///

#include "block_in_registers.cu"
