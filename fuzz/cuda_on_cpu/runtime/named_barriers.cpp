// Barriers by number, for some of a block's threads: PTX's bar.sync and bar.arrive.
//
// Each is made of one counter, and of messages like those of an atomic that releases and acquires, so that only what
// precedes an arrival is ordered before what follows a wait.
#include "block.h"
#include "checker.h"
#include "ordering.h"
#include "report.h"

namespace cuda_on_cpu {

namespace {

// No array lies there.
uintptr_t place_of(uint32_t number) { return 8 * (1 + number); }

void tell(uint32_t number, bool releases) {
  if (!run->check) return;
  order_strong(block.current, place_of(number), {Scope::block, !releases, releases, !releases, releases, false});
}

}  // namespace

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API void cuda_on_cpu_named_barrier(uint32_t number, uint32_t threads, bool waits, int line) {
  if (number >= named_barriers || !threads || threads % warp_lanes) {
    report(Kind::trap, 0, static_cast<uint32_t>(line));
    stop_run(Status::stopped);
  }
  NamedBarrier &barrier = block.named[number];
  uint32_t phase = barrier.phase;
  tell(number, true);
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    barrier.phase++;
    came_on();
  }
  if (!waits) return;
  cuda_on_cpu::threads.line[block.current] = line;
  while (block.named[number].phase == phase) poll();
  tell(number, false);
}
