// What a kernel's thread says to the runtime about a product of its warpgroup, wgmma.mma_async (warpgroups.h).
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

enum class WgmmaType : uint32_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, f32, s32 };

constexpr uint32_t most_sum_words = 128;

struct Wgmma {
  WgmmaType a, b, sum;
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

}  // namespace cuda_on_cpu
