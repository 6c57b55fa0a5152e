// RMS norm of rows in bfloat16 by clusters of blocks that hold a row in registers: read once, written once.
//
// As in layer_norm/cluster_in_registers: with `apiece` rows for a cluster, a block's part of the weights stays in shared memory, and
// if `ahead`, the next row is on its way there while one is computed. Each warp tells its sum of squares to all blocks.
//
// /// kernel
// op     = "rms_norm"
// axes   = { rows = "1..134217727", cols = "1..524288" }
// tune   = { cluster = [2, 4, 8, 16], threads = [256, 512], apiece = [1, 8], ahead = [0, 1] }
// where  = ["cols <= 64 * threads * cluster", "ahead < apiece"]
// arrays = { x = "bf16[rows, cols] -> x", w = "bf16[cols] -> w", y = "bf16[rows, cols] <- y" }
// align  = 4
//
// [let]
// share = "ceil_div(ceil_div(cols / 8, cluster), 4) * 4"  # vectors of a block
//
// [accuracy]  # each of a thread's four sums has two terms of a vector; the edge; then the halvings, of threads and of blocks
// adds      = "2 * ceil_div(share, threads) + 2 + ceil_log2(min(threads, max(38, share))) + ceil_log2(cluster)"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry   = "rms_norm_cluster_in_registers<__nv_bfloat16, {threads}, 8, {cluster}, {apiece}, {ahead}>"
// grid    = "cluster * ceil_div(rows, apiece)"
// cluster = "cluster"
// block   = "threads"
// shared  = "(ahead + 1) * 16 * 8 * threads if apiece > 1 else 0"
// ///

#include "cluster_in_registers.cu"
