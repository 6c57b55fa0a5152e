#include "memory_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "block.h"
#include "host_code.h"
#include "signals.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

// A processor touches about 2 GB in a second, so much less than the reserve between two looks.
constexpr long look_every_ms = 10;
constexpr uint64_t least_reserve = 128 << 20, most_reserve = 1 << 30, reserve_one_in = 32;

struct MemoryWatch {
  timer_t timer;
  bool is_on;
  uint64_t reserve;
  char group[512];  // the folder of the control group that limits this process; empty: none does
  MemoryWatch() : is_on(false) {}
  ~MemoryWatch() {
    if (is_on) timer_delete(timer);
  }
};
PerRun<MemoryWatch> watched;

// These run in a signal handler: no allocations.
bool read_text(const char *folder, const char *name, char *text, size_t room) {
  char path[1024];
  snprintf(path, sizeof path, "%s%s", folder, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? -1 : read(file, text, room - 1);
  if (file >= 0) close(file);
  text[got > 0 ? got : 0] = 0;
  return got > 0;
}

// The number after this word at the start of a line; 0 if there is none.
uint64_t number_after(const char *text, const char *word) {
  for (const char *line = text; line; line = strchr(line, '\n'), line += line != nullptr)
    if (!strncmp(line, word, strlen(word))) return strtoull(line + strlen(word), nullptr, 10);
  return 0;
}

uint64_t number_in(const char *folder, const char *name) {
  char text[64];
  return read_text(folder, name, text, sizeof text) ? strtoull(text, nullptr, 10) : 0;
}

// Of the machine, in bytes.
uint64_t meminfo(const char *word) {
  constexpr uint64_t kilobyte = 1024;
  char text[4096];
  return read_text("/proc/meminfo", "", text, sizeof text) ? number_after(text, word) * kilobyte : 0;
}

// The nearest group with a limit: of the first or the second version of control groups, where systems mount them. Inside a
// container its own group may be the root.
void find_group(char (&found)[512], uint64_t of_machine) {
  char text[4096];
  found[0] = 0;
  read_text("/proc/self/cgroup", "", text, sizeof text);
  struct Root {
    const char *mark, *folder;
  };
  for (Root root : {Root{":memory:", "/sys/fs/cgroup/memory"}, Root{"0::", "/sys/fs/cgroup"}, Root{"0::", "/sys/fs/cgroup/unified"}}) {
    const char *at = strstr(text, root.mark);
    if (!at) continue;
    const char *path = at + strlen(root.mark);
    int length = static_cast<int>(strcspn(path, "\n"));
    char folder[512];
    snprintf(folder, sizeof folder, "%s%.*s", root.folder, length, path);
    for (;;) {
      if (uint64_t limit = read_memory_group(folder).limit; limit && limit < of_machine) {
        memcpy(found, folder, sizeof folder);
        return;
      }
      char *slash = strrchr(folder, '/');
      if (strlen(folder) <= strlen(root.folder)) break;
      *slash = 0;
    }
  }
}

uint64_t bytes_left() {
  uint64_t left = meminfo("MemAvailable:");
  if (!watched.group[0]) return left;
  return std::min(left, read_memory_group(watched.group).left);
}

void on_look(int number) {
  if (!watched.is_on || !is_in_kernels() || is_end_claimed() || pass_to_thread_in_call(number)) return;
  uint64_t left = bytes_left();
  if (left >= watched.reserve) return;
  leave_kernels();
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < run->buffer_count; i++) bytes += run->buffers[i].flags & is_freed ? 0 : run->buffers[i].bytes;
  char words[256];
  snprintf(words, sizeof words,
           "needs more memory than there is: arrays of %llu bytes, and 8.5 bytes for each byte of them that a kernel touches; "
           "%llu MB are left",
           static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(left >> 20));
  host_refuses(words);
}

}  // namespace

MemoryGroup read_memory_group(const char *folder) {
  char text[4096];
  MemoryGroup group = {number_in(folder, "/memory.max"), 0};
  bool is_second = group.limit;
  if (!is_second) group.limit = number_in(folder, "/memory.limit_in_bytes");
  uint64_t used = number_in(folder, is_second ? "/memory.current" : "/memory.usage_in_bytes");
  if (read_text(folder, "/memory.stat", text, sizeof text)) {  // files that the system can drop at any time
    uint64_t files = number_after(text, is_second ? "inactive_file " : "total_inactive_file ");
    used -= std::min(used, files);
  }
  group.left = group.limit - std::min(group.limit, used);
  return group;
}

void watch_memory() {
  if (watched.is_on) return;
  uint64_t total = meminfo("MemTotal:");
  find_group(watched.group, total);
  if (watched.group[0]) total = read_memory_group(watched.group).limit;
  watched.reserve = std::clamp(total / reserve_one_in, least_reserve, most_reserve);
  struct sigaction action = {};
  action.sa_handler = on_look;
  action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART;
  int number = SIGRTMAX - 3;
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = number;
  watched.is_on = !sigaction(number, &action, nullptr) && !timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &watched.timer);
  itimerspec every = {{0, look_every_ms * 1000000}, {0, look_every_ms * 1000000}};
  if (watched.is_on) timer_settime(watched.timer, 0, &every, nullptr);
}

}  // namespace cuda_on_cpu
