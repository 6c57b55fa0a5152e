#include "guard_zone.h"

#include <cstring>

namespace cuda_on_cpu {

void repeat(char *to, uint64_t bytes, const void *unit, uint64_t unit_bytes) {
  if (!bytes) return;
  uint64_t done = unit_bytes < bytes ? unit_bytes : bytes;
  memcpy(to, unit, done);
  while (done < bytes) {  // copy what is there to double it
    uint64_t more = done < bytes - done ? done : bytes - done;
    memcpy(to + done, to, more);
    done += more;
  }
}

void fill(char *to, uint64_t bytes, uint64_t pattern, uint64_t pattern_bytes) { repeat(to, bytes, &pattern, pattern_bytes); }

void paint_zone(char *zone, uint32_t poison) { fill(zone, guard_zone_bytes, poison, sizeof poison); }

int64_t first_change(const char *painted, uint64_t bytes, uint32_t poison) {
  bool whole = bytes >= sizeof poison && !memcmp(painted, &poison, sizeof poison);
  if (whole && !memcmp(painted, painted + sizeof poison, bytes - sizeof poison)) return -1;
  for (uint64_t i = 0; i < bytes; i++)
    if (painted[i] != reinterpret_cast<const char *>(&poison)[i % sizeof poison]) return static_cast<int64_t>(i);
  return -1;
}

int64_t last_change(const char *zone, uint32_t poison) {
  if (first_change(zone, guard_zone_bytes, poison) < 0) return -1;
  int64_t i = guard_zone_bytes - 1;
  while (zone[i] == reinterpret_cast<const char *>(&poison)[i % sizeof poison]) i--;
  return i;
}

}  // namespace cuda_on_cpu
