#include "unbacked.h"

#include "forbidden.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

constexpr uint64_t all = uint64_t{1} << 40, alignment = 256;

struct Addresses {
  char *begin = nullptr, *next = nullptr, *end = nullptr;
};
PerRun<Addresses> addresses;

}  // namespace

bool place_unbacked(Buffer &b) {
  if (!addresses.next) {
    addresses.begin = addresses.next = begin_forbidden(0, all, "kfuzz: memory without content");
    if (!addresses.next) return false;
    addresses.end = addresses.next + all;
  }
  uint64_t room = (b.bytes + 2 * alignment - 1) / alignment * alignment;  // no two arrays are neighbours
  if (room > static_cast<uint64_t>(addresses.end - addresses.next)) return false;
  b.address = addresses.next;
  addresses.next += room;
  return true;
}

bool place_unbacked_buffers(Run &run) {
  for (uint32_t i = 0; i < run.buffer_count; i++)
    if (!place_unbacked(run.buffers[i])) return false;
  return true;
}

bool is_unbacked(uintptr_t address) {
  return address >= reinterpret_cast<uintptr_t>(addresses.begin) && address < reinterpret_cast<uintptr_t>(addresses.end);
}

}  // namespace cuda_on_cpu
