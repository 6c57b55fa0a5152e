#include "vast.h"
#include "state.h"

#include <sys/mman.h>

#include <cstring>

namespace cuda_on_cpu {

constexpr uint64_t far = uint64_t{9} << 30;  // bytes: 2^31 elements of four, and a few more
constexpr uint64_t page_bound = 65536;       // a multiple of every page size

// The same address in every process, like that of other buffers (arena.cpp).
static void *const usual_place = reinterpret_cast<void *>(uintptr_t{0x580000000000});
namespace {

struct VastMapping {
  char *region;
  uint64_t region_bytes;
  ~VastMapping() {
    if (region) munmap(region, region_bytes);
  }
};
PerRun<VastMapping> mapping;

}  // namespace

static uint64_t pages(uint64_t bytes) { return (bytes + page_bound - 1) & ~(page_bound - 1); }

bool place_vast_buffers(Run &run) {
  mapping.region_bytes = far;
  for (uint32_t i = 0; i < run.buffer_count; i++) mapping.region_bytes += pages(run.buffers[i].bytes + page_bound) + far;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *memory = mmap(usual_place, mapping.region_bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) memory = mmap(nullptr, mapping.region_bytes, PROT_NONE, flags, -1, 0);
  if (memory == MAP_FAILED) return false;
  mapping.region = static_cast<char *>(memory);
  char *at = mapping.region + far;
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    Buffer &b = run.buffers[i];
    uint64_t bytes = pages(b.bytes + page_bound);
    if (mprotect(at, bytes, PROT_READ | PROT_WRITE)) return false;
    madvise(at, bytes, MADV_NOHUGEPAGE);  // storing one element should take one page
    b.address = at + b.distance;
    if (b.flags & has_content) memcpy(b.address, b.content, b.bytes);
    at += bytes + far;
  }
  return true;
}

}  // namespace cuda_on_cpu
