// Softmax of each row by the fastest method for its length on an H200: lanes, a block, a cluster, the whole GPU, two launches.
//
// Each method is in its own file, with its reasons. Up to 256 columns lanes hold a row, up to 32,768 the registers
// of a block, up to 262,144 those of 8 or 16 blocks, and from 5,242,881 to 8,650,752 all 132 multiprocessors
// together: x is read once, y is written once, and no kernel can move less. Other long rows are read twice. If x and y
// together fit into the second-level cache, up to 4,096 columns are loaded to registers and stored without that cache
// (row.cuh). benchmarks/speed/README.md has the figures.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..1073741824", cols = "1..1073741824" }
// align  = 4
// launch = [
//   { when = "cols <= 256", entry = "softmax_lanes_a_row<float, 16, {2 if cols <= 128 else 4}>", grid = "ceil_div(rows, 4)", block = 64 },
//   { when = "256 < cols <= 32768", entry = "softmax_block_in_registers<float, {threads}, {vectors}, Loads({loads})>", grid = "rows", block = "threads" },
//   { when = "by_cluster", entry = "softmax_packed_in_registers<float, 256, {held}, {blocks}>", grid = "blocks * rows", cluster = "blocks", block = 256 },
//   { when = "by_card", entry = "softmax_row_on_card<512, 20>", grid = 132, cooperative = true, block = 512, shared = "2 * 12 * 16 * 512" },
//   { when = "is_long", entry = "softmax_parts<float, 512>", grid = "rows * parts", block = 512 },
//   { when = "is_long", entry = "softmax_write<float, 512>", grid = "rows * parts", block = 512 },
// ]
//
// [let]
// is_large   = "rows * cols > 4194304"  # x and y together do not fit into the second-level cache
// is_huge    = "rows * cols > 12582912"  # nor does x alone
// is_middle  = "is_large and 2048 < cols <= 4096"
// by_cluster = "32768 < cols <= 262144 and rows < 134217728"
// by_card    = "5242880 < cols <= 8650752"
// is_long    = "cols > 32768 and not by_cluster and not by_card"
// near       = "16 if cols <= 256 else 64 if cols <= 512 else 512 if is_middle else 128 if cols <= 4096 else 256"
// threads    = "near if cols <= 10240 else 1024 if 16384 < cols <= 32768 else 512"
// vectors    = "2 if cols <= 1024 or is_middle else 4 if cols <= 2048 else 10 if 8192 < cols <= 10240 else 8"
// loads      = "2 if cols <= 4096 and not is_large else 1 if 8192 < cols <= 10240 and not is_huge else 0"  # row.cuh names them
// held       = "8 if cols <= 131072 else 16"  # vectors of a thread of a cluster: of 16 three blocks of 256 run at once
// blocks     = "8 if cols <= 65536 else 16"
// parts      = "132 if by_card else min(ceil_div(1056, rows), ceil_div(cols, 8192)) if is_long else 0"
// share      = "ceil_div(ceil_div(cols / 4, blocks if by_cluster else max(parts, 1)), 8) * 8"  # vectors of a part
// joining    = "ceil_log2(parts) if by_card else ceil_div(parts, 32) - 1 + ceil_log2(min(parts, 32)) if is_long else 0"
// of_block   = "ceil_div(cols / 4, 256 * blocks) + 2 + ceil_log2(256 * blocks)"
// of_row     = "ceil_div(cols, 4 * threads) + 2 + ceil_log2(min(threads, min(cols, max(6, cols / 4))))"
//
// [arrays]
// x      = "f32[rows, cols] -> x"
// y      = "f32[rows, cols] <- y"
// maxima = "f32[rows, parts]"
// sums   = "f32[rows, parts]"
//
// [accuracy]  # as each method says it
// adds     = "of_row if cols <= 32768 else of_block if by_cluster else 14 + ceil_div(share, 2048) + joining"
// rescales = "0 if cols <= 32768 else 2 if by_cluster else ceil_div(share, 2048) + 2"
// shift    = "running max"
// exp      = "expf"
// divide   = "reciprocal"
//
// [values]
// nan     = "row"
// pos_inf = "row"
// ///

#include "block_in_registers.cu"
#include "lanes_a_row.cu"
#include "packed_in_registers.cu"
#include "row_on_card.cu"
#include "two_launches_reversed.cu"
