#include "report.h"

#include "block.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

struct Damage {
  bool is_damaged;
};
PerRun<Damage> damage;

}  // namespace

void run_is_damaged() {
  damage.is_damaged = true;
  run->status = Status::stopped;
}

Finding *report(Kind kind, uint64_t pc, uint32_t line, uint64_t other_pc, uint32_t other_line) {
  if (damage.is_damaged && may_follow_from_damage(kind)) return nullptr;
  for (uint32_t i = 0; i < run->finding_count; i++) {
    Finding &f = run->findings[i];
    if (f.kind == kind && f.pc == pc && f.line == line && f.other_pc == other_pc && f.other_line == other_line) {
      f.count++;
      return nullptr;
    }
  }
  if (run->finding_count == run->finding_capacity) return nullptr;
  Finding &f = run->findings[run->finding_count++];
  f = {};
  f.kind = kind;
  f.pc = pc;
  f.line = line;
  f.other_pc = other_pc;
  f.other_line = other_line;
  f.step = run->step;
  f.block = block.number;
  f.thread = static_cast<uint32_t>(block.current);
  f.count = 1;
  f.launched = run->launched_now;
  return &f;
}

Finding *reported(Kind kind, uint64_t pc, uint64_t other_pc) {
  for (uint32_t i = 0; i < run->finding_count; i++) {
    Finding &f = run->findings[i];
    if (f.kind == kind && f.pc == pc && !f.line && f.other_pc == other_pc) return &f;
  }
  return nullptr;
}

void report_barrier_after_exit(int line, int exited, int first_exited) {
  if (Finding *f = report(Kind::barrier_after_exit, 0, static_cast<uint32_t>(line))) {
    f->detail = static_cast<uint64_t>(exited);
    f->other_thread = static_cast<uint32_t>(first_exited);
  }
}

void report_divergent_barrier(int line, int other_line) {
  report(Kind::divergent_barrier, 0, static_cast<uint32_t>(line), 0, static_cast<uint32_t>(other_line));
}

void report_inactive_lane(int thread, int source_lane, uint32_t mask) {
  if (Finding *f = report(Kind::inactive_lane, 0, static_cast<uint32_t>(threads.line[thread]))) {
    f->thread = static_cast<uint32_t>(thread);
    f->other_thread = static_cast<uint32_t>((thread & ~(warp_lanes - 1)) + source_lane);
    f->detail = mask;
  }
}

void report_mask_without_caller(uint32_t mask, int line) {
  if (Finding *f = report(Kind::mask_without_caller, 0, static_cast<uint32_t>(line))) f->detail = mask;
}

void report_waits_for_more_blocks(uint32_t resident) {
  if (Finding *f = report(Kind::waits_for_more_blocks, 0, 0)) f->detail = resident;
}

void report_grid_never_meets(uint32_t waiting, bool some_cannot_start) {
  Kind kind = some_cannot_start ? Kind::grid_never_starts : Kind::grid_never_meets;
  if (Finding *f = report(kind, 0, static_cast<uint32_t>(threads.line[block.current]))) f->detail = waiting;
}

// The current thread waits at the barrier of its cluster, and another one elsewhere.
void report_cluster_never_meets(uint32_t missing, uint64_t other_block, int other_thread, int other_line) {
  Finding *f = report(Kind::cluster_never_meets, 0, static_cast<uint32_t>(threads.line[block.current]), 0, static_cast<uint32_t>(other_line));
  if (!f) return;
  f->detail = missing;
  f->other_block = other_block;
  f->other_thread = static_cast<uint32_t>(other_thread);
}

void report_lanes_never_meet(int waiting, int missing, uint32_t mask, bool missing_is_at_barrier) {
  Finding *f = report(Kind::lanes_never_meet, 0, static_cast<uint32_t>(threads.line[waiting]), 0,
                      static_cast<uint32_t>(threads.line[missing]));
  if (!f) return;
  f->thread = static_cast<uint32_t>(waiting);
  f->other_thread = static_cast<uint32_t>(missing);
  f->detail = mask;
  f->bytes = missing_is_at_barrier;
}

}  // namespace cuda_on_cpu
