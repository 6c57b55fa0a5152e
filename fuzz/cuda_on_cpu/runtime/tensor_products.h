// The matrices of products by wgmma and tcgen05.mma: where their elements lie, and what is computed. Of a sparse A half of the
// elements are stored, so B has twice as many of k.
#pragma once
#include <cstdint>

#include "tensor_operands.h"

namespace cuda_on_cpu {

constexpr uint32_t warpgroup_threads = 128, product_rows = 64, most_columns = 256, stored_bytes = 32, chunk_bytes = 16;
constexpr uint32_t most_depth = 2 * stored_bytes;

// Of shared memory, as a descriptor says it; bytes. `span`: 16 without a swizzle, or the swizzle's width.
struct SharedMatrix {
  uint32_t start, leading, stride, base_offset, span;
};
SharedMatrix matrix_of(uint64_t descriptor);
// As tcgen05 has them. A span of 0: a swizzle that is not built.
SharedMatrix matrix_of_tcgen05(uint64_t descriptor);

uint32_t bytes_of(TensorType type);  // in shared memory; packed elements have half a byte, and two count as one here
// How many elements of k are stored of a row of A, and of one of B unless A is sparse.
inline uint32_t depth_of(TensorType type) { return stored_bytes / bytes_of(type); }
inline uint32_t elements_of(TensorType type) { return type == TensorType::e2m1_packed ? 2 * stored_bytes : depth_of(type); }

// The byte, from the start of the window that a descriptor's addresses count from, of 16 bytes of a matrix: those of row `major`
// from `along` on. `by_depth`: rows are of m or n, and k runs along them; else rows are of k.
uint32_t chunk_at(const SharedMatrix &matrix, uint32_t major, uint32_t along, bool by_depth);

// Calls `each(row, along)` for the chunks of a matrix of so many rows of m or n and elements of k. `along`: the first byte within the row.
template <class Each>
void each_chunk(uint32_t rows, uint32_t depth, TensorType type, bool by_depth, Each each) {
  uint32_t majors = by_depth ? rows : depth, bytes = (by_depth ? depth : rows) * bytes_of(type);
  for (uint32_t major = 0; major < majors; major++)
    for (uint32_t along = 0; along < bytes; along += chunk_bytes) each(major, along);
}

// Factors as numbers, with the exponents by which sums are cut; of integers the numbers alone.
struct Factors {
  double value[most_columns][most_depth];
  int exponent[most_columns][most_depth];
};
// The elements of a chunk; rows of m or n count from `first_row`.
void take_chunk(Factors &into, const void *chunk, TensorType type, uint32_t major, uint32_t along, bool by_depth, uint32_t first_row = 0);
// 32 bits of a row of A, as tensor memory has them, from element `k` on.
void take_word(Factors &into, uint32_t word, TensorType type, uint32_t row, uint32_t k);
// The four words of A that a thread holds.
void take_words(Factors &into, const uint32_t *words, TensorType type, uint32_t thread);
// The element of k that each stored element of a row of A is.
struct Places {
  uint8_t of[product_rows][stored_bytes];
};
constexpr Places every_place() {
  Places made = {};
  for (auto &row : made.of)
    for (uint32_t k = 0; k < stored_bytes; k++) row[k] = static_cast<uint8_t>(k);
  return made;
}
// What a thread's metadata says of its rows; false if PTX leaves undefined what it means.
bool take_places(Places &into, const Wgmma &asked, uint32_t thread);
// The sums of a thread, from its words and back to them; false if PTX leaves open how they are rounded, and it makes a difference.
bool multiply(const Factors &a, const Factors &b, const Places &places, const Wgmma &asked, uint32_t thread);

// tcgen05. How many scale factors along k the factors of a row have, and these.
struct Scales {
  uint32_t count;
  const double *a, *b;
};
double scale_of(uint32_t code, bool is_power);  // ue8m0, or ue4m3
// A sum and the products of a row of A and a column of B. How Blackwell adds is not measured: as a Hopper GPU does, with all
// bits kept for narrow factors, too.
double tensor_sum(const Factors &a, const Factors &b, uint32_t row, uint32_t column, TensorType type, double sum, double sign, const Scales &scales);
int32_t tensor_sum_of_integers(const Factors &a, const Factors &b, uint32_t row, uint32_t column, int32_t sum, bool clamps);
uint16_t half_of(double x);
double of_half(uint16_t bits);

}  // namespace cuda_on_cpu
