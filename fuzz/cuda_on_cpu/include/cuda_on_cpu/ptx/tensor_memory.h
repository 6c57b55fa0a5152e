// PTX's operations on tensor memory: tcgen05. The runtime makes them; a load gets the variables that it writes.
#pragma once
#include "../../../runtime/tensor_operands.h"
#include "registers.h"
#include "warpgroups.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_tensor_allocate(void *to, uint32_t columns, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tensor_free(uint32_t address, uint32_t columns, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tensor_relinquish(int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tensor_transfer(cuda_on_cpu::TensorTransfer *asked, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tensor_wait(bool for_loads);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tensor_fence(bool is_before);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tensor_product(const cuda_on_cpu::TensorProduct *asked);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tensor_copy(uint32_t to, uint64_t descriptor, uint32_t kind, bool of_two_blocks);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_tensor_commit(void *barrier, uint32_t mask);

namespace cuda_on_cpu {

template <TensorShape shape, uint32_t words, bool is_packed>
CUDA_ON_CPU_INLINE TensorTransfer ptx_transfer(uint32_t address, uint32_t second_half) {
  TensorTransfer made;
  made.shape = shape, made.words = words, made.is_packed = is_packed;
  made.address = address, made.second_half = second_half;
  return made;
}
template <TensorShape shape, uint32_t words, bool is_packed, class... Place>
CUDA_ON_CPU_INLINE void ptx_tensor_load(int line, uint32_t address, uint32_t second_half, Place... places) {
  static_assert(sizeof...(places) == words, "as many registers as the shape has");
  auto asked = ptx_transfer<shape, words, is_packed>(address, second_half);
  asked.loads = true, asked.watches = (places.is_reference && ...);
  uint32_t i = 0;
  ((asked.places[i++] = places.at), ...);
  cuda_on_cpu_tensor_transfer(&asked, line);
}
template <TensorShape shape, uint32_t words, bool is_packed, class... Value>
CUDA_ON_CPU_INLINE void ptx_tensor_store(int line, uint32_t address, uint32_t second_half, Value... values) {
  static_assert(sizeof...(values) == words, "as many registers as the shape has");
  uint32_t bits[] = {ptx_as<uint32_t>(values)...};
  auto asked = ptx_transfer<shape, words, is_packed>(address, second_half);
  asked.loads = asked.watches = false;
  for (uint32_t i = 0; i < words; i++) asked.places[i] = bits + i;
  cuda_on_cpu_tensor_transfer(&asked, line);
}

CUDA_ON_CPU_INLINE TensorProduct ptx_tensor_product(TensorKind kind, uint32_t scales, bool of_two_blocks, bool keeps_b) {
  TensorProduct made = {};
  made.kind = kind, made.scales = scales, made.of_two_blocks = of_two_blocks, made.keeps_b = keeps_b;
  return made;
}
template <class... Word>
CUDA_ON_CPU_INLINE void ptx_disable_lanes(TensorProduct &product, Word... words) {
  static_assert(sizeof...(words) == 4 || sizeof...(words) == 8, "a bit for each lane of the blocks");
  uint32_t i = 0;
  ((product.disabled[i++] = ptx_as<uint32_t>(words)), ...);
}

}  // namespace cuda_on_cpu
