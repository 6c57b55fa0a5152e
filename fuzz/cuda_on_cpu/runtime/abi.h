// The interface between the runtime, every kernel library (module.cpp), and Python (fuzz/devices/cpu/abi.py reads this file:
// plain structs, enumerations and constants only; a test compares it with the compiler).
#pragma once
#include <cstddef>
#include <cstdint>

#include "sights.h"

#define CUDA_ON_CPU_API extern "C" __attribute__((visibility("default")))

namespace cuda_on_cpu {

constexpr uint32_t max_buffers = 4096, max_args = 256;
constexpr uint32_t usual_multiprocessors = 132;  // an H200's

struct Index {
  uint32_t x, y, z;
};

// One __global__ function. It takes parameters as cuLaunchKernel does: an array of pointers to the values. The
// signature has one letter per parameter (entry.h).
struct Entry {
  const char *name;
  void (*invoke)(void **args);
  const char *signature;
  const Entry *next;
};

// threadIdx, followed by the thread's number in its block: the two change together.
struct alignas(16) ThreadPlace {
  uint32_t x, y, z;
  int32_t rank;
};

// A kernel library's own storage for threadIdx and its like, and their values.
struct Module {
  ThreadPlace *thread;
  Index *block, *block_dim, *grid_dim;
  char *(*thread_local_anchor)();
  const Entry *entries;
};

// A __shared__ array with static storage: its place in the library's thread-local block, from the ELF symbols.
struct SharedArray {
  uint64_t offset, bytes;
  uint64_t is_guard;  // not an array: g++'s note that the constructors of one have run; they are empty, as CUDA requires
};

// The bytes of all __shared__ arrays that a kernel declares itself, and the place of the kernel in the library.
struct StaticShared {
  uint64_t kernel, bytes;
};

// A variable with static storage that is not in shared memory: __device__, __managed__, __constant__, or the library's own.
struct Variable {
  uint64_t offset, bytes;  // from the start of the library
  uint64_t is_constant;
};

enum BufferFlags : uint32_t {
  has_content = 1,
  is_output = 2,
  is_initialised = 4,  // `fill` is not poison
  is_allocated_by_host = 8,
  is_host_visible_memory = 16,  // managed or pinned
  is_freed = 32,
  is_of_earlier_call = 64,  // an argument of an earlier call that is not an array of the call that counts
  is_taken_as_unwritten = 128,  // of the run before the last, or of this one (unwritten.h)
  is_written = 256,             // unset by a write
  is_alternating = 512,         // vast, of alternating rows of 0 and 1 (vast.h)
  is_of_graph = 1024,           // its nodes allocate it
  waits_to_be_freed = 2048,     // after other work that waits (host/deferred.h)
};

struct Buffer {
  const void *content;  // copied in before the run; null: filled with `fill`
  const void *earlier_content;  // null, or: copied in before the run, and `content` before the steps that count
  uint64_t bytes;
  uint64_t fill;  // one element's bits, repeated
  uint32_t element_bytes;
  uint32_t flags;
  uint32_t distance;  // distance of its address from a multiple of 256
  char *address;      // out: where it lay
  uint32_t line, freed_line;  // out, where a host function allocates it
  uint64_t vast_rows, vast_inner;  // of an array of alternating rows: how many, and adjacent elements of one row
};

// Bytes of an array that hold the address of a byte of another, or a tensor map that begins there. They are known once the
// arrays have their places, so they are written after the contents. Sizes, in bytes for strides, as cuTensorMapEncodeTiled
// takes them.
struct Link {
  uint64_t at, offset;
  uint32_t buffer, of;
  uint32_t rank;  // 0: an address
  uint32_t type, swizzle, fill;
  uint64_t size[5], stride[5];
  uint32_t box[5], unused;
};

struct Argument {
  int64_t value;   // a narrower parameter takes its lower bytes
  int32_t buffer;  // the number of a buffer, or -1 to pass `value`
};

struct Step {
  const Entry *entry;
  const Argument *args;
  uint32_t arg_count;
  uint32_t grid[3], block[3];
  uint32_t cluster[3];  // 0: the launch has no clusters
  uint32_t shared;
  uint32_t on_host;  // a host function, which is called once and launches kernels
  uint32_t cooperative;  // all blocks of the grid are resident at once
  void *context;     // for a launch by the host: passed to `invoke` in place of `args`
};

// Why a launch was refused, as a GPU does.
enum class Refused : uint32_t { no, empty_grid, large_grid, empty_block, large_block, shared_memory, not_resident, cluster };

// Why a tensor map was refused, as the driver does.
enum class RefusedMap : uint32_t {
  no, map_address, type, word, rank, interleaved_rank, address, interleaved_swizzle, fill, list, size, box, step, stride, inner_side, inner_width, box_bytes
};

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
  uint32_t graph_line;  // of the launch of the graph whose node it is; 0 if it is none
  uint32_t grid[3], block[3];
  uint64_t shared;
  Refused refused;
  uint32_t is_seen;  // the host checked the error
  uint32_t calls[most_calls];  // the host's calls that led to it, innermost first; 0 after the last
};

enum Schedule : uint32_t { forward, reverse, shuffled };

enum class Kind : uint32_t;  // of a sight, see sights.h

// How close two threads are; what each of two accesses is.
enum Relation : uint32_t { in_one_block, in_other_blocks, in_one_warp, in_other_work, in_other_node, in_launch_before };
enum Traits : uint32_t {
  is_atomic = 1,
  is_volatile = 2,
  is_of_block_scope = 4,
  is_bulk = 8,             // by itself, at a thread's request
  is_of_product = 16,      // wgmma
  is_of_tensor_core = 32,  // tcgen05.mma and tcgen05.cp
  is_tensor_load = 64,
  is_tensor_store = 128,
  frees = 256,
};

// What a run assumes, to find out what a race lacks.
enum Assume : uint32_t {
  scopes_reach = 1,      // every fence and atomic has the device's scope
  atomics_release = 2,   // as if a fence came before each atomic
  atomics_acquire = 4,   // and one after it
  volatile_is_atomic = 8,
  warps_in_step = 16,    // the lanes of a warp make each access together, as before Volta (warp.cpp)
};

// The kinds of work that the host starts (work.h).
enum class Work : uint32_t { kernel, copy, set, host, callback, allocation, freeing, operation, library };

enum class Place : uint32_t { nowhere, buffer, static_shared, dynamic_shared, global_variable, heap, tensor_memory };

struct Finding {
  Kind kind;
  Place place;
  uint32_t place_number;  // which buffer, or which static shared array
  uint32_t step;
  int64_t offset;  // relative to the library; 0: none, and the lines count
  uint64_t address;
  uint64_t pc, other_pc;  // relative to the library; 0: none, then the lines say
  uint32_t line, other_line;
  uint32_t thread, other_thread;  // numbers of the threads in their block
  uint64_t block;
  uint32_t bytes;
  uint32_t writes, other_writes;
  uint32_t relation;  // of the two threads
  uint32_t traits, other_traits;
  uint64_t other_block;
  uint64_t count;
  uint64_t detail;  // signal number, mask or index, depending on the kind
  uint32_t launched;  // which of the host's launches
  Work work, other_work;
  uint32_t other_launched, other_block_known;
  uint64_t owner;     // 0, or 1 + the other block of the cluster whose shared memory it is
};

// crowded: more threads wait for each other at once than there are stacks. unbacked: the host asks for the content of
// memory that has none (unbacked.h), which is no refusal by its author.
enum class Status : uint32_t { finished, stopped, timed_out, too_large, refused, crowded, unbacked };

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
  uint32_t preempt_one_in;     // 0, or: check only, switch threads before one in this many accesses
  uint32_t late_writes;        // check only: a read does not see a write that it races with (late_writes.h)
  uint32_t assume;             // check only: Assume
  uint32_t missing_lane;       // the value that a shuffle reads from a lane that takes no part in it
  uint32_t flush_denormals;    // -ftz=true
  uint32_t timeout_ms;         // of processor time
  uint32_t still_ms;           // of a program: the time is up, too, once a launch has made no progress for so long; 0: never
  int32_t watched_buffer;      // check only: -1, or the buffer with the byte whose last writer is wanted
  uint64_t watched_offset;
  const Link *links;           // between its buffers
  uint64_t link_count;
  const uint64_t *only_blocks;  // only these blocks run, and buffers are filled where they are touched (vast.h)
  uint32_t only_block_count;
  Finding *findings;
  uint32_t finding_capacity;
  // out
  uint32_t finding_count;
  Status status;
  uint32_t step;               // the step that ran last
  uint64_t blocks_done;        // the lines of that step
  uint64_t block_ms;           // how long the block had made no progress when time was up
  uint64_t thread_steps;
  uint64_t accesses;           // check only, where threads take turns: made by kernels
  uint64_t watched_pc;         // relative to the library; 0: never written, or unknown
  const char *printed;
  // For host functions: what they launched and allocated, after the job's own buffers, and why they refused.
  uint32_t job_buffer_count, buffer_capacity;
  Launched *launched;
  uint32_t launched_capacity, launched_count, launched_now;
  const char *refusal;
  uint32_t refusal_line;  // 0: not known
  Given *given;
  uint32_t given_count;
  // The steps before this one are earlier calls of a host function with other arguments.
  uint32_t first_counted;
  // The current stream is another one in each call of a host function.
  uint32_t has_own_streams;
  // Of the GPU that host functions see; 0: an H200's. Blocks wait for each other as on an H200, whatever it is.
  uint32_t multiprocessors;
  uint32_t asks_multiprocessors;  // out: whether the host has asked for their number
  // A whole program prints and ends by itself.
  uint32_t is_program;
  int32_t exit_code;
  void (*when_closed)();  // where another thread than its first one ends it: called by a third, and does not return
  // Of the kernels that host functions launch.
  const StaticShared *static_shared;
  uint32_t static_shared_count;
  // The addresses of the touched pieces of buffers that are filled where they are touched (vast.h).
  const uint64_t *touched;
  uint32_t touched_count;
  // Of a large launch only a sample of blocks is checked in full (sampling.h).
  uint64_t accesses_in_full;   // once a run has made so many, launches are sampled
  uint64_t accesses_before_few;  // once it has made so many, also launches of few blocks
  uint32_t sampled_from;       // launches of so many blocks; 0: none
  // out: of the launches that were sampled, and their blocks: those checked in full, and those with accesses of words
  // that these had accessed
  uint32_t may_skip_launches;
  uint64_t skipped_launches;  // out: repeated, although they change nothing (repetitions.h)
  uint64_t sampled_launches, sampled_blocks, blocks_in_full, blocks_in_part;
  // out: launches that have begun, and their blocks: those that have ended, and those of them checked in full. Of the
  // launch that runs, or ran last: the blocks that it has.
  uint64_t launches_begun, blocks_run, blocks_checked, blocks_of_launch;
  // Launches are accepted or refused, and nothing runs: arrays are addresses without memory (unbacked.h).
  uint32_t only_launches;
};
constexpr uint32_t touched_bytes = 65536;  // of one piece

}  // namespace cuda_on_cpu
