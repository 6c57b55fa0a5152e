// Whether the memory of this machine lasts: large arrays are given out before it is known how much of them is touched.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

// From now on, until the run ends, it is looked at once in so many milliseconds of processor time. The run is refused
// before the system would end the process.
void watch_memory();

// A control group, as the system's files in a folder describe it. The limit is 0 if there is none.
struct MemoryGroup {
  uint64_t limit, left;
};
MemoryGroup read_memory_group(const char *folder);

}  // namespace cuda_on_cpu
