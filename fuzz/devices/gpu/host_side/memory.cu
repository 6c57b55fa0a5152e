// The part that every library of host functions has its own copy of: its memory, how it ends, and its results.
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

namespace kfuzz_host {

namespace {

constexpr size_t guard = 16384;       // as between the arrays of a job (layout.py)
constexpr uint32_t beside = 2, gone = 3;  // added to the poison word
constexpr int most_given = 16, most_rank = 8;

struct Allocation {
  char *start;  // of the allocated memory, after a guard
  size_t bytes;
  int line;
  bool is_freed;
  bool is_in_slot;  // of a field, which the caller owns
};

// Places for the next allocations, `pitch` bytes apart.
struct Slots {
  char *next;
  size_t pitch;
  int left;
};

struct Given {
  const void *data;
  int type, rank;
  int64_t sizes[most_rank];
};

struct EarlierAnswer {
  const char *data;
  int line;
  std::vector<char> bytes;
};

std::vector<EarlierAnswer> *earlier_answers = new std::vector<EarlierAnswer>;
std::vector<Allocation> *allocations = new std::vector<Allocation>;  // never destroyed: results outlive the library's end
std::vector<Given> *given = new std::vector<Given>;
uint32_t word;
Slots slots;
char refusal[1024];
int refusal_line;
bool has_refused;
cudaError_t pending;
jmp_buf ends;

// The byte of a painted word at this address. It depends on the address alone: a field is compared word by word,
// wherever an array of single bytes ends.
__host__ __device__ char byte_at(size_t address, uint32_t value) { return static_cast<char>(value >> 8 * (address % 4)); }

__global__ void paint(char *to, size_t bytes, uint32_t value) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < bytes; i += step)
    to[i] = byte_at(reinterpret_cast<size_t>(to + i), value);
}

void painted(char *to, size_t bytes, uint32_t value) {
  if (bytes) paint<<<64, 256>>>(to, bytes, value);
}

// By the number of torch's type; 0 for those that no claim has.
constexpr size_t element_bytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 1, 0, 0, 0, 2};

size_t bytes_of(const Given &one) {
  if (one.type < 0 || static_cast<size_t>(one.type) >= sizeof element_bytes / sizeof *element_bytes) return 0;
  size_t bytes = element_bytes[one.type];
  for (int i = 0; i < one.rank; i++) bytes *= static_cast<size_t>(one.sizes[i]);
  return bytes;
}

// The allocation that contains this memory; null if the host functions did not allocate it.
const Allocation *allocation_of(const char *data, size_t bytes) {
  for (const Allocation &one : *allocations)
    if (bytes && !one.is_freed && data >= one.start && data + bytes <= one.start + one.bytes) return &one;
  return nullptr;
}

std::vector<char> fetched(const char *from, size_t bytes) {
  std::vector<char> now(bytes);
  cudaMemcpy(now.data(), from, bytes, cudaMemcpyDeviceToHost);
  return now;
}

// The first byte that differs from its pattern, and the number of such bytes.
size_t changed(const char *from, size_t bytes, uint32_t value, size_t *count) {
  std::vector<char> now(bytes);
  *count = 0;
  size_t first = bytes;
  if (!bytes || cudaMemcpy(now.data(), from, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return first;
  for (size_t i = 0; i < bytes; i++) {
    if (now[i] == byte_at(reinterpret_cast<size_t>(from + i), value)) continue;
    if (first == bytes) first = i;
    ++*count;
  }
  return first;
}

}  // namespace

cudaError_t allocate(void **to, size_t bytes, int line) {
  *to = nullptr;
  if (!bytes) return cudaSuccess;
  size_t room = (bytes + 255) / 256 * 256;
  char *memory;
  bool is_in_slot = slots.left > 0 && room + 2 * guard <= slots.pitch / 2;
  if (is_in_slot) {
    memory = slots.next;
    slots.next += slots.pitch;
    slots.left--;
  } else if (cudaError_t error = cudaMalloc(&memory, room + 2 * guard)) {
    return error;
  }
  painted(memory, guard, word + beside);
  painted(memory + guard, bytes, word);
  painted(memory + guard + bytes, room - bytes + guard, word + beside);
  if (cudaError_t error = cudaDeviceSynchronize()) return error;
  allocations->push_back({memory + guard, bytes, line, false, is_in_slot});
  *to = memory + guard;
  return cudaSuccess;
}

cudaError_t release(void *memory) {
  for (Allocation &one : *allocations) {
    if (one.start != memory || one.is_freed) continue;
    if (cudaError_t error = cudaDeviceSynchronize()) return error;
    one.is_freed = true;
    painted(one.start, one.bytes, word + gone);
    return cudaDeviceSynchronize();
  }
  return cudaFree(memory);
}

void refuse(const char *words, int line = 0) {
  refusal_line = line;
  snprintf(refusal, sizeof refusal, "%s", words);
  has_refused = true;
}

// An exit comes back here and skips all destructors: nothing of the function runs after it.
int run(void (*function)(void *), void *context) {
  has_refused = false;
  if (!setjmp(ends)) function(context);
  pending = cudaPeekAtLastError();
  return has_refused;
}

}  // namespace kfuzz_host

using namespace kfuzz_host;

extern "C" {

void kfuzz_ends(const char *words) {
  refuse(words);
  longjmp(ends, 1);
}

struct Seen {
  int32_t is_freed, line;
  int64_t place, bytes, count;  // the overwritten byte, beside an array or in a freed one
};

void kfuzz_begin(uint32_t poison) {
  word = poison;
  slots = {};
  given->clear();
  cudaGetLastError();
}

void kfuzz_use_slots(uint64_t first, uint64_t pitch, int count) { slots = {reinterpret_cast<char *>(first), pitch, count}; }

struct InSlot {
  uint64_t start;
  int64_t bytes;
  int32_t line;
};

// What was allocated in slots.
int kfuzz_slots(InSlot *into, int most) {
  int found = 0;
  for (const Allocation &one : *allocations)
    if (one.is_in_slot && found < most) into[found++] = {reinterpret_cast<uint64_t>(one.start), static_cast<int64_t>(one.bytes), one.line};
  return found;
}

// Everything before this was earlier calls, whose answers must not change.
void kfuzz_again() {
  for (const Given &one : *given) {
    auto *data = static_cast<const char *>(one.data);
    size_t bytes = bytes_of(one);
    if (const Allocation *in = allocation_of(data, bytes)) earlier_answers->push_back({data, in->line, fetched(data, bytes)});
  }
  given->clear();
  cudaGetLastError();
}

// The line that allocated an earlier call's answer that has changed; 0 if none has.
int kfuzz_changed_earlier() {
  int line = 0;
  for (const EarlierAnswer &one : *earlier_answers)
    if (!line && allocation_of(one.data, one.bytes.size()) && fetched(one.data, one.bytes.size()) != one.bytes) line = one.line;
  earlier_answers->clear();
  return line;
}

const char *kfuzz_refusal() { return refusal; }
int kfuzz_refusal_line() { return refusal_line; }

// In the runtime's words, what went wrong in a kernel; null if nothing did.
const char *kfuzz_synchronized() {
  cudaError_t error = cudaDeviceSynchronize();
  return error ? cudaGetErrorString(error) : nullptr;
}

// An unchecked error of a launch; null if there is none.
const char *kfuzz_pending() {
  bool is_launch = pending == cudaErrorInvalidValue || pending == cudaErrorInvalidConfiguration ||
                   pending == cudaErrorLaunchOutOfResources || pending == cudaErrorCooperativeLaunchTooLarge;
  return is_launch ? cudaGetErrorString(pending) : nullptr;
}

void cuda_on_cpu_host_gives(const void *data, int type, int rank, const int64_t *sizes) {
  Given one = {data, type, rank, {}};
  if (given->size() == most_given || rank > most_rank) return refuse("kfuzz: too many results");
  for (int i = 0; i < rank; i++) one.sizes[i] = sizes[i];
  given->push_back(one);
}

bool cuda_on_cpu_next_call_overlaps() { return false; }
cudaError_t cuda_on_cpu_allocate(void **to, size_t bytes, int, int line) { return allocate(to, bytes, line); }
cudaError_t cuda_on_cpu_release(void *memory) { return release(memory); }

int kfuzz_given(int place, int *type, int64_t *sizes) {
  if (place >= static_cast<int>(given->size())) return -1;
  const Given &one = (*given)[place];
  *type = one.type;
  for (int i = 0; i < one.rank; i++) sizes[i] = one.sizes[i];
  return one.rank;
}

int kfuzz_fetch(int place, void *to, size_t bytes) {
  return bytes ? cudaMemcpy(to, (*given)[place].data, bytes, cudaMemcpyDefault) : 0;
}

// Reports the guards, and frees all memory.
int kfuzz_end(Seen *seen, int most) {
  int found = 0;
  for (Allocation &one : *allocations) {
    size_t room = (one.bytes + 255) / 256 * 256, count;
    auto note = [&](size_t first, size_t bytes, int64_t place, bool is_freed) {
      if (first < bytes && found < most)
        seen[found++] = {is_freed, one.line, place + static_cast<int64_t>(first), static_cast<int64_t>(one.bytes), static_cast<int64_t>(count)};
    };
    size_t before = changed(one.start - guard, guard, word + beside, &count);
    note(before, guard, -static_cast<int64_t>(guard), false);
    size_t behind = changed(one.start + one.bytes, room - one.bytes + guard, word + beside, &count);
    note(behind, room - one.bytes + guard, static_cast<int64_t>(one.bytes), false);
    if (one.is_freed) note(changed(one.start, one.bytes, word + gone, &count), one.bytes, 0, true);
    if (!one.is_in_slot) cudaFree(one.start - guard);
  }
  allocations->clear();
  cudaGetLastError();
  return found;
}
}
