// mbarriers: 64 bits of shared memory that count arrivals and the bytes of bulk copies, phase by phase.
//
// The word itself holds the phase and the number of an entry here, which has the rest. A word that no init has made is
// distinguished. What a thread has done before it arrives is known to those that wait for that phase, and so is the end of
// the bulk copies that brought its bytes.
#pragma once
#include <cstdint>

#include "knowledge.h"
#include "shadow.h"

namespace cuda_on_cpu {

using MbarrierNumber = uint32_t;
constexpr MbarrierNumber no_mbarrier = 0;

struct Mbarrier {
  uintptr_t address;
  uint32_t expected, pending, phase;
  int64_t bytes;  // that are expected and have not come; below 0: that have come and were not expected
  Trace init;     // by which thread, when
  uint64_t init_block;
  Knowledge gathered, over;  // of this phase; of those before it
  uint32_t track;            // where it differs from Ordering's, the knowledge was forgotten
  uint32_t first_copy, last_copy;  // that will bring bytes (bulk_copies.cpp)
  MbarrierNumber next;       // of the same block's, or unused
  bool is_valid;
  uintptr_t waits_at;        // where a thread last found its phase not over; 0: none has since
  uint32_t waiting_thread;
  uint64_t waiting_block;
};

void forget_mbarriers_of(uint32_t resident);  // a block starts there
void enter_mbarriers_of(uint32_t resident);

// Called by a bulk copy: the barrier that it brings bytes to, which must be known to the current thread.
MbarrierNumber mbarrier_for_copy(uintptr_t address, uintptr_t pc);
Mbarrier &mbarrier_at(MbarrierNumber number);
// Bytes have come, and with them this knowledge.
void bytes_came(MbarrierNumber number, uint64_t bytes, Knowledge with);
// An arrival that is not the current thread's own, with this knowledge.
void arrive_with(uintptr_t address, Knowledge known, uintptr_t pc);
void note_work_of_thread();  // the current thread does not only wait

}  // namespace cuda_on_cpu
