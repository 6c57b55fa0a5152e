// What the drivers of this folder share: a check that names its line, and a run with a few findings of room.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/block.h"

static int failures;

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      std::printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);   \
      failures++;                                                             \
    }                                                                         \
  } while (false)

struct SmallRun : cuda_on_cpu::Run {
  cuda_on_cpu::Finding room[8] = {};
  cuda_on_cpu::Buffer arrays[2] = {};
  SmallRun() : Run() {
    findings = room;
    finding_capacity = 8;
    buffers = arrays;
    cuda_on_cpu::run = this;
  }
};
