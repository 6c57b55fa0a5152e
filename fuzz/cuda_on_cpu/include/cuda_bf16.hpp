// What a program includes beside cuda_bf16.h: all of it is there.
#pragma once
#include "cuda_bf16.h"
