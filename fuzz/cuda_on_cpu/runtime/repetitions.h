// Launches that a program repeats although they change nothing, as benchmarks do to measure time.
//
// Once a run samples large launches (sampling.h), a launch that is equal to an earlier one (kernel, arguments, grid) is
// compared by what it does to memory. If it leaves every byte as it was, another one that finds memory in the same state
// would leave it so, too, and is not run.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// Whatever may change memory that kernels read notes it: a copy to the device, a launch, an allocation, a library's work.
void note_memory_change();
// A kernel that prints, or that reads a clock, is always run.
void note_other_effect();

struct LaunchKey {
  const void *kernel;
  void (*invoke)(void **);
  const void *arguments;
  uint64_t bytes;
  bool is_in_only_stream;
};
// A memset, which is not done again either if no memory has changed since it was done.
struct SetKey {
  const void *to;
  uint64_t width, rows, pitch, slice, value, is_in_only_stream;
};
bool is_done_already(const SetKey &key);
bool was_done(const SetKey &key);  // at any time, or to an array alike
void note_done(const SetKey &key);

// Whether the run may leave out work that nothing sees: the host has no memory in common with kernels now.
bool may_skip_work();
bool may_ever_skip_work();  // where it has none
// Whether work that was done so often need not be checked again: once where the run samples, and several times elsewhere.
bool is_often_enough(uint32_t times);
// Whether such a launch has run often enough, and all its effects are in memory. Its arguments may name other arrays, if
// those of the earlier launches are freed by now.
bool has_run(const Step &step, const LaunchKey &key);
// Around a launch. If `begin_launch` is false, it is not to be run, and `end_launch` is not called.
bool begin_launch(const Step &step, const LaunchKey &key);
void end_launch();

}  // namespace cuda_on_cpu
