// What a program includes beside cuda_fp8.h: all of it is there.
#pragma once
#include "cuda_fp8.h"
