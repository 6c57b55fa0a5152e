// Thread block clusters: blocks that start together, meet in a barrier of their own, and reach each other's shared memory.
//
// Two rules hold only for them (CUDA C++ Programming Guide, distributed shared memory): a thread that accesses another
// block's shared memory must know that the block has begun, and the block may not end before that access. Both are
// checked like races, by what orders the two, so that no order of the blocks hides them.
#pragma once
#include "block.h"
#include "shadow.h"

namespace cuda_on_cpu {

constexpr uint32_t max_cluster = 16;

struct BlockOrdering;

// The last access of one block to the shared memory of another.
struct RemoteAccess {
  uintptr_t address;
  uint32_t bytes;
  bool writes;
  Trace trace;  // when == 0: nothing
};

struct Member {
  uint32_t resident;
  uint64_t block;  // in the grid
  bool has_ended, is_parked;  // it has ended; all its threads wait for the others
  BlockOrdering *ordering;
  RemoteAccess last_of[max_cluster];  // by others, indexed by rank
  uint64_t apart[max_threads / 64];   // its threads that have arrived in this phase and wait later
};

struct Cluster {
  uint32_t size, left;           // blocks, and those that have not ended
  uint32_t side[3];
  uint32_t live, arrived, phase;  // threads; how often its barrier was passed
  uint32_t known, known_before;  // the knowledge of those that arrived separately; of all threads, in the phase before
  uint32_t track;                // where it differs from Ordering's, that knowledge was forgotten
  Member member[max_cluster];
};

// The cluster of the running block; in a launch without clusters each block is one.
Cluster &own_cluster();

// Its blocks that wait only for its barrier can go on (grid.cpp).
void unpark(Cluster &cluster);

// Threads that wait at the cluster's barrier, which was passed, can run again.
void release_from_cluster_barrier();
void leave_cluster(int thread);  // its barrier is complete

// The rank of the other block whose shared memory an address is in; no_rank if there is none.
constexpr uint32_t no_rank = ~0u;
uint32_t remote_rank_of(uintptr_t address);

// While accesses are checked: an access to shared memory of another block. False: that block has ended.
bool checker_remote_access(uint32_t rank, const RemoteAccess &access);
void checker_ends_member();  // the running block

}  // namespace cuda_on_cpu
