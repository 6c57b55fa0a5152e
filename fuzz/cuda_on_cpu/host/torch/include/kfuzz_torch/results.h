// Input and output: a claim's arrays as tensors, and a function's results as arrays.
#pragma once
#include "tensor.h"

CUDA_ON_CPU_IMPORT bool cuda_on_cpu_next_call_overlaps();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_host_gives(const void *data, int type, int rank, const int64_t *sizes);

namespace kfuzz_torch {

template <class T>
at::Tensor tensor(T *data, std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides, int64_t offset) {
  return at::from_device(data, c10::CppTypeToScalarType<T>::value, sizes, strides, offset);
}

void give(const at::Tensor &tensor);  // torch/results.cpp; the tensor lives until the run ends
template <class T>
void give(const std::vector<T> &tensors) {
  for (const T &one : tensors) give(one);
}
template <class... T>
void give(const std::tuple<T...> &tensors) {
  std::apply([](const auto &...one) { (give(one), ...); }, tensors);
}
template <class A, class B>
void give(const std::pair<A, B> &tensors) {
  give(tensors.first);
  give(tensors.second);
}
template <class T>
void give(const std::optional<T> &tensor) {
  if (tensor) give(*tensor);
}

// A function that returns nothing has written to its arguments.
template <class Function>
void give_what(Function function) {
  if constexpr (std::is_void_v<decltype(function())>)
    function();
  else
    give(function());
}

}  // namespace kfuzz_torch
