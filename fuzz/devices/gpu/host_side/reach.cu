// On a GPU the host accesses a tensor's memory by a copy of it.
#include "storage.h"

#include "kfuzz_torch/cuda.h"

namespace at {

Reached::Reached(const Tensor &tensor, bool writes) : data_(static_cast<char *>(tensor.data_ptr())) {
  if (!tensor.is_cuda() || !tensor.numel()) return;
  int64_t last = 0;  // of its elements, in memory
  for (int64_t d = 0; d < tensor.dim(); d++) last += (tensor.size(d) - 1) * tensor.stride(d);
  copied_.resize(static_cast<size_t>(last + 1) * tensor.element_size());
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  C10_CUDA_CHECK(cudaMemcpy(copied_.data(), data_, copied_.size(), cudaMemcpyDeviceToHost));
  if (writes) theirs_ = data_;
  data_ = copied_.data();
}

Reached::~Reached() {
  if (!theirs_) return;
  cudaMemcpy(theirs_, copied_.data(), copied_.size(), cudaMemcpyHostToDevice);
  cudaDeviceSynchronize();  // a copy from pageable memory may return once it is staged
}

bool holds_nothing(const Tensor &) { return false; }

void release(void *memory) { cuda_on_cpu_release(memory); }

}  // namespace at

static thread_local cudaStream_t current;
CUDA_ON_CPU_IMPORT cudaStream_t cuda_on_cpu_current_stream() { return current; }
CUDA_ON_CPU_IMPORT void cuda_on_cpu_set_current_stream(cudaStream_t stream) { current = stream; }
CUDA_ON_CPU_IMPORT cudaStream_t cuda_on_cpu_pool_stream(int is_urgent) {
  constexpr unsigned int size = 32;  // for each priority, as in torch
  static cudaStream_t pool[2][size];
  static unsigned int taken[2];
  cudaStream_t &one = pool[is_urgent][taken[is_urgent]++ % size];
  if (!one) C10_CUDA_CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  return one;
}
