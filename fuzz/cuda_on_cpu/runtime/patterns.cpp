#include "patterns.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guard_zone.h"

namespace cuda_on_cpu {

// A program may count on the small numbers of the files that it opens.
constexpr int first_file = 512;

static int make_file(uint64_t bytes) {
  int low = memfd_create("kfuzz pattern", MFD_CLOEXEC);
  if (low < 0) return -1;
  int file = fcntl(low, F_DUPFD_CLOEXEC, first_file);
  if (file < 0) return low;
  close(low);
  if (!ftruncate(file, static_cast<off_t>(bytes))) return file;
  close(file);
  return -1;
}

bool make_pattern(Pattern &pattern, const void *unit, uint64_t unit_bytes, uint64_t bytes) {
  pattern = {make_file(bytes), bytes};
  if (pattern.file < 0) return false;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pattern.file, 0);
  if (memory == MAP_FAILED) {
    forget_pattern(pattern);
    return false;
  }
  repeat(static_cast<char *>(memory), bytes, unit, unit_bytes);
  munmap(memory, bytes);
  return true;
}

void forget_pattern(Pattern &pattern) {
  if (pattern.bytes && pattern.file >= 0) close(pattern.file);
  pattern = {};
}

static bool map_at(void *start, uint64_t bytes, int protection, int flags, int file) {
  return mmap(start, bytes, protection, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | flags, file, 0) != MAP_FAILED;
}

bool map_pattern(const Pattern &pattern, void *start, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += pattern.bytes) {
    uint64_t part = bytes - done < pattern.bytes ? bytes - done : pattern.bytes;
    if (!map_at(static_cast<char *>(start) + done, part, PROT_READ | PROT_WRITE, 0, pattern.file)) return false;
  }
  return true;
}

bool map_zeros(void *start, uint64_t bytes) { return !bytes || map_at(start, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1); }

bool map_nothing(void *start, uint64_t bytes) { return !bytes || map_at(start, bytes, PROT_NONE, MAP_ANONYMOUS, -1); }

}  // namespace cuda_on_cpu
