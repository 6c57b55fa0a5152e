// What a program includes beside cuda_fp16.h: all of it is there.
#pragma once
#include "cuda_fp16.h"
