// Softmax of each row in bfloat16 by the method that suits its length, eight elements a load; all between is float.
//
// The methods of softmax/fastest with vectors of eight: half the bytes, the same sums, and one rounding of the answer, in
// which what __expf leaves out is lost. For as many bytes there is twice as much to compute: with expf it is that which takes
// the time. Shared memory holds the elements as they are, in half the room that their floats take in registers, and so it is
// ahead from 10,241 columns on.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..1073741824", cols = "1..1073741824" }
// align  = 4
//
// [let]
// is_large = "min(1, rows * cols / 8388609)"  # x and y together do not fit into the second-level cache
// is_long  = "min(1, cols / 114689)"
// near     = "16 + 48 * min(1, cols / 257) + 64 * min(1, cols / 1025)"
// workers  = "near + 128 * min(1, cols / 4097) + 256 * min(1, cols / 16385)"  # of a row
// parts    = "is_long * min(ceil_div(1056, rows), ceil_div(cols, 16384))"
// share    = "ceil_div(ceil_div(cols / 8, max(parts, 1)), 8) * 8"
// of_part  = "9 + ceil_div(share, 2048) + 9"
// joining  = "ceil_div(parts, 32) - 1 + ceil_log2(max(1, min(parts, 32)))"
// of_row   = "2 * ceil_div(cols, 8 * workers) + 2 + ceil_log2(min(workers, min(cols, max(38, cols / 8))))"
//
// [arrays]
// x      = "bf16[rows, cols] -> x"
// y      = "bf16[rows, cols] <- y"
// maxima = "f32[rows, parts]"
// sums   = "f32[rows, parts]"
//
// [accuracy]  # a worker's vectors give each of its four sums two terms at a time
// adds     = "is_long * (of_part + joining) + (1 - is_long) * of_row"
// rescales = "is_long * (ceil_div(share, 2048) + 2)"
// shift    = "running max"
// exp      = "__expf"
// divide   = "reciprocal"
//
// [values]
// nan     = "row"
// pos_inf = "row"
//
// [[launch]]
// when  = "cols <= 128"
// entry = "softmax_lanes_a_row<__nv_bfloat16, 16, 1, 128>"
// grid  = "ceil_div(rows, 8)"
// block = "128"
// args  = ["y", "x", "rows", "cols"]
//
// [[launch]]
// when  = "cols > 128 and cols <= 256"
// entry = "softmax_lanes_a_row<__nv_bfloat16, 16, 2>"
// grid  = "ceil_div(rows, 4)"
// block = "64"
// args  = ["y", "x", "rows", "cols"]
//
// [[launch]]
// when  = "cols > 256 and cols <= 1024 and is_large == 0"
// entry = "softmax_block_in_registers<__nv_bfloat16, 64, 2, STREAMED>"
// grid  = "rows"
// block = "64"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 256 and cols <= 1024 and is_large == 1"
// entry = "softmax_block_in_registers<__nv_bfloat16, 64, 2>"
// grid  = "rows"
// block = "64"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 1024 and cols <= 2048 and is_large == 0"
// entry = "softmax_block_in_registers<__nv_bfloat16, 128, 2, STREAMED>"
// grid  = "rows"
// block = "128"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 1024 and cols <= 2048 and is_large == 1"
// entry = "softmax_block_in_registers<__nv_bfloat16, 128, 2>"
// grid  = "rows"
// block = "128"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 2048 and cols <= 4096 and is_large == 0"
// entry = "softmax_block_in_registers<__nv_bfloat16, 128, 4, STREAMED>"
// grid  = "rows"
// block = "128"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 2048 and cols <= 4096 and is_large == 1"
// entry = "softmax_block_in_registers<__nv_bfloat16, 128, 4>"
// grid  = "rows"
// block = "128"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 4096 and cols <= 8192 and is_large == 0"
// entry = "softmax_block_in_registers<__nv_bfloat16, 256, 4, STREAMED>"
// grid  = "rows"
// block = "256"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 4096 and cols <= 8192 and is_large == 1"
// entry = "softmax_block_in_registers<__nv_bfloat16, 256, 4>"
// grid  = "rows"
// block = "256"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 8192 and cols <= 10240"
// entry = "softmax_block_in_registers<__nv_bfloat16, 256, 5>"
// grid  = "rows"
// block = "256"
// args  = ["y", "x", "cols"]
//
// [[launch]]
// when   = "cols > 10240 and cols <= 16384"
// entry  = "softmax_row_in_shared<__nv_bfloat16, 256>"
// grid   = "rows"
// block  = "256"
// shared = "16 * (cols / 8)"
// args   = ["y", "x", "cols"]
//
// [[launch]]
// when   = "cols > 16384 and cols <= 114688"
// entry  = "softmax_row_in_shared<__nv_bfloat16, 512>"
// grid   = "rows"
// block  = "512"
// shared = "16 * (cols / 8)"
// args   = ["y", "x", "cols"]
//
// [[launch]]
// when  = "cols > 114688"
// entry = "softmax_parts<__nv_bfloat16, 512>"
// grid  = "rows * parts"
// block = "512"
// args  = ["maxima", "sums", "x", "parts", "share", "cols"]
//
// [[launch]]
// when  = "cols > 114688"
// entry = "softmax_write<__nv_bfloat16, 512>"
// grid  = "rows * parts"
// block = "512"
// args  = ["y", "x", "maxima", "sums", "parts", "share", "cols"]
// ///

#include "../sixteen_bits.cuh"

#include "block_in_registers.cu"
#include "lanes_a_row.cu"
#include "row_in_shared.cu"
#include "two_launches_reversed.cu"
