#include "launch.h"

#include <unistd.h>

#include "block.h"
#include "checker.h"
#include "grid.h"
#include "host_code.h"
#include "report.h"
#include "shared_memory.h"
#include "state.h"

namespace cuda_on_cpu {

PerRun<WayOut> way_out;

namespace {

struct Launch {
  const Step *step;
  void *kernel_args[max_args];
  uint64_t arg_values[max_args];
  Launch() {}
};
PerRun<Launch> current;

}  // namespace

void call_kernel() { current.step->entry->invoke(current.kernel_args); }

void stop_run(Status status) {
  if (run->is_program) claim_end();
  run->status = status;
  if (!pthread_equal(pthread_self(), way_out.thread)) {
    if (run->is_program) let_other_thread_close();
    pthread_kill(way_out.thread, way_out_signal);
    for (;;) pause();
  }
  siglongjmp(way_out.buffer, 1);
}

void bind_arguments(const Step &the_step, void **args, uint64_t *values) {
  for (uint32_t i = 0; i < the_step.arg_count; i++) {
    const Argument &a = the_step.args[i];
    values[i] = a.buffer >= 0 ? reinterpret_cast<uint64_t>(run->buffers[a.buffer].address) : static_cast<uint64_t>(a.value);
    args[i] = &values[i];
  }
}

void launch(const Step &the_step) {
  current.step = &the_step;
  const Module &module = *run->module;
  turns.current_place = module.thread;
  *module.block_dim = {current.step->block[0], current.step->block[1], current.step->block[2]};
  *module.grid_dim = {current.step->grid[0], current.step->grid[1], current.step->grid[2]};
  if (current.step->context)
    current.kernel_args[0] = current.step->context;
  else
    bind_arguments(*current.step, current.kernel_args, current.arg_values);
  prepare_threads(*current.step);
  forget_taken_addresses();
  if (run->check)
    checker_starts_launch(current.step->shared);
  else
    paint_shared_zones(current.step->shared);
  run_grid(*current.step, BlockOrder(uint64_t{current.step->grid[0]} * current.step->grid[1] * current.step->grid[2] / size_of_cluster(*current.step)), module.block);
  if (run->check)
    checker_ends_launch();
  else
    check_shared_zones(current.step->shared);
  *module.block_dim = {};
}

}  // namespace cuda_on_cpu
