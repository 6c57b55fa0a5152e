#include "late_writes.h"

#include "chunks.h"
#include "growing.h"
#include "state.h"

namespace cuda_on_cpu {

PerRun<LateReads> late_reads;

namespace {

// A thread that waits for a plain write must not wait for ever: only this many reads of a run are late.
constexpr uint32_t patience = 1 << 16;

struct Shown {
  uint32_t *word, value;
};

struct WordsBefore {
  const Region *buffers;
  uint32_t *before;  // for each word of the buffers; null until a run needs it
  uintptr_t start, bytes;
};
PerProcess<WordsBefore> words;

struct LateWrites {
  Shown shown[1 << 12];  // of a thread's access, at most 16 bytes; of a copy, its first words
  bool active;
  uint32_t late;
  LateWrites() : active(false), late(0) {}
};
PerRun<LateWrites> writes;

}  // namespace

bool prepare_late_writes(bool wanted, const Region &buffers) {
  writes.active = wanted;
  writes.late = 0;
  words.buffers = &buffers;
  if (!wanted || words.before) return true;
  words.start = buffers.start;
  words.bytes = buffers.bytes;
  void *memory = map_growing(words.bytes + sizeof *words.before);
  if (!memory) return false;
  words.before = static_cast<uint32_t *>(memory);
  return true;
}

void note_before_write(uintptr_t word) {
  if (writes.active && word - words.start < words.bytes) words.before[(word - words.start) / sizeof *words.before] = *reinterpret_cast<uint32_t *>(word);
}

void show_before_write(uintptr_t word) {
  if (!writes.active || word - words.start >= words.bytes || writes.late == patience) return;
  if (has_chunks(*words.buffers, word) && chunk_at(*words.buffers, word).has_lost_before) return;
  if (late_reads.words_shown == sizeof writes.shown / sizeof *writes.shown) return;
  writes.late++;
  uint32_t *there = reinterpret_cast<uint32_t *>(word);
  writes.shown[late_reads.words_shown++] = {there, *there};
  *there = words.before[(word - words.start) / sizeof *words.before];
}

void hide_shown_words() {
  while (late_reads.words_shown) {
    const Shown &s = writes.shown[--late_reads.words_shown];
    *s.word = s.value;
  }
}

}  // namespace cuda_on_cpu
