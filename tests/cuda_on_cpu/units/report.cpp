// units: report block
#include "runtime/report.h"

#include "expect.h"

using namespace cuda_on_cpu;

int main() {
  SmallRun job;
  {
    RunState state;
    block.current = 5;
    block.number = 9;
    Finding *f = report(Kind::race, 0x10, 0, 0x20);
    EXPECT(f && f->thread == 5 && f->block == 9 && f->count == 1);
    EXPECT(!report(Kind::race, 0x10, 0, 0x20));  // the same two places
    EXPECT(f->count == 2 && job.finding_count == 1);
    EXPECT(reported(Kind::race, 0x10, 0x20) == f && !reported(Kind::race, 0x10, 0x30));

    run_is_damaged();
    EXPECT(job.status == Status::stopped);
    EXPECT(!report(Kind::uninitialised, 0x10, 0));  // may follow from the damage
    EXPECT(report(Kind::out_of_bounds, 0x10, 0));
    for (uint32_t i = 0; i < 20; i++) report(Kind::misaligned, i, 0);
    EXPECT(job.finding_count == job.finding_capacity);
  }
  job.finding_count = 0;
  EXPECT(block.current == 0 && block.number == 0);   // the state of a run ends with it
  EXPECT(report(Kind::uninitialised, 0x10, 0));      // and so does the damage
  return failures;
}
