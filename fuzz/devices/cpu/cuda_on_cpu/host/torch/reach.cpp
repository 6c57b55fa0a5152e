// On the cpu device the host reaches device memory by being allowed to.
#include "../include/kfuzz_torch/machine.h"
#include "storage.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_host_reaches(int more);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_host_wrote(void *data, size_t bytes);

namespace at {

Reached::Reached(const Tensor &tensor, bool) : data_(static_cast<char *>(tensor.data_ptr())) { cuda_on_cpu_host_reaches(1); }
Reached::~Reached() { cuda_on_cpu_host_reaches(-1); }

void release(void *memory) { cudaFree(memory, 0); }

void has_written(const Tensor &tensor) {
  if (tensor.is_cuda() && tensor.numel()) cuda_on_cpu_host_wrote(tensor.data_ptr(), tensor.nbytes());
}

}  // namespace at
