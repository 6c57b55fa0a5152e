#pragma once
#include <kfuzz_thrust/all.h>
