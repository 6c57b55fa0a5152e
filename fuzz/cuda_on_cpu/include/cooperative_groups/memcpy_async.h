// Copies that the threads of a group make together, and wait for together.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

namespace details {

template <class Group>
CUDA_ON_CPU_INLINE void copy_shares(const Group &group, void *to, const void *from, size_t bytes) {
  constexpr size_t piece = 16;
  for (size_t at = piece * group.thread_rank(); at < bytes; at += piece * group.size())
    cuda_on_cpu::async_copy(static_cast<char *>(to) + at, static_cast<const char *>(from) + at, bytes - at < piece ? bytes - at : piece);
  cuda_on_cpu_async_commit();
}

}  // namespace details

template <class Group, class T>
CUDA_ON_CPU_INLINE void memcpy_async(const Group &group, T *to, const T *from, size_t bytes) {
  details::copy_shares(group, to, from, bytes);
}
// In elements, of which the lesser number is copied.
template <class Group, class T>
CUDA_ON_CPU_INLINE void memcpy_async(const Group &group, T *to, size_t room, const T *from, size_t count) {
  details::copy_shares(group, to, from, (count < room ? count : room) * sizeof(T));
}

template <class Group>
static inline void wait(const Group &group, CUDA_ON_CPU_LINE) {
  cuda_on_cpu_async_wait(0);
  group.sync(line);
}
template <unsigned int but, class Group>
static inline void wait_prior(const Group &group, CUDA_ON_CPU_LINE) {
  cuda_on_cpu_async_wait(but);
  group.sync(line);
}

}  // namespace cooperative_groups
