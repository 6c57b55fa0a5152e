// The stacks that CUDA threads run on: one set a process, each with a guard below it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cuda_on_cpu {

bool map_stacks();
char *stack_top(int stack);
bool is_on_stacks(uintptr_t address);
bool is_stack_guard(uintptr_t address);

}  // namespace cuda_on_cpu
