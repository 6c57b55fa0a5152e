// PTX's products of warpgroups: wgmma. The runtime computes them; it gets the variables in which a thread has its sums.
#pragma once
#include "../../../runtime/tensor_operands.h"
#include "registers.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_wgmma(const cuda_on_cpu::Wgmma *asked, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_wgmma_fence();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_wgmma_commit();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_wgmma_wait(uint32_t but);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_set_registers(uint32_t count, int line);

namespace cuda_on_cpu {

// A variable of 32 bits that is an operand of a product. A reference may be accessed again by another name.
struct PtxPlace {
  void *at;
  bool is_reference;
};
#define CUDA_ON_CPU_PLACE(...) ::cuda_on_cpu::ptx_place<decltype(__VA_ARGS__)>((__VA_ARGS__))
template <class Declared, class T>
CUDA_ON_CPU_INLINE PtxPlace ptx_place(T &&variable) {
  static_assert(sizeof variable == 4, "a register of 32 bits");
  return {const_cast<void *>(static_cast<const volatile void *>(&variable)), std::is_lvalue_reference_v<Declared>};
}

template <uint32_t words, class... Place>
CUDA_ON_CPU_INLINE Wgmma ptx_product(TensorType a, TensorType b, TensorType sum, uint32_t columns, Place... sums) {
  static_assert(sizeof...(sums) == words, "as many registers as the shape has");
  Wgmma made;
  made.a = a, made.b = b, made.sum = sum, made.columns = columns;
  made.clamps = made.adds = made.negates_a = made.negates_b = made.a_by_column = made.b_by_column = made.a_in_registers = made.is_sparse = false;
  made.metadata = made.selector = 0;
  made.sum_count = words;
  made.watches_sums = (sums.is_reference && ...);
  uint32_t i = 0;
  ((made.sums[i++] = sums.at), ...);
  return made;
}
template <class... Place>
CUDA_ON_CPU_INLINE void ptx_a_in_registers(Wgmma &product, Place... words) {
  static_assert(sizeof...(words) == 4, "as many registers as the shape has");
  product.a_in_registers = true;
  uint32_t i = 0;
  auto take = [&](PtxPlace place) {
    __builtin_memcpy(&product.a_words[i], place.at, 4);
    product.a_places[i++] = place.is_reference ? place.at : nullptr;
  };
  (take(words), ...);
}
// An immediate: 1 or -1, or 0 or 1.
template <bool is_sign, class T>
CUDA_ON_CPU_INLINE bool ptx_flag(T value) { return is_sign ? value < 0 : value != 0; }

}  // namespace cuda_on_cpu
