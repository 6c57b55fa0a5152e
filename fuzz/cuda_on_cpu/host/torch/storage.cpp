#include "storage.h"

#include "include/kfuzz_torch/machine.h"

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
    release(data);
}

}  // namespace at
