#include "host_code.h"

#include <cstdio>

#include "block.h"
#include "report.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

struct HostCode {
  bool is_running;
};
PerRun<HostCode> host_code;

// The caller reads it after the run.
struct Refusal {
  char why[1024];
};
PerProcess<Refusal> refusal;

}  // namespace

bool in_host() { return host_code.is_running; }
void note_in_host(bool is) { host_code.is_running = is; }

void host_refuses(const char *why, int line) {
  snprintf(refusal.why, sizeof refusal.why, "%s", why);
  run->refusal = refusal.why;
  run->refusal_line = static_cast<uint32_t>(line);
  stop_run(Status::refused);
}

void end_program(int code) {
  run->exit_code = code;
  stop_run(Status::finished);
}

}  // namespace cuda_on_cpu
