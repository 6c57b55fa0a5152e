// Softmax of each row in half precision by the method that suits its length, eight elements a load; it computes in float.
//
// The methods of softmax/fastest with vectors of eight: half the bytes, the same sums, and one
// rounding of the answer, which hides the error of __expf. There is twice as much to compute for each
// byte: with expf that would take most of the time. Up to 32,768 columns registers hold a row as it lies
// in memory, up to 524,288 those of 2, 8 or 16 blocks.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..1073741824", cols = "1..1073741824" }
// align  = 4
// launch = [
//   { when = "cols <= 128", entry = "softmax_lanes_a_row<element, 16, 1, 128, Loads({loads})>", grid = "ceil_div(rows, 8)", block = 128 },
//   { when = "128 < cols <= 256", entry = "softmax_lanes_a_row<element, 16, 2>", grid = "ceil_div(rows, 4)", block = 64 },
//   { when = "256 < cols <= 10240", entry = "softmax_block_in_registers<element, {threads}, {vectors}, Loads({loads})>", grid = "rows", block = "threads" },
//   { when = "10240 < cols <= 32768", entry = "softmax_packed_in_registers<element, {threads}, {vectors}>", grid = "rows", block = "threads" },
//   { when = "by_cluster", entry = "softmax_packed_in_registers<element, {wide}, {held}, {blocks}>", grid = "blocks * rows", cluster = "blocks", block = "wide" },
//   { when = "is_long", entry = "softmax_parts<element, 512>", grid = "rows * parts", block = 512 },
//   { when = "is_long", entry = "softmax_write<element, 512>", grid = "rows * parts", block = 512 },
// ]
//
// [let]
// is_large   = "rows * cols > (4194304 if cols <= 128 else 8388608)"  # x and y together do not fit into the second-level cache
// by_cluster = "32768 < cols <= 524288 and rows < 134217728"
// is_long    = "cols > 32768 and not by_cluster"
// near       = "16 if cols <= 256 else 64 if cols <= 1024 else 128"
// threads    = "near if cols <= 4096 else 256 if cols <= 16384 else 512"
// vectors    = "2 if cols <= 2048 else 4 if cols <= 8192 else 5 if cols <= 10240 else ceil_div(cols, 8 * threads)"
// wide       = "512 if cols <= 65536 else 256"  # threads of a block of a cluster
// held       = "8 if cols <= 262144 else 16"  # their vectors: of 16 three blocks of 256 run at once; of 8, two of 512
// blocks     = "2 if cols <= 65536 else 8 if cols <= 131072 else 16"
// loads      = "2 if cols <= 8192 and not is_large else 0"  # row.cuh names them
// parts      = "min(ceil_div(1056, rows), ceil_div(cols, 16384)) if is_long else 0"
// share      = "ceil_div(ceil_div(cols / 8, blocks if by_cluster else max(parts, 1)), 8) * 8"  # vectors of a part
// joining    = "ceil_div(parts, 32) - 1 + ceil_log2(max(1, min(parts, 32)))"
// of_block   = "2 * ceil_div(cols / 8, wide * blocks) + 2 + ceil_log2(wide * blocks)"
// of_row     = "2 * ceil_div(cols, 8 * threads) + 2 + ceil_log2(min(threads, min(cols, max(38, cols / 8))))"
//
// [arrays]
// x      = "f16[rows, cols] -> x"
// y      = "f16[rows, cols] <- y"
// maxima = "f32[rows, parts]"
// sums   = "f32[rows, parts]"
//
// [accuracy]  # a worker's vectors give each of its four sums two terms at a time
// adds     = "of_row if cols <= 32768 else of_block if by_cluster else 18 + ceil_div(share, 2048) + joining"
// rescales = "0 if cols <= 10240 else 1 if cols <= 32768 else 2 if by_cluster else ceil_div(share, 2048) + 2"
// shift    = "running max"
// exp      = [7, 2.346]  # as packed_in_registers has it
// divide   = "reciprocal"
//
// [values]
// nan     = "row"
// pos_inf = "row"
// ///

#include "../sixteen_bits.cuh"
#include "block_in_registers.cu"
#include "lanes_a_row.cu"
#include "packed_in_registers.cu"
#include "two_launches_reversed.cu"

using element = __half;
