// units: growing
#include "runtime/growing.h"

#include <signal.h>
#include <sys/resource.h>

#include <cstdint>

#include "expect.h"

using namespace cuda_on_cpu;

static int grown, refused;

static void on_fault(int, siginfo_t *info, void *) {
  Growth growth = grow_at(reinterpret_cast<uintptr_t>(info->si_addr));
  grown += growth == Growth::grown;
  refused += growth == Growth::refused;
  if (growth == Growth::grown) return;
  signal(SIGSEGV, SIG_DFL);
}

int main() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);

  // A limit of 1 GB, and 8 GB of addresses.
  constexpr uint64_t limit = 1 << 30, bytes = uint64_t{8} << 30, piece = 4 << 20;
  rlimit data = {limit, limit};
  EXPECT(!setrlimit(RLIMIT_DATA, &data));
  auto *memory = static_cast<unsigned char *>(map_growing(bytes));
  EXPECT(memory);
  EXPECT(memory[0] == 0 && memory[bytes - 1] == 0 && grown == 0);

  memory[bytes - 1] = 7, memory[bytes / 2] = 9;
  EXPECT(memory[bytes - 1] == 7 && memory[bytes / 2] == 9 && grown == 2);
  EXPECT(open_growing(memory + piece, 3 * piece));
  memory[piece] = memory[4 * piece - 1] = 1;
  EXPECT(grown == 2);

  EXPECT(!open_growing(memory, 2 * limit));
  EXPECT(grow_at(reinterpret_cast<uintptr_t>(memory) + bytes / 4) == Growth::refused);
  EXPECT(grow_at(reinterpret_cast<uintptr_t>(&data)) == Growth::elsewhere);
  EXPECT(open_growing(&data, sizeof data));

  unmap_growing(memory, bytes);
  EXPECT(grow_at(reinterpret_cast<uintptr_t>(memory)) == Growth::elsewhere);
  for (int i = 0; i < 20; i++) {
    void *again = map_growing(bytes);
    EXPECT(again);
    unmap_growing(again, bytes);
  }
  return failures;
}
