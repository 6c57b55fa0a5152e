// torch's C++ without torch: every header of torch, ATen, c10 and pybind11 that hosts include leads here, or to cuda.h.
#pragma once
#include "dispatch.h"
#include "kernels.h"
#include "python.h"
#include "results.h"

namespace torch {
using namespace at;
using at::Tensor;
using Dtype = c10::ScalarType;
inline c10::TensorOptions dtype(c10::ScalarType type) { return c10::TensorOptions(type); }
inline c10::TensorOptions device(c10::Device where) { return c10::TensorOptions(where); }
inline c10::TensorOptions device(c10::DeviceType where) { return c10::TensorOptions(where); }
template <class T>
using ArrayRef = c10::ArrayRef<T>;
namespace cuda {
using namespace at::cuda;
inline void synchronize(int = -1) { cudaDeviceSynchronize(); }
inline bool is_available() { return true; }
}  // namespace cuda
struct NoGradGuard {};
}  // namespace torch
