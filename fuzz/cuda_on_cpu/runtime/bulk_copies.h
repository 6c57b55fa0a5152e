// Bulk copies: cp.async.bulk, of bytes and of boxes of tensors, and reductions by them. The GPU makes them beside its
// threads; a copy brings bytes to an mbarrier, or belongs to a group of its thread.
//
// A copy may land at any time from when it is asked for until somebody waits for it. Here it lands at once in some runs and at
// the last moment in others; until then its destination in shared memory holds poison. It accesses memory by the async
// proxy: the rules are in docs/limits.md, and bulk_checks.cpp checks them when the copy is asked for.
#pragma once
#include <cstdint>

#include "abi.h"
#include "mbarriers.h"

namespace cuda_on_cpu {

using CopyNumber = uint32_t;
constexpr CopyNumber no_copy = 0;

void forget_bulk_copies_of(uint32_t resident);  // a block starts there
void enter_bulk_copies_of(uint32_t resident);
void end_bulk_copies();  // the running block ends

// The phase of this mbarrier may end as soon as the copies to it have landed.
void land_copies_to(MbarrierNumber number);
void forget_copies_to(MbarrierNumber number);
void report_too_few_bytes(CopyNumber under_way, uintptr_t barrier);

// While accesses are checked: a copy that the current thread asks for accesses these bytes; or an operation of tensor cores;
// warps that ask for it together have one bit each. What one of a warp's lanes knows is ordered before that.
struct BulkAccess {
  uintptr_t address;
  uint32_t bytes;
  bool writes, reduces;
  uint32_t moment;  // of the flight
  uint64_t pc;      // relative
  uint32_t of = 0;  // traits of an operation other than a copy
  uint32_t warps = 0;
  const char *source = nullptr;  // of a copy to global memory: what it writes there
  uint32_t traits() const { return is_bulk | of; }
};
void checker_bulk(const BulkAccess &access);
void checker_map_read(uintptr_t map, uint64_t pc);
uint32_t number_of_map(uintptr_t map);
void land_copy(uint32_t moment);  // whose flight to global memory this is

}  // namespace cuda_on_cpu
