// Softmax of each row by the method that is fastest for its length on an H200: lanes, a block, a cluster, the card, two launches.
//
// Each method stands in a file of its own, with its reasons. Up to 256 columns lanes hold a row, up to 32,768 the registers
// of a block do, up to 57,344 its shared memory, up to 393,216 that of 4, 8 or 16 blocks, and from 5,242,881 to 8,650,752 all
// of 132 multiprocessors together: x is read once, y is written once, and no kernel can move less. Other long rows are read
// twice. Where x and y together fit into the second-level cache, registers of up to 4,096 columns are loaded and stored past
// it (row.cuh). benchmarks/speed/SPEED.md has the figures.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..1073741824", cols = "1..1073741824" }
// align  = 4
//
// [let]
// is_large  = "min(1, rows * cols / 4194305)"  # x and y together do not fit into the second-level cache
// is_huge   = "min(1, rows * cols / 12582913)"  # nor does x alone
// is_wide   = "min(1, cols / 57345)"
// by_cluster = "is_wide * (1 - min(1, cols / 393217)) * (1 - min(1, rows / 134217728))"
// by_card   = "min(1, cols / 5242881) * (1 - min(1, cols / 8650753))"
// is_long   = "is_wide - by_cluster - by_card"
// blocks    = "4 + 4 * min(1, cols / 65537) + 8 * min(1, cols / 131073)"  # of a cluster
// held      = "ceil_div(ceil_div(cols / 4, blocks), 8) * 8"  # vectors of one
// of_block  = "256 + 256 * min(1, cols / 131073)"  # threads
// of_held   = "ceil_div(held, of_block) + 2 + ceil_log2(of_block) + ceil_log2(blocks)"
// near      = "16 + 48 * min(1, cols / 257) + 64 * min(1, cols / 513)"
// is_middle = "is_large * (1 - min(1, cols / 4097))"
// of_many   = "128 * min(1, cols / 4097) + 256 * min(1, cols / 10241) + 512 * min(1, cols / 16385) * (1 - min(1, cols / 32769))"
// workers   = "near + 384 * is_middle * min(1, cols / 2049) + of_many"  # of a row
// parts     = "132 * by_card + is_long * min(ceil_div(1056, rows), ceil_div(cols, 8192))"
// share     = "ceil_div(ceil_div(cols / 4, max(parts, 1)), 8) * 8"
// of_part   = "5 + ceil_div(share, 2048) + 9"
// joining   = "is_long * (ceil_div(parts, 32) - 1) + ceil_log2(max(1, by_card * parts + (1 - by_card) * min(parts, 32)))"
// of_row    = "ceil_div(cols, 4 * workers) + 2 + ceil_log2(min(workers, min(cols, max(6, cols / 4))))"
//
// [arrays]
// x      = "f32[rows, cols] -> x"
// y      = "f32[rows, cols] <- y"
// maxima = "f32[rows, parts]"
// sums   = "f32[rows, parts]"
//
// [accuracy]  # as each method says it
// adds     = "(is_long + by_card) * (of_part + joining) + by_cluster * of_held + (1 - is_wide) * of_row"
// rescales = "(is_long + by_card) * (ceil_div(share, 2048) + 2) + 2 * by_cluster"
// shift    = "running max"
// exp      = "expf"
// divide   = "reciprocal"
//
// [values]
// nan     = "row"
// pos_inf = "row"
//
// [[launch]]
// when  = "cols <= 128"
// entry = "softmax_lanes_a_row<float, 16, 2>"
// grid  = "ceil_div(rows, 4)"
// block = "64"
// args  = ["y", "x", "rows", "cols"]
//
// [[launch]]
// when  = "cols > 128 and cols <= 256"
// entry = "softmax_lanes_a_row<float, 16, 4>"
// grid  = "ceil_div(rows, 4)"
// block = "64"
// args  = ["y", "x", "rows", "cols"]
//
// [[launch]]
// when  = "cols > 256 and cols <= 512 and is_large == 0"
// entry = "softmax_block_in_registers<float, 64, 2, STREAMED>"
// grid  = "rows"
// block = "64"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 256 and cols <= 512 and is_large == 1"
// entry = "softmax_block_in_registers<float, 64, 2>"
// grid  = "rows"
// block = "64"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 512 and cols <= 1024 and is_large == 0"
// entry = "softmax_block_in_registers<float, 128, 2, STREAMED>"
// grid  = "rows"
// block = "128"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 512 and cols <= 1024 and is_large == 1"
// entry = "softmax_block_in_registers<float, 128, 2>"
// grid  = "rows"
// block = "128"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 1024 and cols <= 2048 and is_large == 0"
// entry = "softmax_block_in_registers<float, 128, 4, STREAMED>"
// grid  = "rows"
// block = "128"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 1024 and cols <= 2048 and is_large == 1"
// entry = "softmax_block_in_registers<float, 128, 4>"
// grid  = "rows"
// block = "128"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 2048 and cols <= 4096 and is_large == 0"
// entry = "softmax_block_in_registers<float, 128, 8, STREAMED>"
// grid  = "rows"
// block = "128"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 2048 and cols <= 4096 and is_large == 1"
// entry = "softmax_block_in_registers<float, 512, 2>"
// grid  = "rows"
// block = "512"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 4096 and cols <= 8192"
// entry = "softmax_block_in_registers<float, 256, 8>"
// grid  = "rows"
// block = "256"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 8192 and cols <= 10240 and is_huge == 0"
// entry = "softmax_block_in_registers<float, 256, 10, PLAIN>"
// grid  = "rows"
// block = "256"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 8192 and cols <= 10240 and is_huge == 1"
// entry = "softmax_block_in_registers<float, 256, 10>"
// grid  = "rows"
// block = "256"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 10240 and cols <= 16384"
// entry = "softmax_block_in_registers<float, 512, 8>"
// grid  = "rows"
// block = "512"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 16384 and cols <= 32768"
// entry = "softmax_block_in_registers<float, 1024, 8>"
// grid  = "rows"
// block = "1024"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when   = "cols > 32768 and cols <= 57344"
// entry  = "softmax_row_in_shared<float, 512>"
// grid   = "rows"
// block  = "512"
// shared = "16 * (cols / 4)"
// args   = ["y", "x", "cols"]
//
// [[launch]]
// when    = "by_cluster == 1 and cols <= 65536"
// entry   = "softmax_row_in_cluster<4, 256>"
// grid    = "4 * rows"
// cluster = 4
// block   = "256"
// shared  = "16 * held"
// args    = ["y", "x", "held", "cols"]
//
// [[launch]]
// when    = "by_cluster == 1 and cols > 65536 and cols <= 131072"
// entry   = "softmax_row_in_cluster<8, 256>"
// grid    = "8 * rows"
// cluster = 8
// block   = "256"
// shared  = "16 * held"
// args    = ["y", "x", "held", "cols"]
//
// [[launch]]
// when    = "by_cluster == 1 and cols > 131072"
// entry   = "softmax_row_in_cluster<16, 512>"
// grid    = "16 * rows"
// cluster = 16
// block   = "512"
// shared  = "16 * held"
// args    = ["y", "x", "held", "cols"]
//
// [[launch]]
// when        = "by_card == 1"
// entry       = "softmax_row_on_card<512, 20>"
// grid        = "132"
// cooperative = true
// block       = "512"
// shared      = "2 * 12 * 16 * 512"
// args        = ["y", "x", "maxima", "sums", "rows", "share", "cols"]
//
// [[launch]]
// when  = "is_long == 1"
// entry = "softmax_parts<float, 512>"
// grid  = "rows * parts"
// block = "512"
// args  = ["maxima", "sums", "x", "parts", "share", "cols"]
//
// [[launch]]
// when  = "is_long == 1"
// entry = "softmax_write<float, 512>"
// grid  = "rows * parts"
// block = "512"
// args  = ["y", "x", "maxima", "sums", "parts", "share", "cols"]
// ///

#include "block_in_registers.cu"
#include "lanes_a_row.cu"
#include "row_in_cluster.cu"
#include "row_in_shared.cu"
#include "row_on_card.cu"
#include "two_launches_reversed.cu"
