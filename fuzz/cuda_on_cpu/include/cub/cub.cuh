// What of cub the cpu device has.
#pragma once
#include "block/block_exchange.cuh"
#include "block/block_load.cuh"
#include "block/block_radix_sort.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "device/device_wide.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
