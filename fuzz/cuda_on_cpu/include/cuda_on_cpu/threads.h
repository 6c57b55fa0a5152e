// The indices of a thread, and the barriers of a block. (Why `extern const`: runtime/module.cpp.)
#pragma once
#include "language.h"
#include "vectors.h"

extern const CUDA_ON_CPU_HIDDEN uint3 threadIdx __asm__("cuda_on_cpu_thread");
extern const CUDA_ON_CPU_HIDDEN struct CudaOnCpuPlace {
  unsigned int x, y, z;
  int rank;
} cuda_on_cpu_place __asm__("cuda_on_cpu_thread");
extern const CUDA_ON_CPU_HIDDEN uint3 blockIdx __asm__("cuda_on_cpu_block");
// Not dim3, which has constructors: g++ then does not treat an extern const of it as a constant, and reports every read
// of it.
extern const CUDA_ON_CPU_HIDDEN uint3 blockDim __asm__("cuda_on_cpu_block_dim");
extern const CUDA_ON_CPU_HIDDEN uint3 gridDim __asm__("cuda_on_cpu_grid_dim");
static constexpr int warpSize = 32;

CUDA_ON_CPU_IMPORT void cuda_on_cpu_barrier(int line);
CUDA_ON_CPU_IMPORT int cuda_on_cpu_barrier_count(int predicate, int line);
CUDA_ON_CPU_IMPORT int cuda_on_cpu_barrier_and(int predicate, int line);
CUDA_ON_CPU_IMPORT int cuda_on_cpu_barrier_or(int predicate, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_grid_barrier(int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_cluster_barrier(int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_cluster_arrive(int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_cluster_arrive_relaxed(int line);  // orders only what its thread has fenced
CUDA_ON_CPU_IMPORT void cuda_on_cpu_cluster_wait(int line);
CUDA_ON_CPU_IMPORT uint32_t cuda_on_cpu_cluster_rank();
CUDA_ON_CPU_IMPORT uint32_t cuda_on_cpu_dynamic_shared_bytes();
CUDA_ON_CPU_IMPORT uint32_t cuda_on_cpu_cluster_side(int axis);
CUDA_ON_CPU_IMPORT uint32_t cuda_on_cpu_shared_rank(const void *p);
CUDA_ON_CPU_IMPORT void *cuda_on_cpu_map_shared(const void *p, uint32_t rank);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_fence(int of_block);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_trap(int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_refused(const char *words);
extern "C" __attribute__((visibility("default"))) char *const cuda_on_cpu_dynamic_shared;

static inline void __syncthreads(CUDA_ON_CPU_LINE) { cuda_on_cpu_barrier(line); }
static inline int __syncthreads_count(int predicate, CUDA_ON_CPU_LINE) { return cuda_on_cpu_barrier_count(predicate, line); }
static inline int __syncthreads_and(int predicate, CUDA_ON_CPU_LINE) { return cuda_on_cpu_barrier_and(predicate, line); }
static inline int __syncthreads_or(int predicate, CUDA_ON_CPU_LINE) { return cuda_on_cpu_barrier_or(predicate, line); }

static inline void __threadfence() { cuda_on_cpu_fence(false); }
static inline void __threadfence_block() { cuda_on_cpu_fence(true); }
static inline void __threadfence_system() { cuda_on_cpu_fence(false); }
static inline void __trap(CUDA_ON_CPU_LINE) { cuda_on_cpu_trap(line); }
static inline void __brkpt(CUDA_ON_CPU_LINE) { cuda_on_cpu_trap(line); }

namespace cuda_on_cpu {

static inline bool is_launched() { return blockDim.x != 0; }
// What the kernel's own __cluster_dims__ says, at its beginning.
static inline void has_cluster(uint32_t x, uint32_t y = 1, uint32_t z = 1) {
  if (cuda_on_cpu_cluster_side(0) != x || cuda_on_cpu_cluster_side(1) != y || cuda_on_cpu_cluster_side(2) != z)
    cuda_on_cpu_refused("a kernel with __cluster_dims__ is launched through a pointer, where the cpu device loses them; launch it by its name");
}
static inline int thread_rank() { return cuda_on_cpu_place.rank; }
static inline int lane() { return thread_rank() & (warpSize - 1); }

}  // namespace cuda_on_cpu
