// units: vast block
#include "runtime/vast.h"

#include "expect.h"

using namespace cuda_on_cpu;

int main() {
  SmallRun job;
  job.buffer_count = 2;
  job.arrays[0].bytes = job.arrays[1].bytes = uint64_t{9} << 30;
  job.arrays[0].flags = is_alternating;
  job.arrays[0].fill = 0x3F800000;
  job.arrays[0].element_bytes = job.arrays[1].element_bytes = 4;
  job.arrays[0].vast_rows = job.arrays[0].bytes / 40;
  job.arrays[0].vast_inner = 10;
  job.arrays[1].distance = 16;
  job.arrays[1].fill = 0x7FBADBAD;
  char *place = nullptr;
  for (int run = 0; run < 2; run++) {  // a run gives the memory of the one before it back, and has the same addresses
    RunState state;
    EXPECT(place_vast_buffers(job));
    EXPECT(job.touched_count == 0);
    char *first = job.arrays[0].address, *second = job.arrays[1].address;
    if (!place) place = first;
    EXPECT(first == place);
    EXPECT(second - first > ptrdiff_t{9} << 30);
    EXPECT(reinterpret_cast<uintptr_t>(second) % 256 == 16);

    uint64_t index = (uint64_t{1} << 31) + 12;  // row 214748366 of kind 0, column 0
    uintptr_t at = reinterpret_cast<uintptr_t>(first + 4 * index);
    EXPECT(index / 10 % 7 == 0 && index % 10 == 0);
    EXPECT(touch_vast_buffer(job, at) == Touch::filled);
    auto *row = reinterpret_cast<const uint32_t *>(at);
    for (int column = 0; column < 10; column++) EXPECT(row[column] == (column % 2 ? 0 : 0x3F800000));
    for (int column = 0; column < 10; column++) EXPECT(row[10 + column] == ((column + 1) % 3 ? 0 : 0x3F800000));
    EXPECT(touch_vast_buffer(job, at) == Touch::none);  // it lies open: a fault there has another cause
    EXPECT(touch_vast_buffer(job, reinterpret_cast<uintptr_t>(second + 4)) == Touch::filled);
    EXPECT(*reinterpret_cast<uint32_t *>(second) == 0x7FBADBAD);
    EXPECT(job.touched_count == 2);
    EXPECT(touch_vast_buffer(job, at - (uint64_t{8} << 30) - (uint64_t{1} << 20)) == Touch::none);  // between the buffers
  }
  release_vast_buffers();
  return failures;
}
