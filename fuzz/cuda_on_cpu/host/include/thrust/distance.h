#include <kfuzz_thrust/all.h>
