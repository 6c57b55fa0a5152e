// units: memory_map shadow growing arena guard_zone heap shared_memory stacks unwritten cluster block
#include "runtime/memory_map.h"

#include "runtime/arena.h"
#include "runtime/heap.h"
#include "runtime/shared_memory.h"
#include "expect.h"

using namespace cuda_on_cpu;

static char *anchor() { return cuda_on_cpu_static_shared; }

int main() {
  SmallRun job;
  Module module = {};
  module.thread_local_anchor = anchor;
  SharedArray arrays[] = {{64, 128, 0}, {512, 4, 1}};
  job.module = &module;
  job.shared_arrays = arrays;
  job.shared_array_count = 2;
  job.check = 1;
  EXPECT(map_arena(false) && map_heap());
  job.buffer_count = 1;
  job.arrays[0].bytes = 100;
  job.arrays[0].element_bytes = 4;
  job.arrays[0].fill = 0;
  EXPECT(place_buffers(job));
  EXPECT(map_shadow(memory_map.buffers, arena_start(), arena_bytes()));
  mark_array(job.arrays[0]);

  auto start = reinterpret_cast<uintptr_t>(job.arrays[0].address);
  bool shared = true;
  const Region *region = region_of(start + 96, shared);
  EXPECT(region == &memory_map.buffers && !shared);
  EXPECT(region->cell(start + 96)->addressable() == 15 && region->cell(start + 100)->addressable() == 0);

  Finding finding = {};
  locate(start + 104, finding);  // four bytes past the end
  EXPECT(finding.place == Place::buffer && finding.place_number == 0 && finding.offset == 104);
  finding = {};
  locate(reinterpret_cast<uintptr_t>(cuda_on_cpu_static_shared) + 64 + 128, finding);
  EXPECT(finding.place == Place::static_shared && finding.place_number == 0 && finding.offset == 128);
  finding = {};
  locate(reinterpret_cast<uintptr_t>(cuda_on_cpu_dynamic_shared) + 8, finding);
  EXPECT(finding.place == Place::dynamic_shared && finding.offset == 8);
  EXPECT(is_constructor_guard(reinterpret_cast<uintptr_t>(cuda_on_cpu_static_shared) + 513));
  EXPECT(!is_constructor_guard(reinterpret_cast<uintptr_t>(cuda_on_cpu_static_shared) + 64));

  unmark_array(job.arrays[0]);
  EXPECT(region->cell(start)->addressable() == 0);
  return failures;
}
