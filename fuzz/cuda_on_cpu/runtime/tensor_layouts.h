// Where things lie in tensor memory: the words of tcgen05.ld and .st, and the matrices of tcgen05.mma.
#pragma once
#include "tensor_operands.h"

namespace cuda_on_cpu {

constexpr uint32_t tensor_lanes = 128, tensor_columns = 512, lanes_of_quarter = 32;

struct TensorPlace {
  uint32_t lane, column;
};

inline TensorPlace place_at(uint32_t address) { return {address >> 16, address & 0xffff}; }

// Register `word` of a lane of the warp, from the address of the transfer; columns of 32 bits.
inline TensorPlace place_of_word(const TensorTransfer &t, uint32_t lane, uint32_t word) {
  switch (t.shape) {
    case TensorShape::lanes16_bits64: return {lane / 4 + lane % 2 * 8, lane / 2 % 2 + 2 * word};
    case TensorShape::lanes16_bits128: return {lane / 4 + word % 2 * 8, lane % 4 + word / 2 * 4};
    case TensorShape::lanes16_bits256: return {lane / 4 + word / 2 % 2 * 8, lane % 4 * 2 + word % 2 + word / 4 * 8};
    case TensorShape::lanes16_bits32_twice: return {lane % 16, word + lane / 16 * t.second_half};
    default: return {lane, word};
  }
}

// A product of `rows` by `columns`. Each block of a pair has half of the rows.
struct TensorLayout {
  uint32_t rows, columns;
  bool of_two_blocks, keeps_b;
  uint32_t rows_each() const { return of_two_blocks ? rows / 2 : rows; }
  // Where fewer than 128 lanes have rows, they lie apart, or the other lanes have the rest of the columns.
  uint32_t parts() const { return keeps_b || of_two_blocks ? tensor_lanes / rows_each() : 1; }
  uint32_t lane_of(uint32_t row) const { return parts() == 1 && rows_each() == 64 ? row / 16 * lanes_of_quarter + row % 16 : row; }
  TensorPlace sum(uint32_t row, uint32_t column) const {
    uint32_t each = columns / parts();
    return {lane_of(row) + column / each * rows_each(), column % each};
  }
};

}  // namespace cuda_on_cpu
