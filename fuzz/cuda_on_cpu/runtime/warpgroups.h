// Products of warpgroups: wgmma. Four warps ask for one together; the tensor cores read shared memory by the async proxy, and
// the threads' sums and their registers of A belong to the product until a thread waits for the group that it is in.
//
// Here the last of the 128 threads that asks computes all of it at once. What a right program may not rely on is checked: the
// reads of shared memory are a flight (bulk_checks.cpp), and the variables that hold the registers are watched.
#pragma once
#include <cstdint>

#include "state.h"

namespace cuda_on_cpu {

void forget_products_of(uint32_t resident);  // a block starts there
void enter_products_of(uint32_t resident);
// No thread can run: whether some wait for the rest of their warpgroup, which is then reported.
bool report_stuck_warpgroup();

// While a kernel with products runs, each access of a stack is compared with the registers in flight.
struct WatchedRegisters {
  bool are_watched;
};
extern PerRun<WatchedRegisters> watched_registers;
void checker_register(uintptr_t address, uint32_t bytes, bool writes, uint64_t pc);  // relative

}  // namespace cuda_on_cpu
