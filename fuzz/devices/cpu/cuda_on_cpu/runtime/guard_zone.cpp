#include "guard_zone.h"

#include <cstring>

namespace cuda_on_cpu {

void fill(char *to, uint64_t bytes, uint64_t pattern, uint64_t pattern_bytes) {
  if (!bytes) return;
  uint64_t done = pattern_bytes < bytes ? pattern_bytes : bytes;
  memcpy(to, &pattern, done);
  while (done < bytes) {  // double what is there
    uint64_t more = done < bytes - done ? done : bytes - done;
    memcpy(to + done, to, more);
    done += more;
  }
}

void paint_zone(char *zone, uint32_t poison) { fill(zone, guard_zone_bytes, poison, sizeof poison); }

int64_t first_change(const char *zone, uint32_t poison) {
  if (!memcmp(zone, &poison, sizeof poison) && !memcmp(zone, zone + sizeof poison, guard_zone_bytes - sizeof poison))
    return -1;
  int64_t i = 0;
  while (zone[i] == reinterpret_cast<const char *>(&poison)[i % sizeof poison]) i++;
  return i;
}

int64_t last_change(const char *zone, uint32_t poison) {
  if (first_change(zone, poison) < 0) return -1;
  int64_t i = guard_zone_bytes - 1;
  while (zone[i] == reinterpret_cast<const char *>(&poison)[i % sizeof poison]) i--;
  return i;
}

}  // namespace cuda_on_cpu
