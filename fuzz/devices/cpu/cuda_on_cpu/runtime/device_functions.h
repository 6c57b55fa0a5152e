// printf, malloc, __trap and assert as kernels have them.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

void start_printing();
const char *printed();
bool is_on_device_heap(uintptr_t address);

}  // namespace cuda_on_cpu
