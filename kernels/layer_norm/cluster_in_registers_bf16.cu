// Layer norm of rows in bfloat16 by clusters of blocks that hold a row in registers: read once, written once.
//
// Each warp tells its sum, and its squares about its own mean, to all blocks of the cluster: the blocks meet once a row. A block
// has the same columns of each row. With `apiece` rows for a cluster its part of the weights stays in shared memory: read from
// the second-level cache for each row, they are twice as many bytes as the row, and that cache is the limit from 131,072 floats on.
// If `ahead`, the next row is copied into shared memory while one is computed; otherwise more blocks run at once. Each row has a
// place of its own for what the warps tell, so that no warp waits until the others have read.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..134217727", cols = "1..524288" }
// tune   = { cluster = [2, 4, 8, 16], threads = [256, 512], apiece = [1, 8], ahead = [0, 1] }
// where  = ["cols <= 64 * threads * cluster", "ahead < apiece"]
// arrays = { x = "bf16[rows, cols] -> x", w = "bf16[cols] -> w", b = "bf16[cols] -> b", y = "bf16[rows, cols] <- y" }
// align  = 4
//
// [let]
// share = "ceil_div(ceil_div(cols / 8, cluster), 4) * 4"  # vectors of a block
//
// [accuracy]  # each of a thread's four sums has two terms of a vector; the edge; then the halvings, of threads and of blocks
// form      = "welford"
// adds      = "2 * ceil_div(share, threads) + 2 + ceil_log2(min(threads, max(38, share))) + ceil_log2(cluster)"
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
//
// [[launch]]
// entry   = "layer_norm_cluster_in_registers<__nv_bfloat16, {threads}, 8, {cluster}, {apiece}, {ahead}>"
// grid    = "cluster * ceil_div(rows, apiece)"
// cluster = "cluster"
// block   = "threads"
// shared  = "(ahead + 2) * 16 * 8 * threads if apiece > 1 else 0"
// ///

#include "cluster_in_registers.cu"
