// Asynchronous copies: the base of cuda_pipeline.h, cuda/pipeline, cooperative_groups/memcpy_async.h and PTX's
// cp.async.
#pragma once
#include "language.h"

// A copy belongs to the thread's next batch, or to a phase of a barrier.
CUDA_ON_CPU_IMPORT void cuda_on_cpu_async_copy(void *to, const void *from, uint32_t bytes, uint32_t zeros, const void *barrier,
                                               uint32_t phase);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_async_commit();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_async_wait(uint32_t but);
CUDA_ON_CPU_IMPORT uint32_t cuda_on_cpu_async_batches();
// Makes the copies of all phases of a barrier before this one; a thread that reads the barrier's word from now on knows
// of them. False: there are none.
CUDA_ON_CPU_IMPORT bool cuda_on_cpu_async_land(const void *barrier, uint32_t phase);

namespace cuda_on_cpu {

// In the largest pieces that the hardware copies and that fit.
CUDA_ON_CPU_INLINE void async_copy(void *to, const void *from, size_t bytes, const void *barrier = nullptr, uint32_t phase = 0) {
  char *into = static_cast<char *>(to);
  const char *out_of = static_cast<const char *>(from);
  while (bytes) {
    size_t apart = reinterpret_cast<uintptr_t>(into) | reinterpret_cast<uintptr_t>(out_of);
    size_t piece = 16;
    while (piece > bytes || apart % piece) piece /= 2;
    cuda_on_cpu_async_copy(into, out_of, static_cast<uint32_t>(piece), 0, barrier, phase);
    into += piece, out_of += piece, bytes -= piece;
  }
}

}  // namespace cuda_on_cpu
