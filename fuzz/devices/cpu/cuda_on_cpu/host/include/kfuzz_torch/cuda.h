// Streams and guards of torch, over the CUDA runtime API.
#pragma once
#include "tensor.h"

namespace c10 {
namespace cuda {

class CUDAStream {
 public:
  explicit CUDAStream(cudaStream_t stream = nullptr) : stream_(stream) {}
  operator cudaStream_t() const { return stream_; }
  cudaStream_t stream() const { return stream_; }
  void synchronize() const { cudaStreamSynchronize(stream_); }

 private:
  cudaStream_t stream_;
};
inline CUDAStream getCurrentCUDAStream(int = -1) { return CUDAStream(); }
inline CUDAStream getDefaultCUDAStream(int = -1) { return CUDAStream(); }
inline CUDAStream getStreamFromPool(bool = false, int = -1) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  return CUDAStream(stream);
}
inline int device_count() { return 1; }
inline int current_device() { return 0; }
inline void device_synchronize() { cudaDeviceSynchronize(); }

struct CUDAGuard {
  explicit CUDAGuard(Device) {}
  explicit CUDAGuard(int) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  template <class T>
  explicit OptionalCUDAGuard(const T &) {}
};
struct CUDAStreamGuard {
  explicit CUDAStreamGuard(CUDAStream) {}
};

}  // namespace cuda

struct DeviceGuard {
  explicit DeviceGuard(Device) {}
};
struct OptionalDeviceGuard {
  template <class T>
  explicit OptionalDeviceGuard(const T &) {}
};
}  // namespace c10

namespace at {
inline c10::optional<Device> device_of(const Tensor &x) { return x.device(); }
namespace cuda {
using namespace c10::cuda;
using OptionalCUDAGuard = c10::cuda::OptionalCUDAGuard;
inline cudaDeviceProp *getCurrentDeviceProperties() {
  static cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  return &properties;
}
inline cudaDeviceProp *getDeviceProperties(int) { return getCurrentDeviceProperties(); }
inline int warp_size() { return 32; }
}  // namespace cuda

template <class T, bool on_device>
struct AccumulateType {
  using type = T;
};
template <bool on_device>
struct AccumulateType<c10::Half, on_device> {
  using type = float;
};
template <bool on_device>
struct AccumulateType<c10::BFloat16, on_device> {
  using type = float;
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
inline T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
}  // namespace at

template <class T>
__device__ inline T gpuAtomicAdd(T *to, T value) {
  return atomicAdd(to, value);
}
template <class T>
__device__ inline void gpuAtomicAddNoReturn(T *to, T value) {
  atomicAdd(to, value);
}
