// Zones that nothing may write to: filled with a pattern before a run and checked after it.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

constexpr uint64_t guard_zone_bytes = 4096;

void repeat(char *to, uint64_t bytes, const void *unit, uint64_t unit_bytes);
void fill(char *to, uint64_t bytes, uint64_t pattern, uint64_t pattern_bytes);  // the pattern, repeated
void paint_zone(char *zone, uint32_t poison);

// The first byte of the zones that has changed, and the last one of a zone, or -1.
int64_t first_change(const char *painted, uint64_t bytes, uint32_t poison);
int64_t last_change(const char *zone, uint32_t poison);

}  // namespace cuda_on_cpu
