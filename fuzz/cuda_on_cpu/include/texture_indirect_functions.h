#include "cuda_on_cpu.h"  // all of it
