// What a kernel's thread says to the runtime about a product of its warpgroup, wgmma.mma_async (warpgroups.h), and about
// operations on tensor memory, tcgen05 (tensor_memory.h).
#pragma once
#include <cstdint>

#include "warp_operations.h"

namespace cuda_on_cpu {

// Of 6 and 4 bits: 16 bytes of shared memory have 16 elements and then padding; packed, they have 32.
enum class TensorType : uint32_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, f32, s32, e2m3, e3m2, e2m1, e2m1_packed };

constexpr uint32_t most_sum_words = 128;

struct Wgmma {
  TensorType a, b, sum;
  uint32_t columns;
  bool clamps, adds, negates_a, negates_b, a_by_column, b_by_column, a_in_registers;
  // Of each four elements of a row of A, or of two of tf32, half are 0: the others are stored, and this says which they are.
  bool is_sparse;
  uint32_t metadata, selector;
  uint64_t a_at, b_at;  // descriptors of shared memory
  uint32_t a_words[4];
  // The thread's variables. One that is no part of a larger object may be a copy, which nothing accesses again: it is not watched.
  uint32_t sum_count;
  bool watches_sums;
  void *sums[most_sum_words];
  const void *a_places[4];  // null: not watched
};

// tcgen05. An address of tensor memory: the lane in the upper 16 bits, the column in the lower ones.

enum class TensorShape : uint32_t { lanes32_bits32, lanes16_bits64, lanes16_bits128, lanes16_bits256, lanes16_bits32_twice };

constexpr uint32_t most_transfer_words = 128;

// tcgen05.ld and tcgen05.st, which a warp does together.
struct TensorTransfer : TogetherWork {
  TensorShape shape;
  uint32_t words, address;
  uint32_t second_half;  // of lanes16_bits32_twice: columns from the first half
  bool loads, is_packed;  // two halves of neighbouring columns are in one register
  bool watches;           // as in Wgmma
  uint64_t pc;            // of the runtime
  void *places[most_transfer_words];
};

enum class TensorKind : uint32_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

// tcgen05.mma.
struct TensorProduct {
  TensorKind kind;
  uint32_t sums, a_address, a_scales, b_scales;  // in tensor memory
  uint64_t a_at, b_at;                           // descriptors of shared memory
  uint32_t instruction;                          // the instruction descriptor
  uint32_t scales;                               // along k, of a row; 0: none
  uint32_t scale_of_sums;                        // the incoming sums are divided by 2 to this power
  bool of_two_blocks, keeps_b, a_in_tensor_memory, adds;
  uint32_t disabled[8];                          // a bit for each lane that keeps its sums
};

// tcgen05.cp: so many lanes with 16 or 32 bytes each, and which other lanes get them, too.
enum class TensorCopy : uint32_t { lanes128_bits256, lanes128_bits128, lanes64_pairs_02_13, lanes64_pairs_01_23, lanes32_fourfold };

}  // namespace cuda_on_cpu
