// Tensor memory (tcgen05): 128 lanes of 512 columns of 32 bits for each block, which its warps allocate by columns.
//
// An operation on it goes on beside its thread. tcgen05.mma and tcgen05.cp are over for those that wait for the mbarrier of a
// later tcgen05.commit by their thread, tcgen05.ld and tcgen05.st after tcgen05.wait by their warp. Here each is made at once,
// and its traces in the shadow are those of a flight (ordering.h): what does not know that it is over is an error.
#pragma once
#include <cstdint>

#include "knowledge.h"
#include "ordering.h"
#include "tensor_layouts.h"

namespace cuda_on_cpu {

void forget_tensor_memory_of(uint32_t resident);  // a block starts there
void enter_tensor_memory_of(uint32_t resident);
void end_tensor_memory();  // the running block ends

// While accesses are checked: an operation of the current thread, or of its warp, accesses words.
struct TensorAccess {
  FlightKind kind;
  bool reads, writes, frees;
  bool by_warp;     // what one of its lanes knows is ordered before it
  uint32_t moment;  // of its flight
  uint64_t pc;      // relative
  uint32_t resident, rank;  // of the block whose tensor memory it is
  uint32_t fine_write, fine_read;  // moments of flights that are known to be in order
  uint32_t traits() const;
};
// False: there is nothing allocated, which is reported.
bool checker_tensor(TensorAccess &access, TensorPlace place);
uint32_t &tensor_word(uint32_t resident, TensorPlace place);

// The operations of tensor cores of the current thread since its last commit are one flight.
uint32_t flight_of_thread();
// What is known to the threads that learn that all of them are over; the next one begins another flight.
Knowledge end_flight_of_thread();

// While a kernel uses tensor memory, its reads of registers that a tcgen05.ld may not have written yet.
void check_loaded_registers(uintptr_t address, uint32_t bytes, uint64_t pc);

}  // namespace cuda_on_cpu
