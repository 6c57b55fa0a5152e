// torch's operations: work on the current stream. The shim does it and says what it accesses (torch/reach.cpp).
#include "../runtime/checker.h"
#include "../runtime/library_image.h"
#include "../runtime/memory_map.h"
#include "../runtime/report.h"
#include "../runtime/state.h"
#include "host.h"

using namespace cuda_on_cpu;

namespace {

constexpr int pool_size = 32;  // for each priority, as in torch
thread_local cudaStream_t current;  // each thread of the host has its own, as in torch

struct Operations {
  cudaStream_t pool[2][pool_size];
  unsigned int taken[2];
  int nested;         // operations that are running; the outermost is a piece of work
  bool is_looked_at;  // it has accessed device memory
  bool host_takes_part, device_is_written;
  uint64_t place;     // in the author's own code, the place of the call
  ~Operations() { current = nullptr; }
};
PerRun<Operations> operations;

// The operation, and its calls: the first one outside the shim, which is linked after the author's file.
void note_operation(const void *frame) {
  Launched asked = {};
  for (int i = 0; i < 3; i++) asked.grid[i] = asked.block[i] = 1;
  note_calls(frame, asked.calls);
  uint64_t shim = reinterpret_cast<uintptr_t>(run->module->thread_local_anchor) - library_start(*run->module);
  operations.place = asked.calls[0];
  for (uint32_t i = most_calls; i-- > 0;)
    if (asked.calls[i] && asked.calls[i] < shim) operations.place = asked.calls[i];
  write_down(asked);
}

}  // namespace

namespace cuda_on_cpu {

void forget_operations() {
  operations.nested = 0;
  operations.is_looked_at = operations.host_takes_part = operations.device_is_written = false;
}

bool is_in_operation() { return operations.nested; }

}  // namespace cuda_on_cpu

CUDA_ON_CPU_API cudaStream_t cuda_on_cpu_current_stream() { return current; }
CUDA_ON_CPU_API void cuda_on_cpu_set_current_stream(cudaStream_t stream) { current = stream; }
CUDA_ON_CPU_API cudaStream_t cuda_on_cpu_pool_stream(int is_urgent) {
  Alone alone;
  cudaStream_t &one = operations.pool[is_urgent][operations.taken[is_urgent]++ % pool_size];
  if (!one) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  return one;
}

// Whether an operation on device memory has nothing to do, because no array holds anything.
CUDA_ON_CPU_API bool cuda_on_cpu_only_launches() { return run->only_launches; }

CUDA_ON_CPU_API void cuda_on_cpu_operation_begins() {
  ++operations.nested;
  host_reaches(true);
}

CUDA_ON_CPU_API void cuda_on_cpu_operation_touches(const void *data, size_t bytes, int writes) {
  operations.device_is_written |= writes != 0;
  if (!run->check || !is_device_memory(data)) return;
  if (!operations.is_looked_at) {
    operations.is_looked_at = true;
    note_operation(__builtin_frame_address(0));
    enter_host(false);
    begin_work(timeline_of(current), Work::operation);
    checker_rests(true);
  }
  auto address = reinterpret_cast<uintptr_t>(data);
  checker_moves(address, bytes, writes ? Move::writes : Move::reads, operations.place, true);
  if (writes) host_has_written(address, bytes);
}

CUDA_ON_CPU_API void cuda_on_cpu_operation_meets_host() { operations.host_takes_part = true; }

// The host waits for the operation's input, and for a copy of what it may change.
CUDA_ON_CPU_API void cuda_on_cpu_operation_ends() {
  if (--operations.nested) return;
  if (operations.is_looked_at) {
    checker_rests(false);
    checker_has_moved();
    end_work();
    if (operations.host_takes_part || !operations.device_is_written) host_waits_for(timeline_of(current));
    enter_host(true);
  }
  operations.is_looked_at = operations.host_takes_part = operations.device_is_written = false;
  host_reaches(false);
}

// A tensor's memory goes back to torch's allocator without waiting.
CUDA_ON_CPU_API void cuda_on_cpu_release(void *memory) { Alone alone; free_at_once(memory); }
