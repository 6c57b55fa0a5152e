#pragma once
#include "../../kfuzz_torch/cuda.h"
