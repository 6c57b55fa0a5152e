#include "vast.h"
#include "state.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace cuda_on_cpu {

constexpr uint64_t far = uint64_t{9} << 30;  // bytes: 2^31 elements of four, and a few more
constexpr uint64_t piece = touched_bytes;    // a multiple of every page size
constexpr uint32_t most_pieces = 8192;       // 512 MB; each takes up to two of the mappings that the system allows
constexpr uint64_t kinds = 7;                // of row, as fuzz/devices/memory/vast.py says

// The same address in every process, like that of other buffers (arena.cpp).
static void *const usual_place = reinterpret_cast<void *>(uintptr_t{0x580000000000});
namespace {

struct VastMapping {
  char *region;
  uint64_t region_bytes;
  char *start[max_buffers];  // of the memory of each buffer
  uint64_t touched[most_pieces];
};
PerProcess<VastMapping> mapping;

}  // namespace

static uint64_t pieces(uint64_t bytes) { return (bytes + piece - 1) & ~(piece - 1); }
static uint64_t room(const Buffer &b) { return pieces(b.bytes + piece); }

void release_vast_buffers() {
  if (mapping.region) munmap(mapping.region, mapping.region_bytes);
  mapping.region = nullptr;
}

bool place_vast_buffers(Run &run) {
  release_vast_buffers();
  run.touched = mapping.touched;
  run.touched_count = 0;
  uint64_t bytes = far;
  for (uint32_t i = 0; i < run.buffer_count; i++) bytes += room(run.buffers[i]) + far;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *memory = mmap(usual_place, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) memory = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
  if (memory == MAP_FAILED) return false;
  mapping.region = static_cast<char *>(memory);
  mapping.region_bytes = bytes;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  char *at = mapping.region + far;
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    Buffer &b = run.buffers[i];
    mapping.start[i] = at;
    b.address = at + b.distance;
    if (b.flags & has_content) {
      if (mprotect(at, room(b), PROT_READ | PROT_WRITE)) return false;
      memcpy(b.address, b.content, b.bytes);
    }
    at += room(b) + far;
  }
  return true;
}

// Alternating rows of 0 and 1: row r has 1 in every (2 + r % kinds)th column, from the first one or, for some kinds, from the
// one before the second multiple on.
static uint64_t alternating_content(const Buffer &b, uint64_t index) {
  uint64_t outer = index / b.vast_inner, row = outer % b.vast_rows;
  uint64_t column = outer / b.vast_rows * b.vast_inner + index % b.vast_inner, kind = row % kinds;
  return (column + (kind != 0 && kind != 3 && kind != 5)) % (2 + kind) ? 0 : b.fill;
}

static void fill_piece(const Buffer &b, char *from, char *to) {
  from = std::max(from, b.address);
  to = std::min(to, b.address + b.bytes);
  for (uint64_t index = (from - b.address) / b.element_bytes; b.address + index * b.element_bytes < to; index++) {
    uint64_t bits = b.flags & is_alternating ? alternating_content(b, index) : b.fill;
    char *element = b.address + index * b.element_bytes;
    char *first = std::max(element, from), *last = std::min(element + b.element_bytes, to);
    memcpy(first, reinterpret_cast<char *>(&bits) + (first - element), last - first);
  }
}

Touch touch_vast_buffer(Run &run, uintptr_t address) {
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    const Buffer &b = run.buffers[i];
    uint64_t offset = address - reinterpret_cast<uintptr_t>(mapping.start[i]);
    if (offset >= room(b) || b.flags & has_content) continue;
    char *from = mapping.start[i] + offset / piece * piece;
    auto *end = mapping.touched + run.touched_count;
    if (std::find(mapping.touched, end, reinterpret_cast<uint64_t>(from)) != end) return Touch::none;  // it is there
    if (run.touched_count == most_pieces || mprotect(from, piece, PROT_READ | PROT_WRITE)) return Touch::too_many;
    mapping.touched[run.touched_count++] = reinterpret_cast<uint64_t>(from);
    fill_piece(b, from, from + piece);
    return Touch::filled;
  }
  return Touch::none;
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_API void cuda_on_cpu_release_vast() { cuda_on_cpu::release_vast_buffers(); }
