// PTX's clusterlaunchcontrol: a block takes the work of one that has not begun.
#pragma once
#include "../../../runtime/launch_answers.h"
#include "registers.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_cancel_block(void *to, void *barrier, bool to_all);

namespace cuda_on_cpu {

template <class Handle>
CUDA_ON_CPU_INLINE LaunchAnswer ptx_launch_answer(Handle handle) {
  static_assert(sizeof handle == sizeof(LaunchAnswer), "a register of 128 bits");
  LaunchAnswer made;
  __builtin_memcpy(&made, &handle, sizeof made);
  return made;
}
template <class Handle>
CUDA_ON_CPU_INLINE bool ptx_is_cancelled(Handle handle) { return ptx_launch_answer(handle).sign == launch_cancelled; }
template <class Handle, class X, class Y, class Z, class Rest>
CUDA_ON_CPU_INLINE void ptx_first_block(Handle handle, X &&x, Y &&y, Z &&z, Rest &&rest) {
  LaunchAnswer answer = ptx_launch_answer(handle);
  ptx_put(x, answer.x);
  ptx_put(y, answer.y);
  ptx_put(z, answer.z);
  ptx_put(rest, uint32_t{0});
}

}  // namespace cuda_on_cpu
