// What a warp can do together; kernels (include/) and the runtime (warp.cpp) share the list.
#pragma once

namespace cuda_on_cpu {

enum class WarpOperation {
  shuffle,
  ballot,
  sync,
  converge,
  match,
  match_all,
  add,
  min_signed,
  max_signed,
  min_unsigned,
  max_unsigned,
  bit_and,
  bit_or,
  bit_xor,
};

}  // namespace cuda_on_cpu
