#include "late_writes.h"

#include <sys/mman.h>

namespace cuda_on_cpu {

int words_shown;

namespace {

// A thread that waits for a plain write must not wait for ever: so many reads are late in a run, then none.
constexpr uint32_t patience = 1 << 16;

struct Shown {
  uint32_t *word, value;
};

Shown shown[1 << 12];  // of a thread's access, 16 bytes at most; of a copy, its first words
uint32_t *before;  // for each word of the buffers; null until a run asks
uintptr_t start, bytes;
bool active;
uint32_t late;

}  // namespace

bool prepare_late_writes(bool wanted, const Region &buffers) {
  active = wanted;
  late = 0;
  if (!wanted || before) return true;
  start = buffers.start;
  bytes = buffers.bytes;
  void *memory = mmap(nullptr, bytes + sizeof *before, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  before = static_cast<uint32_t *>(memory);
  return true;
}

void note_before_write(uintptr_t word) {
  if (active && word - start < bytes) before[(word - start) / sizeof *before] = *reinterpret_cast<uint32_t *>(word);
}

void show_before_write(uintptr_t word) {
  if (!active || word - start >= bytes || late == patience) return;
  if (words_shown == sizeof shown / sizeof *shown) return;
  late++;
  uint32_t *there = reinterpret_cast<uint32_t *>(word);
  shown[words_shown++] = {there, *there};
  *there = before[(word - start) / sizeof *before];
}

void hide_shown_words() {
  while (words_shown) {
    const Shown &s = shown[--words_shown];
    *s.word = s.value;
  }
}

}  // namespace cuda_on_cpu
