// units: lower_halves
#include "runtime/lower_halves.h"

#include <sys/mman.h>

#include "expect.h"

using namespace cuda_on_cpu;

constexpr uint64_t bytes = 5 << 16, four_gigabytes = uint64_t{1} << 32;

uintptr_t mapped(void *place, uint64_t size, int flags) {
  return reinterpret_cast<uintptr_t>(mmap(place, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0));
}

int main() {
  Stretch taken[3] = {};
  taken[0] = {reinterpret_cast<uintptr_t>(map_apart(bytes, taken, 0)), bytes};
  EXPECT(taken[0].start);

  // Everything from there to where the addresses have the same lower halves again: the next mapping lies there.
  uintptr_t below = taken[0].start - four_gigabytes + bytes / 2;
  EXPECT(mapped(reinterpret_cast<void *>(below + bytes), four_gigabytes - bytes - bytes / 2, MAP_FIXED_NOREPLACE) == below + bytes);
  uintptr_t next = mapped(nullptr, bytes, 0);
  EXPECT(next == below);
  munmap(reinterpret_cast<void *>(next), bytes);

  for (uint32_t count = 1; count < 3; count++) {  // the second time the place right below is taken, too
    if (count == 2) mapped(reinterpret_cast<void *>(taken[1].start - 3 * bytes), 3 * bytes, MAP_FIXED_NOREPLACE);
    taken[count] = {reinterpret_cast<uintptr_t>(map_apart(bytes, taken, count)), bytes};
    EXPECT(taken[count].start);
    for (uint32_t k = 0; k < count; k++) {
      auto apart = static_cast<int32_t>(static_cast<uint32_t>(taken[count].start - taken[k].start));
      EXPECT(apart >= static_cast<int32_t>(bytes) || apart <= -static_cast<int32_t>(bytes));
    }
  }
  return failures;
}
