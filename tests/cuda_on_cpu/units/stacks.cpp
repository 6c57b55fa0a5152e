// units: stacks
#include "runtime/stacks.h"

#include "expect.h"

using namespace cuda_on_cpu;

int main() {
  EXPECT(map_stacks());
  take_back_stacks();
  int first = take_stack(), second = take_stack();
  EXPECT(first != second);
  EXPECT(stack_top(first) != stack_top(second));
  give_stack(second);
  EXPECT(take_stack() == second);  // the last one used, which is in the caches

  char *top = stack_top(first);
  memset(top - 4096, 1, 4096);
  auto address = reinterpret_cast<uintptr_t>(top);
  EXPECT(is_on_stacks(address - 1) && is_on_first_stacks(address - 1) && !is_stack_guard(address - 1));
  EXPECT(is_stack_guard(address - stack_bytes - stack_guard_bytes / 2));
  EXPECT(!is_on_stacks(reinterpret_cast<uintptr_t>(&failures)));

  EXPECT(has_stacks_for(2 * stacks_of_set));  // maps a second set
  for (size_t i = 2; i < 2 * stacks_of_set; i++) take_stack();
  take_back_stacks();
  EXPECT(is_on_first_stacks(reinterpret_cast<uintptr_t>(stack_top(take_stack()))));
  return failures;
}
