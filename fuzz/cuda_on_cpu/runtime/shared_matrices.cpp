#include "shared_matrices.h"

#include "block.h"
#include "host_code.h"
#include "shared_memory.h"

namespace cuda_on_cpu {

namespace {

constexpr uint32_t window = 1u << 18;

struct Array {
  char *start;
  uint64_t bytes;
  uint64_t offset_of(uint32_t lower) const { return (lower - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(start))) & (window - 1); }
};

template <class Each>
void each_shared_array(Each each) {
  each(Array{cuda_on_cpu_dynamic_shared, run->steps[run->step].shared});
  for (uint32_t i = 0; i < run->shared_array_count; i++)
    if (!run->shared_arrays[i].is_guard) each(Array{static_shared_start() + run->shared_arrays[i].offset, run->shared_arrays[i].bytes});
}

// The place of a matrix's first byte: in the array that holds the whole matrix, or at least its start, and whose address the
// launch has asked for.
char *find_start(const SharedMatrix &m, uint32_t extent) {
  Array best = {cuda_on_cpu_dynamic_shared, 0};
  uint32_t found = 0;
  bool whole = false;
  each_shared_array([&](const Array &one) {
    uint64_t offset = one.offset_of(m.start);
    if (offset >= one.bytes || !is_address_taken(one.start, one.bytes)) return;
    bool is_whole = offset + extent <= one.bytes;
    if (whole > is_whole) return;
    found = whole == is_whole ? found + 1 : 1;
    whole = is_whole;
    best = one;
  });
  if (found > 1) host_refuses("shared arrays that descriptors of wgmma or tcgen05 do not tell apart here: use one dynamic array");
  return best.start + best.offset_of(m.start);
}

}  // namespace

PlacedMatrix place_matrix(const SharedMatrix &matrix, uint32_t rows, uint32_t depth, TensorType type, bool by_depth, uint32_t resident) {
  PlacedMatrix p = {matrix, nullptr, resident, rows, depth, type, by_depth};
  if (matrix.base_offset) host_refuses("a base offset in a descriptor of shared memory");
  if (by_depth && matrix.span > chunk_bytes && depth * bytes_of(type) > matrix.span)
    host_refuses("wgmma.sp with a B of 64 bytes along k in a swizzle of 32");  // no text says where the second half lies
  uint32_t extent = 0;
  each_chunk(rows, depth, type, by_depth, [&](uint32_t major, uint32_t along) {
    uint32_t end = chunk_at(matrix, major, along, by_depth) - matrix.start + chunk_bytes;
    if (end > extent && end < 2 * window) extent = end;
  });
  p.start = find_start(matrix, extent);
  return p;
}

PlacedMatrix same_matrix(const PlacedMatrix &one, uint32_t resident) {
  PlacedMatrix p = one;
  p.start = static_cast<char *>(same_place(one.start, one.resident, resident));
  p.resident = resident;
  return p;
}

void take_matrix(Factors &into, const PlacedMatrix &p, uint32_t first_row) {
  constexpr char outside[chunk_bytes] = {};
  each_chunk(p.rows, p.depth, p.type, p.by_depth, [&](uint32_t major, uint32_t along) {
    const char *chunk = p.chunk(major, along);
    bool is_inside = is_shared_of(p.resident, reinterpret_cast<uintptr_t>(chunk));
    take_chunk(into, is_inside ? chunk : outside, p.type, major, along, p.by_depth, first_row);
  });
}

}  // namespace cuda_on_cpu
