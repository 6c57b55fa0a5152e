// units: held_races report ordering knowledge messages work memory_map shadow growing arena guard_zone heap shared_memory stacks unwritten cluster block
#include "runtime/held_races.h"

#include "runtime/ordering.h"
#include "expect.h"

using namespace cuda_on_cpu;

static BlockOrdering its;
static uint32_t word = 7;
static char *anchor() { return nullptr; }

static Meeting writes_meet(uint64_t pc) {
  Trace before = {ordering.now, who_is(1, 0x100), how_is(0x100, Trace::whole)};
  return {reinterpret_cast<uintptr_t>(&word), 4, pc, 0, true, before, true};
}

int main() {
  SmallRun job;
  Module module = {};
  module.thread_local_anchor = anchor;
  job.module = &module;
  block.size = block.live = 64;
  EXPECT(prepare_ordering());
  order_launch();
  order_block(its);
  block.current = 40;

  hold_race(writes_meet(0x200));
  EXPECT(job.finding_count == 0);  // it is judged at the next barrier
  settle_races();
  EXPECT(job.finding_count == 1 && job.room[0].kind == Kind::same_value_race);  // the word has not changed
  EXPECT(job.room[0].thread == 40 && job.room[0].other_thread == 1 && job.room[0].relation == in_one_block);
  EXPECT(job.room[0].pc == 0x200 && job.room[0].other_pc == 0x100);

  hold_race(writes_meet(0x300));
  word = 8;
  settle_races();
  EXPECT(job.finding_count == 2 && job.room[1].kind == Kind::race);
  settle_races();
  EXPECT(job.finding_count == 2 && job.room[1].count == 1);  // each is told once
  return failures;
}
