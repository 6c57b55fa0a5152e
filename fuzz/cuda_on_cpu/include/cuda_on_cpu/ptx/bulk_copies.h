// PTX's copies of boxes: their coordinates are registers.
#pragma once
#include "../bulk_copy.h"
#include "../warp.h"
#include "registers.h"

namespace cuda_on_cpu {

template <uint32_t axes, class... Corner>
CUDA_ON_CPU_INLINE void ptx_box_load(void *to, const void *map, void *barrier, uint32_t mask, Corner... corner) {
  static_assert(sizeof...(corner) == axes, "as many coordinates as axes");
  const int32_t at[] = {static_cast<int32_t>(corner)...};
  cuda_on_cpu_box_load(to, map, at, axes, barrier, mask);
}
template <uint32_t axes, class... Corner>
CUDA_ON_CPU_INLINE void ptx_box_store(const void *map, const void *from, BulkOperation operation, Corner... corner) {
  static_assert(sizeof...(corner) == axes, "as many coordinates as axes");
  const int32_t at[] = {static_cast<int32_t>(corner)...};
  cuda_on_cpu_box_store(map, at, axes, from, operation);
}
template <uint32_t axes, class... Corner>
CUDA_ON_CPU_INLINE void ptx_box_prefetch(const void *map, Corner... corner) {
  static_assert(sizeof...(corner) == axes, "as many coordinates as axes");
  const int32_t at[] = {static_cast<int32_t>(corner)...};
  cuda_on_cpu_box_prefetch(map, at, axes);
}

// A warp copies a map from shared memory, and fences it for the thread that uses the copy.
CUDA_ON_CPU_INLINE void ptx_publish_map(int line, void *to, const void *from) {
  struct alignas(16) Part {
    uint32_t words[4];
  };
  __syncwarp(~0u, line);
  constexpr unsigned parts = 8, used = 4;  // CuTe DSL leaves the others unset: no GPU keeps anything there
  if (lane() < parts) static_cast<Part *>(to)[lane()] = lane() < used ? static_cast<const Part *>(from)[lane()] : Part{};
  __syncwarp(~0u, line);
  cuda_on_cpu_proxy_fence(fence_map_release);
}

}  // namespace cuda_on_cpu
