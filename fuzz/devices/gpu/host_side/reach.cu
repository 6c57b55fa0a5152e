// On a GPU the host reaches a tensor's memory by a copy of it.
#include "storage.h"

#include "../include/kfuzz_torch/machine.h"

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
  if (theirs_) cudaMemcpy(theirs_, copied_.data(), copied_.size(), cudaMemcpyHostToDevice);
}

void release(void *memory) { cuda_on_cpu_release(memory); }
void has_written(const Tensor &) {}

}  // namespace at
