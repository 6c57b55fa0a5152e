// The stacks that CUDA threads run on: sets of them for the whole process, each stack with a guard below it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cuda_on_cpu {

bool map_stacks();       // the first set
void take_back_stacks();  // all of them: no thread runs
bool has_stacks_for(uint64_t threads);  // in all, of all resident blocks; maps more sets where there is room for them
int take_stack();
void give_stack(int stack);
char *stack_top(int stack);
bool is_on_stacks(uintptr_t address);
bool is_stack_guard(uintptr_t address);

}  // namespace cuda_on_cpu
