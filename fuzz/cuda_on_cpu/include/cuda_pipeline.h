// A thread's asynchronous copies to shared memory, in batches.
#pragma once
#include "cuda_on_cpu.h"

CUDA_ON_CPU_INLINE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0) {
  cuda_on_cpu_async_copy(to, from, static_cast<uint32_t>(bytes), static_cast<uint32_t>(zeros), nullptr, 0);
}
CUDA_ON_CPU_INLINE void __pipeline_commit() { cuda_on_cpu_async_commit(); }
CUDA_ON_CPU_INLINE void __pipeline_wait_prior(size_t but) { cuda_on_cpu_async_wait(static_cast<uint32_t>(but)); }
