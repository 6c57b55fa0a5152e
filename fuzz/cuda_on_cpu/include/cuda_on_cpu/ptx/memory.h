// PTX's plain loads and stores, of up to four values at once, aligned as a whole; addresses of memory and of clusters.
#pragma once
#include "../atomic.h"
#include "../memory.h"
#include "registers.h"

CUDA_ON_CPU_IMPORT void *cuda_on_cpu_cluster_shared_at(uint64_t address);
CUDA_ON_CPU_IMPORT uint32_t cuda_on_cpu_read_together(const void *at, uint32_t bytes);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_must_be_aligned(const void *p, uint32_t alignment, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_not_multicast(const void *p, int line);

namespace cuda_on_cpu {

// A value to be stored, from a register that may be wider.
template <class T, class In>
CUDA_ON_CPU_INLINE T ptx_narrowed(In in) {
  if constexpr (std::is_integral_v<T> && ptx_is_integer<In> && sizeof in >= sizeof(T)) return static_cast<T>(in);
  else return ptx_as<T>(in);
}

template <class T, int count>
struct PtxVector {
  typedef T type __attribute__((vector_size(count * sizeof(T))));
};
// The compiler's own check of alignment would name a line of this file.
template <int bytes>
CUDA_ON_CPU_OF_REGISTERS void ptx_must_be_aligned(const void *p, int line) {
  if (reinterpret_cast<uintptr_t>(p) % bytes) cuda_on_cpu_must_be_aligned(p, bytes, line);
}
// In a module of the count flavour (counted_registers.h). A constant into a place whose trail it ends is stored like a register.
template <class T, class... Out>
void ptx_load_counted(const void *from, Out &&...out);
template <class T, class... In>
void ptx_store_counted(void *to, In... in);
#ifdef CUDA_ON_CPU_COUNT
template <class T>
constexpr bool ptx_is_stored = ptx_counts<T> || std::is_same_v<T, long long> || std::is_same_v<T, unsigned long long> || std::is_floating_point_v<T>;
#else
template <class T>
constexpr bool ptx_is_stored = false;
#endif

// `fresh_`: past the caches that other multiprocessors do not see, as __ldcg and volatile. The hooks take 16 bytes at once.
template <class T, int count, bool fresh_, class... Out>
CUDA_ON_CPU_OF_REGISTERS void ptx_load(int line, const void *from, Out &&...out) {
  static_assert(sizeof...(Out) == count, "as many registers as the vector has elements");
  ptx_must_be_aligned<count * sizeof(T)>(from, line);
  if constexpr ((ptx_counts<PtxPlain<Out>> || ...)) {
    ptx_load_counted<T>(from, out...);
  } else if constexpr (count == 1) {
    if constexpr (fresh_) (ptx_put_wider(out, fresh(static_cast<const T *>(from))), ...);
    else (ptx_put_wider(out, *static_cast<const T *>(from)), ...);
  } else {
    constexpr int each = count * sizeof(T) > 16 ? 16 / sizeof(T) : count;
    using Vector = typename PtxVector<T, each>::type;
    Vector read[count / each];
    for (int part = 0; part < count / each; part++) read[part] = static_cast<const Vector *>(from)[part];
    int i = 0;
    (([&] {
       ptx_put_wider(out, static_cast<T>(read[i / each][i % each]));
       i++;
     }()),
     ...);
  }
}
template <class T, int count, bool fresh_, class... In>
CUDA_ON_CPU_OF_REGISTERS void ptx_store(int line, void *to, In... in) {
  static_assert(sizeof...(In) == count, "as many registers as the vector has elements");
  ptx_must_be_aligned<count * sizeof(T)>(to, line);
  if constexpr ((ptx_is_stored<In> && ...)) {
    ptx_store_counted<T>(to, in...);
  } else if constexpr (count == 1) {
    if constexpr (fresh_) (set_fresh(static_cast<T *>(to), ptx_narrowed<T>(in)), ...);
    else ((*static_cast<T *>(to) = ptx_narrowed<T>(in)), ...);
  } else {
    constexpr int each = count * sizeof(T) > 16 ? 16 / sizeof(T) : count;
    using Vector = typename PtxVector<T, each>::type;
    T values[] = {ptx_narrowed<T>(in)...};
    for (int part = 0; part < count / each; part++) {
      Vector made;
      for (int i = 0; i < each; i++) made[i] = values[part * each + i];
      static_cast<Vector *>(to)[part] = made;
    }
  }
}

// An address in the shared memory of any block of the cluster.
template <class Register>
CUDA_ON_CPU_INLINE void *ptx_cluster_shared(Register address) { return cuda_on_cpu_cluster_shared_at(static_cast<uint64_t>(address)); }
template <class To>
CUDA_ON_CPU_INLINE void ptx_put_address(To &&to, const void *p) {
  auto bits = reinterpret_cast<uint64_t>(p);
  if constexpr (sizeof(std::remove_reference_t<To>) == 4) ptx_put(to, static_cast<uint32_t>(bits));
  else ptx_put(to, bits);
}

CUDA_ON_CPU_INLINE uint32_t ptx_cluster_blocks() {
  return cuda_on_cpu_cluster_side(0) * cuda_on_cpu_cluster_side(1) * cuda_on_cpu_cluster_side(2);
}
CUDA_ON_CPU_INLINE uint32_t ptx_axis(uint3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
CUDA_ON_CPU_INLINE uint32_t ptx_cluster_nctaid(int axis) { return cuda_on_cpu_cluster_side(axis); }
CUDA_ON_CPU_INLINE uint32_t ptx_clusterid(int axis) { return ptx_axis(blockIdx, axis) / cuda_on_cpu_cluster_side(axis); }
CUDA_ON_CPU_INLINE uint32_t ptx_nclusterid(int axis) { return ptx_axis(gridDim, axis) / cuda_on_cpu_cluster_side(axis); }
CUDA_ON_CPU_INLINE uint32_t ptx_cluster_ctaid(int axis) { return ptx_axis(blockIdx, axis) % cuda_on_cpu_cluster_side(axis); }

// What the driver gives a cooperative launch: in the second word the blocks of the grid wait for one another.
alignas(16) inline uint32_t ptx_grid_workspace[4];
CUDA_ON_CPU_INLINE uint32_t ptx_grid_workspace_at(int half) {
  return static_cast<uint32_t>(reinterpret_cast<uint64_t>(ptx_grid_workspace) >> (32 * half));
}

// Zeros, the only value that PTX has for it, eight bytes at a time.
CUDA_ON_CPU_INLINE void ptx_store_bulk(int line, void *to, uint64_t bytes, int zero) {
  if (bytes % 8 || zero) __trap(line);
  cuda_on_cpu_must_be_aligned(to, 8, line);
  for (uint64_t i = 0; i < bytes / 8; i++) static_cast<uint64_t *>(to)[i] = 0;
}

}  // namespace cuda_on_cpu
