// What kernels and their hosts use of ATen: guards of the device, types to add up in, atomics.
#pragma once
#include "tensor.h"

namespace c10 {
namespace cuda {}

struct DeviceGuard {
  explicit DeviceGuard(Device) {}
};
struct OptionalDeviceGuard {
  template <class T>
  explicit OptionalDeviceGuard(const T &) {}
};
}  // namespace c10

namespace at {
namespace cuda {
using namespace c10::cuda;
}

inline c10::optional<Device> device_of(const Tensor &x) { return x.device(); }

template <class T, bool on_device>
struct AccumulateType {
  using type = std::conditional_t<c10::is_narrow<T>, float, T>;
};
template <class T, bool on_device>
using acc_type = typename AccumulateType<T, on_device>::type;
template <class T>
struct OpMathType {
  using type = acc_type<T, true>;
};
template <class T>
using opmath_type = acc_type<T, true>;
template <class T>
inline T ceil_div(T a, T b) { return (a + b - 1) / b; }
}  // namespace at

template <class T>
__device__ inline T gpuAtomicAdd(T *to, T value) { return atomicAdd(to, value); }
template <class T>
__device__ inline void gpuAtomicAddNoReturn(T *to, T value) { atomicAdd(to, value); }
