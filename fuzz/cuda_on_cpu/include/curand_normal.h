#include "curand_kernel.h"  // all of it
