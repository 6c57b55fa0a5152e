// The shared memory of the running block, in a mapping of its own: a write beside it reaches nothing else.
//
//   no access | zone | static arrays ... | zone | dynamic array | zone | no access
#pragma once
#include "abi.h"

constexpr uint64_t dynamic_shared_capacity = 232448;  // 227 KB, the most that any GPU gives a block
constexpr uint64_t static_shared_capacity = 256 << 20;  // of addresses: the check flavour lays arrays far apart
constexpr uint64_t shared_red_zone = 65536;

// The start of the arrays; null if the system gives no memory. Set before any kernel library is loaded, since a library
// may hold a pointer to the dynamic array.
CUDA_ON_CPU_API char *cuda_on_cpu_dynamic_shared;
CUDA_ON_CPU_API char *cuda_on_cpu_static_shared;

namespace cuda_on_cpu {

// The library's static arrays: in this mapping, unless its compiler accesses thread_local memory in another way.
char *static_shared_start();
uint64_t static_shared_bytes();

// Each of the blocks that are resident together has a mapping of its own with the same layout; number 0 has the one
// above. In a cluster the lower half of an address says which one has it. False when the system gives no memory.
bool has_place_for_residents();
bool map_shared_of(uint32_t resident, uint32_t dynamic_bytes, bool is_in_cluster);
void enter_shared_of(uint32_t resident);
void unmap_shared_of_residents();
uint64_t shared_bytes_of_arrays();

// Whether this launch has asked for an address in shared memory of something in these bytes.
bool is_address_taken(const char *start, uint64_t bytes);
void forget_taken_addresses();

// For any resident, also while another one runs.
bool is_shared_of(uint32_t resident, uintptr_t address);
void *same_place(const void *p, uint32_t of, uint32_t in);
void *shared_near(uint32_t resident, uint32_t lower);  // the address near its shared memory that has these lower 32 bits
void locate_in_shared_of(uint32_t resident, uintptr_t address, Finding &finding);

// Before every block: shared memory starts as poison, since on hardware it may start as anything.
void poison_shared(uint32_t dynamic_bytes);

// Before and after every launch: a write around the arrays becomes a finding.
void paint_shared_zones(uint32_t dynamic_bytes);
void check_shared_zones(uint32_t dynamic_bytes);

}  // namespace cuda_on_cpu
