// An exception that refuses a host function's arguments on a known line of its file.
#pragma once
#include <stdexcept>
#include <string>

namespace cuda_on_cpu_host {

struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
  Refusal(int where, const std::string &words) : std::runtime_error(words), line(where) {}
  int line = 0;  // 0: not known
};

}  // namespace cuda_on_cpu_host
