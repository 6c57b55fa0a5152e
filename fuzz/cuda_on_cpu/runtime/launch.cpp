#include "launch.h"

#include "block.h"
#include "checker.h"
#include "grid.h"
#include "report.h"
#include "shared_memory.h"

namespace cuda_on_cpu {

sigjmp_buf way_out;
static const Step *step;
static void *kernel_args[max_args];
static uint64_t arg_values[max_args];

void call_kernel() { step->entry->invoke(kernel_args); }

void stop_run(Status status) {
  run->status = status;
  siglongjmp(way_out, 1);
}

void bind_arguments(const Step &the_step, void **args, uint64_t *values) {
  for (uint32_t i = 0; i < the_step.arg_count; i++) {
    const Argument &a = the_step.args[i];
    values[i] = a.buffer >= 0 ? reinterpret_cast<uint64_t>(run->buffers[a.buffer].address) : static_cast<uint64_t>(a.value);
    args[i] = &values[i];
  }
}

void launch(const Step &the_step) {
  step = &the_step;
  const Module &module = *run->module;
  current_place = module.thread;
  *module.block_dim = {step->block[0], step->block[1], step->block[2]};
  *module.grid_dim = {step->grid[0], step->grid[1], step->grid[2]};
  if (step->context)
    kernel_args[0] = step->context;
  else
    bind_arguments(*step, kernel_args, arg_values);
  prepare_threads(*step);
  if (run->check)
    checker_starts_launch(step->shared);
  else
    paint_shared_zones(step->shared);
  run_grid(*step, BlockOrder(uint64_t{step->grid[0]} * step->grid[1] * step->grid[2] / size_of_cluster(*step)), module.block);
  if (run->check)
    checker_ends_launch();
  else
    check_shared_zones(step->shared);
}

}  // namespace cuda_on_cpu
