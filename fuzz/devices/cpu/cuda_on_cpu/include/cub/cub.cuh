// What of cub the cpu device has.
#pragma once
#include "block/block_reduce.cuh"
#include "warp/warp_reduce.cuh"
