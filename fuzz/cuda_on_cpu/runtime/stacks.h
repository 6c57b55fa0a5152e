// The stacks that CUDA threads run on: sets of them for the whole process, each stack with a guard below it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "state.h"

namespace cuda_on_cpu {

// CUDA allows a thread 512 KB of local memory; the rest is for frames that g++ makes larger than nvcc does. Untouched
// pages cost nothing.
constexpr size_t stack_bytes = 768 << 10, stack_guard_bytes = 64 << 10, stack_stride = stack_bytes + stack_guard_bytes;
constexpr size_t stacks_of_set = 1024, set_bytes = stack_stride * stacks_of_set;

bool map_stacks();       // the first set
void take_back_stacks();  // all of them: no thread runs
bool has_stacks_for(uint64_t threads);  // in all, for all resident blocks; maps more sets if there is room for them
int take_stack();
void give_stack(int stack);
char *stack_top(int stack);
bool is_on_stacks(uintptr_t address);
// Where nearly all of them are: in the first set.
struct FirstSet {
  uintptr_t start;
};
extern PerProcess<FirstSet> first_set;
static inline bool is_on_first_stacks(uintptr_t address) { return address - first_set.start < set_bytes; }
bool is_stack_guard(uintptr_t address);

}  // namespace cuda_on_cpu
