// All of it is in front already.
#pragma once
#include "cuda_on_cpu.h"
