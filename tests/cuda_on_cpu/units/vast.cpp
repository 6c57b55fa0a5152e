// units: vast block
#include "runtime/vast.h"

#include "expect.h"

using namespace cuda_on_cpu;

int main() {
  SmallRun job;
  job.buffer_count = 2;
  job.arrays[0].bytes = job.arrays[1].bytes = uint64_t{9} << 30;
  job.arrays[1].distance = 16;
  char *place = nullptr;
  for (int run = 0; run < 2; run++) {  // a run ends before the next one begins, which has the same addresses
    RunState state;
    EXPECT(place_vast_buffers(job));
    if (!place) place = job.arrays[0].address;
    EXPECT(job.arrays[0].address == place);
    EXPECT(job.arrays[1].address - job.arrays[0].address > ptrdiff_t{9} << 30);
    EXPECT(reinterpret_cast<uintptr_t>(job.arrays[1].address) % 256 == 16);
    EXPECT(job.arrays[0].address[job.arrays[0].bytes - 1] == 0);
    job.arrays[0].address[0] = 1;
  }
  return failures;
}
