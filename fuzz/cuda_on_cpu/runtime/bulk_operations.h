// What a bulk reduction does with one element.
#pragma once
#include <cstdint>

#include "mbarrier_operations.h"

namespace cuda_on_cpu {

uint32_t bytes_of_type(BulkType type);
void reduce(void *into, const void *value, uint64_t bytes, BulkOperation operation, BulkType type);

}  // namespace cuda_on_cpu
