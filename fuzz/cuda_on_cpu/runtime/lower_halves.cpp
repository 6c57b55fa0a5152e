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
// lower half of an address is that of another stretch, the next place to try is right below that stretch's.
void *map_apart(uint64_t bytes, const Stretch *others, uint32_t count) {
  constexpr uint32_t more = 64;  // places that the kernel chooses, since something else lies where it was asked for
  void *place = nullptr;
  for (uint32_t attempt = 0; attempt < count + more; attempt++) {
    void *memory = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    Stretch made = {reinterpret_cast<uintptr_t>(memory), bytes};
    uint32_t met = 0;
    while (met < count && is_apart(made, others[met])) met++;
    if (met == count) return memory;
    munmap(memory, bytes);
    place = reinterpret_cast<void *>(made.start - lower(made.start + bytes - others[met].start));
  }
  return nullptr;
}

}  // namespace cuda_on_cpu
