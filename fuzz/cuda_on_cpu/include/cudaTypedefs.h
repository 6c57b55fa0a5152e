// All of it is already included.
#pragma once
#include "cuda_on_cpu.h"
