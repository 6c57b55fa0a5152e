// One run of a job: places its buffers, launches or calls each step, and then checks the guard zones and inputs.
#include "../runtime/arena.h"
#include "../runtime/block.h"
#include "../runtime/checker.h"
#include "../runtime/denormals.h"
#include "../runtime/device_functions.h"
#include "../runtime/heap.h"
#include "../runtime/launch.h"
#include "../runtime/library_image.h"
#include "../runtime/report.h"
#include "../runtime/shared_memory.h"
#include "../runtime/shadow.h"
#include "../runtime/signals.h"
#include "../runtime/stacks.h"
#include "../runtime/state.h"
#include "../runtime/unbacked.h"
#include "../runtime/unwritten.h"
#include "../runtime/vast.h"
#include "host.h"

namespace cuda_on_cpu {

namespace {

struct Machine {
  bool is_ready;  // stacks, arena and heap are mapped, signal handlers installed
};
PerProcess<Machine> machine;

}  // namespace

static void launch_all() {
  if (run->flush_denormals) write_float_control(read_float_control() | flush_bits);
  for (run->step = 0; run->step < run->step_count; run->step++) {
    const Step &next = run->steps[run->step];
    if (run->first_counted && run->step == run->first_counted) begin_counted_call();
    if (next.on_host)
      call_host(next);
    else
      launch(next);
  }
  run->step = run->step_count - 1;
  if (run->first_counted) check_earlier_answers();
}

static bool prepare_memory(const Run &wanted) {
  if (!machine.is_ready) machine.is_ready = cuda_on_cpu_dynamic_shared && map_stacks() && map_arena(wanted.is_program) && map_heap() && install_signal_handlers();
  return machine.is_ready;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

// After a run, however it ended.
static void close_run() {
  way_out.is_open = false;
  leave_kernels();
  leave_host();
  note_in_host(true);
  enter_shared_of(0);
  checker_finish();
  unmap_shared_of_residents();  // of a run that was stopped; a process has 65,530 mappings, and the next library needs some
  if (run->check && run->watched_buffer >= 0)
    run->watched_pc = checker_stored_by(reinterpret_cast<uintptr_t>(run->buffers[run->watched_buffer].address) + run->watched_offset);
  stop_timer();
  run->printed = printed();
  if (!is_vast(*run) && !run->only_launches) {
    check_guards(*run);
    check_inputs(*run);
  }
}

static void close_program() {
  close_run();
  run->when_closed();
}

static bool place_all() {
  if (run->only_launches) return place_unbacked_buffers(*run);
  return is_vast(*run) ? place_vast_buffers(*run) : place_buffers(*run);
}

static bool run_once(Run *the_run) {
  run = the_run;
  run->finding_count = 0;
  run->watched_pc = 0;
  run->status = Status::finished;
  run->step = 0;
  run->launched_count = run->launched_now = run->given_count = 0;
  run->exit_code = 0;
  run->refusal = nullptr;
  run->buffer_count = run->job_buffer_count;
  run->blocks_done = run->thread_steps = run->accesses = 0;
  run->asks_multiprocessors = 0;
  run->skipped_launches = 0;
  run->sampled_launches = run->sampled_blocks = run->blocks_in_full = run->blocks_in_part = 0;
  run->launches_begun = run->blocks_run = run->blocks_checked = run->blocks_of_launch = 0;
  reseed(run->seed);
  restore_globals(*run->module);
  start_printing();
  take_back_stacks();
  enter_shared_of(0);
  if (!is_vast(*run)) release_vast_buffers();
  if (!place_all() || static_shared_bytes() + shared_red_zone > static_shared_capacity) {
    run->status = Status::too_large;
    return true;
  }
  if (run->check && !checker_prepare(*run, library_start(*run->module), library_end(*run->module))) return run->status == Status::too_large;
  uint32_t float_control = read_float_control();
  begin_host_threads();
  if (run->is_program && !prepare_closing(close_program)) return false;
  note_in_host(false);
  way_out.thread = pthread_self();
  start_timer(run->timeout_ms);
  if (!sigsetjmp(way_out.buffer, 0)) {  // handlers do not block signals (SA_NODEFER), so there is no mask to restore
    way_out.is_open = true;
    enter_kernels();
    launch_all();
  }
  if (run->is_program) wait_for_other_threads();
  close_run();
  write_float_control(float_control);
  return true;
}

// How many bytes of addresses a process reserves, of which it touches few: stacks, arena, shadow, and words before late writes.
CUDA_ON_CPU_API uint64_t cuda_on_cpu_addresses() {
  return stack_stride * max_threads + addresses_of_shadow(first_part_bytes) + 2 * first_part_bytes;
}

// False if the system gives no memory for stacks and arena.
CUDA_ON_CPU_API bool cuda_on_cpu_run(Run *the_run) {
  if (!prepare_memory(*the_run)) return false;
  for (;;) {
    RunState state;
    if (!run_once(the_run)) return false;
    if (!has_guessed_wrong()) return true;
  }
}
