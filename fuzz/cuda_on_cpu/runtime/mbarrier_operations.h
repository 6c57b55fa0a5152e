// What the headers and the runtime say to each other about an mbarrier (mbarriers.h) and a bulk copy (bulk_copies.h).
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

enum MbarrierTraits : uint32_t {
  mbarrier_drops = 1,        // the arrivals are missing in all later phases, too
  mbarrier_no_complete = 2,  // the arrival must not be the last of its phase
  mbarrier_relaxed = 4,      // orders nothing
  mbarrier_parity = 8,       // a phase is given by its parity, not by a state
};

// Of a bulk copy: what is done with the destination.
enum BulkOperation : uint32_t { bulk_copy, bulk_add, bulk_min, bulk_max, bulk_inc, bulk_dec, bulk_and, bulk_or, bulk_xor };
enum BulkType : uint32_t { bulk_u32, bulk_s32, bulk_u64, bulk_s64, bulk_f16, bulk_bf16, bulk_f32, bulk_f64, bulk_bytes };

// A field of a tensor map that a kernel replaces.
enum MapField : uint32_t {
  map_start, map_rank, map_type, map_interleave, map_swizzle, map_fill,  // of the whole map
  map_size, map_stride, map_box, map_step,                               // of an axis
};

// The memory that a fence of proxies is about.
enum ProxyFence : uint32_t { fence_async_shared = 1, fence_async_global = 2, fence_map_release = 4 };

}  // namespace cuda_on_cpu
