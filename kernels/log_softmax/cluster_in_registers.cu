// Log-softmax of each row by a cluster of blocks that hold it in registers: read once, written once.
//
// The kernel of log_softmax/block_in_registers, for rows that are too long for one block. Each warp tells its maximum and
// the sum to all blocks of the cluster, so that the blocks meet once; two or more run on a multiprocessor at once, and one
// computes while another waits.
//
// /// kernel
// op     = "log_softmax"
// axes   = { rows = "1..134217727", cols = "1..262144" }
// tune   = { cluster = [2, 4, 8, 16], threads = [256, 512], vectors = [4, 8] }
// where  = ["cols <= 4 * threads * vectors * cluster"]
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// align  = 4
//
// [let]
// share = "ceil_div(ceil_div(cols / 4, cluster), 4) * 4"  # vectors of a block
//
// [accuracy]  # a thread's vectors, two adds of its sums, the edge; then the halvings, of threads and of blocks
// form      = "x - m - log s"
// adds      = "ceil_div(share, threads) + 2 + ceil_log2(min(threads, max(18, share))) + ceil_log2(cluster)"
// rescales  = 2
// shift     = "running max"
// exp       = "expf"
// functions = { log = "logf" }
//
// [[launch]]
// entry   = "log_softmax_block_in_registers<float, {threads}, {vectors}, {cluster}>"
// grid    = "cluster * rows"
// cluster = "cluster"
// block   = "threads"
// ///

#include "block_in_registers.cu"
