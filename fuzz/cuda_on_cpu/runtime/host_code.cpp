#include "host_code.h"

#include <signal.h>

#include <cstdio>

#include "block.h"
#include "report.h"

namespace cuda_on_cpu {

static bool is_running;
static char refusal[1024];

bool in_host() { return is_running; }
void note_in_host(bool is) { is_running = is; }

void host_refuses(const char *why) {
  snprintf(refusal, sizeof refusal, "%s", why);
  run->refusal = refusal;
  stop_run(Status::refused);
}

void abort_host(int line) {
  if (Finding *f = report(Kind::host_fault, 0, static_cast<uint32_t>(line))) f->detail = SIGABRT;
  stop_run(Status::stopped);
}

}  // namespace cuda_on_cpu
