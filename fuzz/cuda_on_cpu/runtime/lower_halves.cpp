#include "lower_halves.h"

#include <sys/mman.h>

namespace cuda_on_cpu {

namespace {

uint32_t lower(uintptr_t address) { return static_cast<uint32_t>(address); }

bool is_apart(const Stretch &a, const Stretch &b) {
  return lower(a.start - b.start) >= b.bytes && lower(b.start - a.start) >= a.bytes;
}

}  // namespace

// The stacks of a cluster's threads fill gigabytes, so that the next mapping may well lie 4 GB below an earlier one. If the
// lower half of an address is that of another stretch, the next place to try is right below that stretch's. Where something
// else lies there, the places after it are further and further below.
void *map_apart(uint64_t bytes, const Stretch *others, uint32_t count) {
  constexpr uint32_t more = 256;  // places that are taken by something else
  uintptr_t place = 0;
  uint64_t step = bytes;
  for (uint32_t attempt = 0; attempt < count + more; attempt++) {
    void *memory = mmap(reinterpret_cast<void *>(place), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    Stretch made = {reinterpret_cast<uintptr_t>(memory), bytes};
    uint32_t met = 0;
    while (met < count && is_apart(made, others[met])) met++;
    if (met == count) return memory;
    munmap(memory, bytes);
    bool is_taken = place && made.start != place;
    place = is_taken ? place - step : made.start - lower(made.start + bytes - others[met].start);
    step = is_taken ? 2 * step : bytes;
  }
  return nullptr;
}

}  // namespace cuda_on_cpu
