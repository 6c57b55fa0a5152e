// Bulk copies and the fences of proxies: cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk. runtime/bulk_copies.h
// has the rest.
#pragma once
#include "mbarrier.h"
#include "tensor_map.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_bulk_load(void *to, const void *from, uint32_t bytes, void *barrier, uint32_t mask, uint32_t operation, uint32_t type);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_bulk_store(void *to, const void *from, uint32_t bytes, uint32_t operation, uint32_t type);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_box_load(void *to, const void *map, const int32_t *corner, uint32_t axes, void *barrier, uint32_t mask);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_box_store(const void *map, const int32_t *corner, uint32_t axes, const void *from, uint32_t operation);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_bulk_prefetch(const void *from, uint32_t bytes);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_box_prefetch(const void *map, const int32_t *corner, uint32_t axes);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_bulk_commit();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_bulk_wait(uint32_t but, bool until_read);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_proxy_fence(uint32_t which);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_map_acquire(const void *map);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_map_replace(void *map, uint32_t field, uint32_t axis, uint64_t value, int line);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_fence_of_inits();
