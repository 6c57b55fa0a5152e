// What inline PTX is translated to (fuzz/devices/cpu/ptx): one header for a topic.
#pragma once
#include "registers.h"
#include "integers.h"
#include "floats.h"
#include "memory.h"
#include "atomics.h"
#include "mbarriers.h"
#include "bulk_copies.h"
#include "warps.h"
#include "launch_control.h"
#ifndef CUDA_ON_CPU_COUNT
#include "sixteen.h"
#include "conversions.h"
#include "matrices.h"
#include "wmma.h"
#include "word_products.h"
#include "warpgroups.h"
#include "tensor_memory.h"
#endif
