// Loads that ask the second-level cache to keep what they read.
//
// If what is read and written does not fit into that cache, memory does best when it evicts
// what is written first: a softmax in registers gains 3 % by this, a copy 1.5 %. The next
// kernel does not pay for it: a copy of a copy's output, 16 to 512 MB, takes as long as after
// a plain one, or less. The one exception was 6 % slower, at 16 MB, where both request it.
//
// For weights, which every block reads, it makes no difference in most kernels. layer_norm/block_in_registers
// needs it, 257 us instead of 299 at 8192x16384; the norms in row_in_shared lose by it.
#pragma once

#include <cuda/annotated_ptr>

template <class T>
__device__ __forceinline__ const T *kept(const T *from) {
    return cuda::associate_access_property(from, cuda::access_property::persisting{});
}
