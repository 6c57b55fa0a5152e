#include "storage.h"

#include "../include/cuda_on_cpu_host/api.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_host_reaches(int more);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_host_wrote(void *data, size_t bytes);

namespace at {

Storage::Storage(size_t count, Device where, int line) : data(nullptr), bytes(count), device(where), is_own(true) {
  if (!bytes) return;
  void *memory = nullptr;
  if (device.is_cpu()) {
    memory = malloc(bytes);
  } else if (cuda_on_cpu_allocate(&memory, bytes, cuda_on_cpu_device_memory, line) != cudaSuccess) {
    refuse(line, c10::str("CUDA out of memory: ", bytes, " bytes"));
  }
  data = static_cast<char *>(memory);
}

Storage::~Storage() {
  if (!is_own || !data) return;
  if (device.is_cpu())
    free(data);
  else
    cudaFree(data, 0);
}

Reach::Reach() { cuda_on_cpu_host_reaches(1); }
Reach::~Reach() { cuda_on_cpu_host_reaches(-1); }

void has_written(const Tensor &tensor) {
  if (tensor.is_cuda() && tensor.numel()) cuda_on_cpu_host_wrote(tensor.data_ptr(), tensor.nbytes());
}

}  // namespace at
