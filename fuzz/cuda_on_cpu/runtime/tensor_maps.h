// Tensor maps: arrays of one to five axes, of which a bulk copy moves a box. cuTensorMapEncodeTiled makes one.
//
// The 128 bytes of a CUtensorMap are opaque: these are our own, with a checksum, so that bytes that no call has made, or
// that were copied in part, are distinguished. A GPU keeps all in the first 64 of them, and CuTe DSL copies no more.
#pragma once
#include <cstddef>
#include <cstdint>

#include "abi.h"
#include "mbarrier_operations.h"

namespace cuda_on_cpu {

constexpr uint32_t bytes_of_map = 128, used_bytes_of_map = 64, most_axes = 5;

struct TensorMap {
  uint64_t start;
  uint64_t stride[most_axes - 1];  // in bytes, of the second axis and those after it
  uint32_t size_less_1[most_axes];
  uint32_t missing;                // of a map that a kernel builds from zeros: the fields, by bits, that it has not set
  uint8_t box_less_1[most_axes], step[most_axes];  // a box takes every so many elements of an axis
  uint8_t type, rank, swizzle_bytes, fills_nan;    // the type: CUtensorMapDataType
  uint8_t is_thread_copy;  // made by passing it as a parameter that is no __grid_constant__
};

// What cuTensorMapEncodeTiled is given; enumerations by their numbers.
struct AskedMap {
  uint32_t type, rank;
  const void *start;
  const uint64_t *size, *stride;
  const uint32_t *box, *step;
  uint32_t interleave, swizzle, l2_promotion, fill;
};

RefusedMap encode(void *map, const AskedMap &asked);
// Null, or what the cpu device lacks of a map that the driver makes.
const char *lacks(const AskedMap &asked);

bool is_made(const void *map);
TensorMap map_at(const void *map);
void change(void *map, const TensorMap &to);
// Whether a kernel may replace fields of it: it was made, or it is zeros, in which every field is still missing.
bool is_made_or_zero(const void *map);
// Null, or what a map that a kernel has built lacks, and what the driver would refuse about it.
const char *fault_of_built(const TensorMap &map);
// By tensormap.replace. Null, or why PTX leaves undefined what comes of it. Axes that a map does not have are ignored.
const char *replace_field(void *map, MapField field, uint32_t axis, uint64_t value);

uint32_t bytes_of_element(uint32_t type);
bool is_float(uint32_t type);
uint32_t elements_along(const TensorMap &map, uint32_t axis);  // of a box
uint64_t bytes_of_box(const TensorMap &map);                   // elements outside the array count as well
void fill_element(const TensorMap &map, void *to);             // with what takes the place of an element outside the array

// The address itself is swizzled: 16 bytes change places within the 128 bytes around them, by the number of these.
static inline uintptr_t swizzled(const TensorMap &map, uintptr_t address) {
  uintptr_t places = map.swizzle_bytes ? (map.swizzle_bytes - 1u) & ~uintptr_t{15} : 0;
  return address ^ (address >> 3 & places);
}

// Elements of a box that are adjacent in both memories, at most 16 bytes: `global` is null if they are outside the array.
struct Run16 {
  uintptr_t shared;
  char *global;
  uint32_t bytes;
};

// Calls each(Run16) for the whole box whose first corner is at these coordinates, in the order of shared memory.
template <class Each>
void walk_box(const TensorMap &map, const int32_t *corner, uintptr_t shared, Each each) {
  uint32_t element = bytes_of_element(map.type), in_chunk = 16 / element, count[most_axes], at[most_axes] = {};
  for (uint32_t axis = 0; axis < most_axes; axis++) count[axis] = axis < map.rank ? elements_along(map, axis) : 1;
  auto is_inside = [&](uint32_t axis, int64_t place) { return place >= 0 && place <= int64_t{map.size_less_1[axis]}; };
  auto walk_row = [&] {
    uint64_t row = map.start;
    bool inside = true;
    for (uint32_t axis = 1; axis < map.rank; axis++) {
      int64_t place = int64_t{corner[axis]} + int64_t{at[axis]} * map.step[axis];
      inside &= is_inside(axis, place);
      row += static_cast<uint64_t>(place) * map.stride[axis - 1];
    }
    for (uint32_t first = 0; first < count[0]; first += in_chunk, shared += 16) {
      for (uint32_t i = 0, end; i < in_chunk; i = end) {
        int64_t place = int64_t{corner[0]} + first + i;
        bool is_in = inside && is_inside(0, place);
        for (end = i + 1; end < in_chunk && (inside && is_inside(0, place + end - i)) == is_in;) end++;
        auto *from = is_in ? reinterpret_cast<char *>(row + static_cast<uint64_t>(place) * element) : nullptr;
        each(Run16{swizzled(map, shared) + i * element, from, (end - i) * element});
      }
    }
  };
  for (at[4] = 0; at[4] < count[4]; at[4]++)
    for (at[3] = 0; at[3] < count[3]; at[3]++)
      for (at[2] = 0; at[2] < count[2]; at[2]++)
        for (at[1] = 0; at[1] < count[1]; at[1]++) walk_row();
}

}  // namespace cuda_on_cpu
