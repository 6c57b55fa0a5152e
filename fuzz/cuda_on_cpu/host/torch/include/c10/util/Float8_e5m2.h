#pragma once
#include "../../kfuzz_torch/all.h"
