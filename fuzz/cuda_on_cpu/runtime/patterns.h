// Memory that is full of one repeated pattern from the start, and takes room only where it is written.
//
// The pattern lies in a small file in memory that is mapped again and again, privately: reading shows the file's pages, and
// the system copies a page when it is first written.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

struct Pattern {
  int file;
  uint64_t bytes;  // of the file, a multiple of all page sizes
};

// False if the system gives no memory for it. `unit_bytes` divides `bytes`.
bool make_pattern(Pattern &pattern, const void *unit, uint64_t unit_bytes, uint64_t bytes);
void forget_pattern(Pattern &pattern);  // what is mapped stays

// Replaces the pages of a range; it begins at a page's start, and its end is rounded up to a page's.
bool map_pattern(const Pattern &pattern, void *start, uint64_t bytes);
// The same with zeros, and with memory that must not be touched.
bool map_zeros(void *start, uint64_t bytes);
bool map_nothing(void *start, uint64_t bytes);

}  // namespace cuda_on_cpu
