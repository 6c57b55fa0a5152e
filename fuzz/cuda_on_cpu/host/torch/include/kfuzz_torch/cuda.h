// torch's checks, streams and guards over the CUDA runtime API. As in torch, only its headers of CUDA lead here, and
// <torch/extension.h> is not one of them.
#pragma once
#include "all.h"

#define C10_CUDA_CHECK(call)                                                                                  \
  do {                                                                                                        \
    cudaError_t kfuzz_error = (call);                                                                         \
    if (kfuzz_error != cudaSuccess) ::c10::refuse(__LINE__, ::c10::str("CUDA error: ", cudaGetErrorString(kfuzz_error))); \
  } while (0)
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())

namespace c10 {
namespace cuda {

class CUDAStream {
 public:
  explicit CUDAStream(cudaStream_t stream = nullptr) : stream_(stream) {}
  operator cudaStream_t() const { return stream_; }
  cudaStream_t stream() const { return stream_; }
  bool operator==(const CUDAStream &other) const { return stream_ == other.stream_; }
  bool operator!=(const CUDAStream &other) const { return stream_ != other.stream_; }
  int64_t id() const { return static_cast<int64_t>(reinterpret_cast<intptr_t>(stream_)); }
  DeviceIndex device_index() const { return 0; }
  Device device() const { return Device(kCUDA, 0); }
  int priority() const {
    int priority = 0;
    C10_CUDA_CHECK(cudaStreamGetPriority(stream_, &priority));
    return priority;
  }
  bool query() const { return cudaStreamQuery(stream_) == cudaSuccess; }
  void synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_;
};
inline CUDAStream getCurrentCUDAStream(int = -1) { return CUDAStream(cuda_on_cpu_current_stream()); }
inline void setCurrentCUDAStream(CUDAStream stream) { cuda_on_cpu_set_current_stream(stream); }
inline CUDAStream getDefaultCUDAStream(int = -1) { return CUDAStream(); }
inline CUDAStream getStreamFromPool(bool is_urgent = false, int = -1) { return CUDAStream(cuda_on_cpu_pool_stream(is_urgent)); }
inline CUDAStream getStreamFromPool(int priority, int = -1) { return CUDAStream(cuda_on_cpu_pool_stream(priority < 0)); }
inline CUDAStream getStreamFromExternal(cudaStream_t stream, int = 0) { return CUDAStream(stream); }
inline int device_count() { return 1; }
inline int current_device() { return 0; }
inline void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }

struct CUDAGuard {
  explicit CUDAGuard(Device) {}
  explicit CUDAGuard(int) {}
  void set_device(Device) {}
  void set_index(int) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  template <class T>
  explicit OptionalCUDAGuard(const T &) {}
  void set_device(Device) {}
  void set_index(int) {}
  void reset() {}
};

// Within a scope, torch's own operations, and queries of the current stream, use this one.
class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(CUDAStream stream) : original_(getCurrentCUDAStream()) { setCurrentCUDAStream(stream); }
  ~CUDAStreamGuard() { setCurrentCUDAStream(original_); }
  CUDAStreamGuard(const CUDAStreamGuard &) = delete;
  CUDAStreamGuard &operator=(const CUDAStreamGuard &) = delete;
  void reset_stream(CUDAStream stream) { setCurrentCUDAStream(stream); }
  CUDAStream original_stream() const { return original_; }
  CUDAStream current_stream() const { return getCurrentCUDAStream(); }
  Device original_device() const { return Device(kCUDA, 0); }
  Device current_device() const { return Device(kCUDA, 0); }

 private:
  CUDAStream original_;
};
class OptionalCUDAStreamGuard {
 public:
  OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(CUDAStream stream) { reset_stream(stream); }
  explicit OptionalCUDAStreamGuard(std::optional<CUDAStream> stream) {
    if (stream) reset_stream(*stream);
  }
  void reset_stream(CUDAStream stream) {
    if (guard_)
      guard_->reset_stream(stream);
    else
      guard_.emplace(stream);
  }
  void reset() { guard_.reset(); }

 private:
  std::optional<CUDAStreamGuard> guard_;
};
struct CUDAMultiStreamGuard {
  explicit CUDAMultiStreamGuard(ArrayRef<CUDAStream> streams) : guard(streams[streams.size() - 1]) {}
  CUDAStreamGuard guard;
};

}  // namespace cuda
}  // namespace c10

namespace at {
namespace cuda {

// An event that is created at its first recording.
class CUDAEvent {
 public:
  explicit CUDAEvent(unsigned int flags = cudaEventDisableTiming) : flags_(flags) {}
  ~CUDAEvent() {
    if (event_) cudaEventDestroy(event_);
  }
  CUDAEvent(const CUDAEvent &) = delete;
  CUDAEvent &operator=(const CUDAEvent &) = delete;
  CUDAEvent(CUDAEvent &&other) noexcept { *this = std::move(other); }
  CUDAEvent &operator=(CUDAEvent &&other) noexcept {
    std::swap(flags_, other.flags_);
    std::swap(event_, other.event_);
    std::swap(was_recorded_, other.was_recorded_);
    return *this;
  }
  operator cudaEvent_t() const { return event_; }
  cudaEvent_t event() const { return event_; }
  bool isCreated() const { return event_ != nullptr; }
  bool query() const { return !event_ || cudaEventQuery(event_) == cudaSuccess; }
  void record() { record(getCurrentCUDAStream()); }
  void record(const CUDAStream &stream) {
    if (!event_) C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags_));
    C10_CUDA_CHECK(cudaEventRecord(event_, stream));
    was_recorded_ = true;
  }
  void recordOnce(const CUDAStream &stream) {
    if (!was_recorded_) record(stream);
  }
  void block(const CUDAStream &stream) {
    if (event_) C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
  }
  void synchronize() const {
    if (event_) C10_CUDA_CHECK(cudaEventSynchronize(event_));
  }
  float elapsed_time(const CUDAEvent &other) const {
    float milliseconds = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, event_, other.event_));
    return milliseconds;
  }

 private:
  unsigned int flags_ = cudaEventDisableTiming;
  cudaEvent_t event_ = nullptr;
  bool was_recorded_ = false;
};
using OptionalCUDAGuard = c10::cuda::OptionalCUDAGuard;
inline cudaDeviceProp *getCurrentDeviceProperties() {
  static cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  return &properties;
}
inline cudaDeviceProp *getDeviceProperties(int) { return getCurrentDeviceProperties(); }
inline int warp_size() { return 32; }
}  // namespace cuda
}  // namespace at
