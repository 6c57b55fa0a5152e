#include "forbidden.h"

#include <sys/mman.h>

#include "state.h"

namespace cuda_on_cpu {

namespace {

struct Range {
  char *mapping;
  size_t mapped, before;
  const char *why;
};
constexpr int most_ranges = 16;
struct Ranges {
  Range at[most_ranges] = {};
  int count = 0;
  ~Ranges() {
    for (int i = 0; i < count; i++) munmap(at[i].mapping, at[i].mapped);
  }
};
PerRun<Ranges> ranges;

}  // namespace

char *begin_forbidden(size_t before, size_t more, const char *why) {
  constexpr size_t page = 4096;
  auto pages = [](size_t bytes) { return (bytes + page - 1) / page * page; };
  if (ranges.count == most_ranges) return nullptr;
  void *memory = mmap(nullptr, pages(before) + pages(more), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, pages(before), PROT_READ | PROT_WRITE)) return nullptr;
  ranges.at[ranges.count++] = {static_cast<char *>(memory), pages(before) + pages(more), pages(before), why};
  return static_cast<char *>(memory) + pages(before);
}

const char *why_forbidden(uintptr_t address) {
  for (int i = 0; i < ranges.count; i++) {
    const Range &one = ranges.at[i];
    if (address - reinterpret_cast<uintptr_t>(one.mapping) - one.before < one.mapped - one.before) return one.why;
  }
  return nullptr;
}

}  // namespace cuda_on_cpu
