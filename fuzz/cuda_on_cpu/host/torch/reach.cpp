// On the cpu device the host is allowed to access device memory, and its accesses there are a step of the current
// stream.
#include "include/kfuzz_torch/machine.h"
#include "storage.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_operation_begins();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_operation_touches(const void *data, size_t bytes, int writes);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_operation_meets_host();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_operation_ends();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_release(void *memory);
CUDA_ON_CPU_IMPORT bool cuda_on_cpu_only_launches();

namespace at {

// Every stretch of memory that contains elements.
static void touch(const Tensor &tensor, bool writes) {
  if (holds_nothing(tensor)) return;
  auto *data = static_cast<const char *>(tensor.data_ptr());
  auto bytes = static_cast<int64_t>(tensor.element_size());
  int64_t count = tensor.numel(), start = 0, end = 0;
  if (is_dense(tensor)) return cuda_on_cpu_operation_touches(data, tensor.nbytes(), writes);
  for (int64_t i = 0; i < count; i++) {
    int64_t at = place_of(tensor, i);
    if (i && at != end) cuda_on_cpu_operation_touches(data + start, static_cast<size_t>(end - start), writes);
    if (!i || at != end) start = at;
    end = at + bytes;
  }
  cuda_on_cpu_operation_touches(data + start, static_cast<size_t>(end - start), writes);
}

Reached::Reached(const Tensor &tensor, bool writes) : data_(static_cast<char *>(tensor.data_ptr())) {
  cuda_on_cpu_operation_begins();
  if (!tensor.is_cuda())
    cuda_on_cpu_operation_meets_host();
  else if (tensor.numel())
    touch(tensor, writes);
}
Reached::~Reached() { cuda_on_cpu_operation_ends(); }

bool holds_nothing(const Tensor &x) { return x.is_cuda() && cuda_on_cpu_only_launches(); }

void release(void *memory) { cuda_on_cpu_release(memory); }

}  // namespace at
