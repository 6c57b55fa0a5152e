// The gradient of a softmax by its answer, by a cluster of blocks that hold rows of y and g in registers: read once, written once.
//
// The kernel of softmax_backward/block_in_registers, for rows that are too long for one block. Each warp tells its sum to
// all blocks of the cluster, so that the blocks meet once.
//
// /// kernel
// op     = "softmax_backward"
// axes   = { rows = "1..134217727", cols = "1..262144" }
// tune   = { cluster = [2, 4, 8, 16], threads = [256, 512], vectors = [4, 8] }
// where  = ["cols <= 4 * threads * vectors * cluster"]
// arrays = { y = "f32[rows, cols] -> y", g = "f32[rows, cols] -> g", dx = "f32[rows, cols] <- dx" }
// align  = 4
//
// [let]
// share = "ceil_div(ceil_div(cols / 4, cluster), 4) * 4"  # vectors of a block
//
// [accuracy]  # a thread's vectors, two adds of its sums, the edge; then the halvings, of threads and of blocks
// form = "y (g - s)"
// adds = "ceil_div(share, threads) + 2 + ceil_log2(min(threads, max(18, share))) + ceil_log2(cluster)"
//
// [[launch]]
// entry   = "softmax_backward_block_in_registers<float, {threads}, {vectors}, {cluster}>"
// grid    = "cluster * rows"
// cluster = "cluster"
// block   = "threads"
// ///

#include "block_in_registers.cu"
