// printf, __trap and assert of kernels.
#pragma once
namespace cuda_on_cpu {

void start_printing();
const char *printed();

}  // namespace cuda_on_cpu
