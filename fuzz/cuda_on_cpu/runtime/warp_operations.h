// The operations that a warp does together; kernels (include/) and the runtime (warp.cpp) share the list.
#pragma once

#include <cstdint>

namespace cuda_on_cpu {

// An operation of the whole warp: `work` gets the operands of all 32 lanes, each the address of its lane's
// TogetherWork.
struct TogetherWork {
  void (*work)(const uint64_t *lanes);
};

enum class WarpOperation {
  shuffle,
  ballot,
  sync,
  converge,
  step,
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
  together,
};

}  // namespace cuda_on_cpu
