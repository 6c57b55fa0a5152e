// The interface of three sides: the runtime, every kernel library (module.cpp), and Python
// (fuzz/cpu/abi.py reads this file: plain structs, enumerations and constants only; a test compares with the compiler).
#pragma once
#include <cstddef>
#include <cstdint>

#include "sights.h"

#define CUDA_ON_CPU_API extern "C" __attribute__((visibility("default")))

namespace cuda_on_cpu {

constexpr uint32_t max_buffers = 1024, max_args = 256;

struct Index {
  uint32_t x, y, z;
};

// One __global__ function. Parameters are handed over as cuLaunchKernel takes them: an array of pointers to
// the values. The signature has one letter per parameter (entry.h).
struct Entry {
  const char *name;
  void (*invoke)(void **args);
  const char *signature;
  const Entry *next;
};

// threadIdx, and behind it the thread's number in its block: the two change together.
struct alignas(16) ThreadPlace {
  uint32_t x, y, z;
  int32_t rank;
};

// A kernel library's own storage behind threadIdx and its like, and what it holds.
struct Module {
  ThreadPlace *thread;
  Index *block, *block_dim, *grid_dim;
  char *(*thread_local_anchor)();
  const Entry *entries;
};

// A __shared__ array with static storage: its place in the library's thread-local block, from the ELF symbols.
struct SharedArray {
  uint64_t offset, bytes;
  uint64_t is_guard;  // no array, but g++'s note that the constructors of one have run: they are empty, as CUDA has it
};

// A variable with static storage that is not in shared memory: __device__, __managed__, __constant__, or the library's own.
struct Variable {
  uint64_t offset, bytes;  // from the start of the library
  uint64_t is_constant;
};

enum BufferFlags : uint32_t {
  has_content = 1,
  is_output = 2,
  is_initialised = 4,  // `fill` is no poison
  is_allocated_by_host = 8,
  is_host_visible_memory = 16,  // managed or pinned
  is_freed = 32,
  is_of_earlier_call = 64,  // an argument of a call before the one that counts, and no array of that one
  is_taken_as_unwritten = 128,  // of the run before the last, or of this one (unwritten.h)
  is_written = 256,             // is no longer taken so
};

struct Buffer {
  const void *content;  // copied in before the run; null: filled with `fill`
  const void *earlier_content;  // null, or: copied in before the run, and `content` before the steps that count
  uint64_t bytes;
  uint64_t fill;  // one element's bits, repeated
  uint32_t element_bytes;
  uint32_t flags;
  uint32_t distance;  // of its address from a multiple of 256
  char *address;      // out: where it lay
  uint32_t line, freed_line;  // out, of what a host function allocates
};

struct Argument {
  int64_t value;   // of which a narrower parameter takes the lower bytes
  int32_t buffer;  // the number of a buffer, or -1: `value` is passed
};

struct Step {
  const Entry *entry;
  const Argument *args;
  uint32_t arg_count;
  uint32_t grid[3], block[3];
  uint32_t cluster[3];  // 0: the launch has no clusters
  uint32_t shared;
  uint32_t on_host;  // a host function, which is called once, and launches
  uint32_t cooperative;  // all blocks of the grid run at once
  void *context;     // of a launch by the host: all that `invoke` is given, instead of `args`
};

// Why a launch was refused, as a GPU does.
enum class Refused : uint32_t { no, empty_grid, large_grid, empty_block, large_block, shared_memory, not_resident, cluster };

// A tensor that a host function returns: its type in torch's numbers.
constexpr uint32_t max_rank = 8, max_given = 32;
struct Given {
  const void *data;
  uint32_t type, rank;
  int64_t sizes[max_rank];
};

// A launch by a host function.
constexpr uint32_t most_calls = 16;
struct Launched {
  uint32_t line;
  uint32_t grid[3], block[3];
  uint64_t shared;
  Refused refused;
  uint32_t is_seen;  // somebody asked for the error
  uint32_t calls[most_calls];  // the host's calls that led to it, innermost first; 0 after the last
};

enum Schedule : uint32_t { forward, reverse, shuffled };

enum class Kind : uint32_t;  // of a sight: sights.h

// How near to each other two threads are; which of two accesses is what.
enum Relation : uint32_t { in_one_block, in_other_blocks, in_one_warp, in_other_work, in_other_node };
enum Traits : uint32_t { is_atomic = 1, is_volatile = 2, is_of_block_scope = 4 };

// What a run takes for granted, to find out what a race is for want of.
enum Assume : uint32_t {
  scopes_reach = 1,      // every fence and atomic is of the device's scope
  atomics_release = 2,   // as if each had a fence before it
  atomics_acquire = 4,   // and behind it
  volatile_is_atomic = 8,
  warps_in_step = 16,    // the lanes of a warp make each access together, as before Volta (warp.cpp)
};

// What a piece of the host's work is (work.h).
enum class Work : uint32_t { kernel, copy, set, host, callback, allocation, freeing, operation };

enum class Place : uint32_t { nowhere, buffer, static_shared, dynamic_shared, global_variable, heap };

struct Finding {
  Kind kind;
  Place place;
  uint32_t place_number;  // which buffer, or which static shared array
  uint32_t step;
  int64_t offset;  // bytes from the start of the array
  uint64_t address;
  uint64_t pc, other_pc;  // relative to the library; 0: none, then the lines say
  uint32_t line, other_line;
  uint32_t thread, other_thread;  // numbers in their block
  uint64_t block;
  uint32_t bytes;
  uint32_t writes, other_writes;
  uint32_t relation;  // of the two threads
  uint32_t traits, other_traits;
  uint64_t other_block;
  uint64_t count;
  uint64_t detail;  // signal number, mask, index: by kind
  uint32_t launched;  // which of the host's launches
  Work work, other_work;
  uint32_t other_launched, other_block_known;
  uint64_t owner;     // 0, or 1 + the other block of the cluster whose shared memory it is
};

// crowded: more threads wait for one another at once than there are stacks for.
enum class Status : uint32_t { finished, stopped, timed_out, too_large, refused, crowded };

struct Run {
  const Module *module;
  Buffer *buffers;
  const Step *steps;
  const SharedArray *shared_arrays;
  const Variable *variables;
  uint64_t thread_local_anchor_offset;
  uint32_t buffer_count, step_count, shared_array_count, variable_count;
  Schedule schedule;
  uint32_t poison;  // what uninitialised shared memory and guard zones hold
  uint64_t seed;
  uint32_t check;              // the library was built with the access hooks
  uint32_t preempt_one_in;     // 0, or: check only, switch threads before one access in so many
  uint32_t late_writes;        // check only: a read sees nothing of a write that it races with (late_writes.h)
  uint32_t assume;             // check only: Assume
  uint32_t missing_lane;       // what a lane gives that takes no part in a shuffle
  uint32_t flush_denormals;    // -ftz=true
  uint32_t timeout_ms;         // of processor time
  int32_t watched_buffer;      // check only: -1, or the buffer of which one byte is asked who has stored it
  uint64_t watched_offset;
  const uint64_t *only_blocks;  // these alone run, and no buffer is filled: they are too large (vast.h)
  uint32_t only_block_count;
  Finding *findings;
  uint32_t finding_capacity;
  // out
  uint32_t finding_count;
  Status status;
  uint32_t step;               // the step that ran last
  uint64_t blocks_done;        // of that step
  uint64_t block_ms;           // for how long nothing had come on in the block when time was up
  uint64_t thread_steps;
  uint64_t accesses;           // check only, where threads take turns: made by kernels
  uint64_t watched_pc;         // relative to the library; 0: nobody, or nobody knows
  const char *printed;
  // Of host functions: what they launched and allocated, behind the job's own buffers, and why they refused.
  uint32_t job_buffer_count, buffer_capacity;
  Launched *launched;
  uint32_t launched_capacity, launched_count, launched_now;
  const char *refusal;
  uint32_t refusal_line;  // 0: not known
  Given *given;
  uint32_t given_count;
  // The steps before this one are earlier calls of a host function, with other arguments.
  uint32_t first_counted;
  // Of a whole program: it prints and ends for itself.
  uint32_t is_program;
  int32_t exit_code;
};

}  // namespace cuda_on_cpu
