// units: arena guard_zone report block unwritten
#include "runtime/arena.h"

#include "runtime/guard_zone.h"
#include "expect.h"

using namespace cuda_on_cpu;

int main() {
  SmallRun job;
  EXPECT(map_arena(false));
  float content[5] = {1, 2, 3, 4, 5};
  job.buffer_count = 2;
  job.arrays[0].content = content;
  job.arrays[0].bytes = sizeof content;
  job.arrays[0].flags = has_content;
  job.arrays[0].element_bytes = 4;
  job.arrays[0].distance = 16;
  job.arrays[1].bytes = 64;
  job.arrays[1].fill = 0x7fc12345;
  job.arrays[1].element_bytes = 4;
  job.arrays[1].flags = is_output;
  job.poison = 0x7fc12345;
  EXPECT(place_buffers(job));
  EXPECT(reinterpret_cast<uintptr_t>(job.arrays[0].address) % 256 == 16);
  EXPECT(!memcmp(job.arrays[0].address, content, sizeof content));
  EXPECT(job.arrays[1].address - job.arrays[0].address >= static_cast<ptrdiff_t>(sizeof content + 2 * guard_zone_bytes));

  check_guards(job);
  check_inputs(job);
  EXPECT(job.finding_count == 0);

  job.arrays[1].address[64] = 1;  // the first byte after the array
  job.arrays[1].address[-1] = 1;  // the last before it
  job.arrays[0].address[8] = 77;  // an input
  check_guards(job);
  check_inputs(job);
  EXPECT(job.finding_count == 3);
  EXPECT(job.room[0].kind == Kind::guard_overwritten && job.room[0].offset == -1 && job.room[0].place_number == 1);
  EXPECT(job.room[1].kind == Kind::guard_overwritten && job.room[1].offset == 64);
  EXPECT(job.room[2].kind == Kind::input_changed && job.room[2].offset == 8 && job.room[2].place_number == 0);

  job.arrays[1].bytes = uint64_t{2} << 30;
  EXPECT(!place_buffers(job));  // does not fit
  return failures;
}
