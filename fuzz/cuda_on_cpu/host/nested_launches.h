#pragma once
#include "host.h"

namespace cuda_on_cpu {

// Around a launch: what its threads ask of the API comes from a kernel.
void begin_threads(cudaStream_t stream);
void end_threads();
bool is_asked_by_kernel();
void refuse_to_kernels(const char *function, int line = 0);  // does nothing if the host asks
cudaStream_t stream_of_threads();

void launch_later(const Again &launch, bool is_tail);
void run_nested_launches();  // those of the launch that has just ended, and theirs

}  // namespace cuda_on_cpu
