// Matrices in shared memory, as a descriptor names them: factors of wgmma and tcgen05.mma, and what tcgen05.cp copies. A
// descriptor has the lower 18 bits of an address; the array is the one that holds them.
#pragma once
#include "bulk_copies.h"
#include "tensor_products.h"

namespace cuda_on_cpu {

struct PlacedMatrix {
  SharedMatrix matrix;
  char *start;
  uint32_t resident;  // whose shared memory it lies in
  uint32_t rows, depth;
  TensorType type;
  bool by_depth;
  char *chunk(uint32_t major, uint32_t along) const {
    return start + (static_cast<int64_t>(chunk_at(matrix, major, along, by_depth)) - static_cast<int64_t>(matrix.start));
  }
};

// In the shared memory of the running block.
PlacedMatrix place_matrix(const SharedMatrix &matrix, uint32_t rows, uint32_t depth, TensorType type, bool by_depth, uint32_t resident);
// At the same place in another block's.
PlacedMatrix same_matrix(const PlacedMatrix &one, uint32_t resident);

void take_matrix(Factors &into, const PlacedMatrix &placed, uint32_t first_row = 0);
// Calls `each` for what an operation reads of it, 16 bytes each: their address, and the row of m or n.
template <class Each>
void each_access(const PlacedMatrix &p, Each each) {
  each_chunk(p.rows, p.depth, p.type, p.by_depth, [&](uint32_t major, uint32_t along) {
    uint32_t row = p.by_depth ? major : along / bytes_of(p.type);
    each(reinterpret_cast<uintptr_t>(p.chunk(major, along)), row);
  });
}

}  // namespace cuda_on_cpu
