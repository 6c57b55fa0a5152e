#include "tensor_maps.h"

#include <cstring>

namespace cuda_on_cpu {

namespace {

// The numbers of cuda.h.
enum Type : uint32_t { uint8, uint16, uint32, int32, uint64, int64, float16, float32, float64, bfloat16, float32_ftz, tfloat32, tfloat32_ftz, types };
constexpr uint32_t all_types = 16, interleaves = 3, interleaved_by_32 = 2, swizzles = 7, swizzled_by_32 = 1, swizzled_by_128 = 3, promotions = 4;
constexpr uint64_t most_elements = uint64_t{1} << 32, stride_end = uint64_t{1} << 40;
constexpr uint32_t longest_side = 256, largest_step = 8, most_bytes = 228 << 10, widths[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

uint32_t bytes_of_swizzle(uint32_t swizzle) { return swizzle ? swizzle < swizzled_by_128 ? 16u << swizzle : 128 : 0; }
uint32_t swizzle_of(uint32_t bytes) {
  uint32_t swizzle = 0;
  while (bytes_of_swizzle(swizzle) != bytes) swizzle++;
  return swizzle;
}

// A map as it lies in memory. The fields of its kind and its steps follow one another in bits.
struct Packed {
  uint8_t start[6], stride[most_axes - 1][5], size_less_1[most_axes][4], box_less_1[most_axes], steps[2], kind[2], missing[4], checksum[5];
};
static_assert(sizeof(Packed) == used_bytes_of_map && stride_end == uint64_t{1} << 8 * sizeof Packed().stride[0], "it fits");
constexpr uint32_t bits_of_step = 3, bits_of_type = 4, bits_of_rank = 3, bits_of_swizzle = 2;
static_assert(most_axes * bits_of_step <= 16 && bits_of_type + bits_of_rank + bits_of_swizzle + 2 <= 16, "two bytes are enough");

template <size_t count>
void put(uint8_t (&to)[count], uint64_t value) {
  for (uint8_t &byte : to) byte = static_cast<uint8_t>(value), value >>= 8;
}

template <size_t count>
uint64_t got(const uint8_t (&from)[count]) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | from[i];
  return value;
}

Packed packed_at(const void *at) {
  Packed packed;
  memcpy(&packed, at, sizeof packed);
  return packed;
}

uint64_t checksum_of(Packed packed) {
  put(packed.checksum, 0);
  uint64_t words[sizeof packed / 8], sum = 0x6b66757a7a6d6170;
  memcpy(words, &packed, sizeof packed);
  for (uint64_t word : words) sum = (sum ^ word) * 0x9E3779B97F4A7C15ull, sum ^= sum >> 29;
  return sum >> 8 * (sizeof sum - sizeof packed.checksum);
}

// A bit for each field of a map, and for each axis of one that every axis has.
uint32_t bit_of(MapField field, uint32_t axis = 0) {
  return field < map_size ? 1u << field : 1u << (map_size + (field - map_size) * most_axes + axis);
}

TensorMap empty_map() {
  TensorMap map = {};
  map.missing = ~0u;
  return map;
}

// The types of tensormap.replace, which PTX numbers otherwise than cuda.h does.
constexpr uint8_t type_by_ptx[] = {uint8, uint16, uint32, int32, uint64, int64, float16, float32, float32_ftz, float64, bfloat16};

// Null, or why PTX leaves undefined what comes of this value of a field, or what the cpu device lacks of it.
const char *refusal_of(MapField field, uint64_t value) {
  switch (field) {
    case map_start:
      return !value || value % 16 ? "tensormap.replace with an address that is not a multiple of 16" : nullptr;
    case map_rank: return value >= most_axes ? "tensormap.replace with a rank that no map has" : nullptr;
    case map_type:
      return value >= sizeof type_by_ptx || type_by_ptx[value] == float32_ftz
                 ? "tensormap.replace with a type that changes what it copies, or packs it"
                 : nullptr;
    case map_interleave: return value ? "interleaved tensor maps" : nullptr;
    case map_swizzle: return value > swizzled_by_128 ? "tensor maps swizzled by 96 bytes" : nullptr;
    case map_fill: return value > 1 ? "tensormap.replace with a fill that no map has" : nullptr;
    case map_size: return !value ? "tensormap.replace with a size of 0" : nullptr;
    case map_stride:
      return value % 16 || value >= stride_end ? "tensormap.replace with a stride that is not a multiple of 16, or is 2^40 or more" : nullptr;
    case map_box: return !value || value > longest_side ? "tensormap.replace with a side of a box that is 0, or more than 256" : nullptr;
    case map_step: return !value || value > largest_step ? "tensormap.replace with a step that is 0, or more than 8" : nullptr;
  }
  return nullptr;
}

}  // namespace

uint32_t bytes_of_element(uint32_t type) { return widths[type]; }
bool is_float(uint32_t type) { return type >= float16 && type <= tfloat32_ftz; }

const char *lacks(const AskedMap &a) {
  if (a.type >= types && a.type < all_types) return "tensor maps of packed elements of 4 or 6 bits";
  if (a.type >= float32_ftz && a.type < types) return "tensor maps of FLOAT32_FTZ and TFLOAT32, which change what they copy";
  if (a.interleave && a.interleave < interleaves) return "interleaved tensor maps";
  if (a.swizzle > swizzled_by_128 && a.swizzle < swizzles) return "tensor maps swizzled by atoms of 32 or 64 bytes";
  return nullptr;
}

RefusedMap encode(void *made, const AskedMap &a) {
  auto is_multiple = [](const void *p, uint32_t of) { return reinterpret_cast<uintptr_t>(p) % of == 0; };
  if (!made || !is_multiple(made, 64)) return RefusedMap::map_address;
  if (a.type >= all_types) return RefusedMap::type;
  if (a.interleave >= interleaves || a.swizzle >= swizzles || a.l2_promotion >= promotions || a.fill > 1) return RefusedMap::word;
  if (!a.rank || a.rank > most_axes) return RefusedMap::rank;
  if (a.interleave && a.rank < 3) return RefusedMap::interleaved_rank;
  uint32_t alignment = a.interleave == interleaved_by_32 ? 32 : 16;
  if (!a.start || !is_multiple(a.start, alignment)) return RefusedMap::address;
  if (a.interleave == interleaved_by_32 && a.swizzle != swizzled_by_32) return RefusedMap::interleaved_swizzle;
  if (a.fill && !is_float(a.type)) return RefusedMap::fill;
  if (!a.size || !a.box || !a.step || !a.stride) return RefusedMap::list;  // of strides, too, though one axis has none
  TensorMap map = {};
  map.start = reinterpret_cast<uintptr_t>(a.start);
  map.type = static_cast<uint8_t>(a.type);
  map.rank = static_cast<uint8_t>(a.rank);
  map.swizzle_bytes = static_cast<uint8_t>(bytes_of_swizzle(a.swizzle));
  map.fills_nan = a.fill != 0;
  for (uint32_t i = 0; i < a.rank; i++) {
    if (!a.size[i] || a.size[i] > most_elements) return RefusedMap::size;
    if (!a.box[i] || a.box[i] > longest_side) return RefusedMap::box;
    bool is_ignored = i == 0 && !a.interleave;
    if (!is_ignored && (!a.step[i] || a.step[i] > largest_step)) return RefusedMap::step;
    if (i && (a.stride[i - 1] % alignment || a.stride[i - 1] >= stride_end)) return RefusedMap::stride;
    map.size_less_1[i] = static_cast<uint32_t>(a.size[i] - 1);
    map.box_less_1[i] = static_cast<uint8_t>(a.box[i] - 1);
    map.step[i] = is_ignored ? 1 : static_cast<uint8_t>(a.step[i]);
    if (i) map.stride[i - 1] = a.stride[i - 1];
  }
  if (lacks(a)) return RefusedMap::no;
  uint32_t inner = a.box[0] * bytes_of_element(a.type);
  if (inner % 16) return RefusedMap::inner_side;
  if (map.swizzle_bytes && inner > map.swizzle_bytes) return RefusedMap::inner_width;
  if (bytes_of_box(map) > most_bytes) return RefusedMap::box_bytes;
  memset(made, 0, bytes_of_map);
  change(made, map);
  return RefusedMap::no;
}

bool is_made(const void *at) {
  Packed packed = packed_at(at);
  return got(packed.checksum) == checksum_of(packed);
}

TensorMap map_at(const void *at) {
  Packed packed = packed_at(at);
  auto rest = static_cast<uint32_t>(got(packed.kind)), steps = static_cast<uint32_t>(got(packed.steps));
  auto next = [](uint32_t &from, uint32_t bits) {
    uint32_t value = from & ((1u << bits) - 1);
    from >>= bits;
    return static_cast<uint8_t>(value);
  };
  TensorMap map = {};
  map.start = got(packed.start);
  map.missing = static_cast<uint32_t>(got(packed.missing));
  map.type = next(rest, bits_of_type);
  map.rank = next(rest, bits_of_rank);
  map.swizzle_bytes = static_cast<uint8_t>(bytes_of_swizzle(next(rest, bits_of_swizzle)));
  map.fills_nan = next(rest, 1);
  map.is_thread_copy = next(rest, 1);
  for (uint32_t i = 0; i < most_axes; i++) {
    map.size_less_1[i] = static_cast<uint32_t>(got(packed.size_less_1[i]));
    map.box_less_1[i] = packed.box_less_1[i];
    map.step[i] = static_cast<uint8_t>(next(steps, bits_of_step) + 1);
    if (i) map.stride[i - 1] = got(packed.stride[i - 1]);
  }
  return map;
}

void change(void *at, const TensorMap &to) {
  Packed packed = {};
  uint32_t rest = 0, steps = 0, rest_bits = 0;
  auto add = [&](uint32_t value, uint32_t bits) { rest |= value << rest_bits, rest_bits += bits; };
  put(packed.start, to.start);
  put(packed.missing, to.missing);
  add(to.type, bits_of_type);
  add(to.rank, bits_of_rank);
  add(swizzle_of(to.swizzle_bytes), bits_of_swizzle);
  add(to.fills_nan, 1);
  add(to.is_thread_copy, 1);
  for (uint32_t i = 0; i < most_axes; i++) {
    put(packed.size_less_1[i], to.size_less_1[i]);
    packed.box_less_1[i] = to.box_less_1[i];
    steps |= (to.step[i] ? to.step[i] - 1u : 0) << i * bits_of_step;
    if (i) put(packed.stride[i - 1], to.stride[i - 1]);
  }
  put(packed.kind, rest);
  put(packed.steps, steps);
  put(packed.checksum, checksum_of(packed));
  memcpy(at, &packed, sizeof packed);
}

bool is_made_or_zero(const void *at) {
  constexpr char zeros[used_bytes_of_map] = {};
  return is_made(at) || !memcmp(at, zeros, sizeof zeros);
}

const char *fault_of_built(const TensorMap &map) {
  if (!map.missing) return nullptr;  // the driver has checked it
  uint32_t needed = bit_of(map_start) | bit_of(map_rank) | bit_of(map_type);
  for (uint32_t axis = 0; axis < map.rank; axis++) {
    needed |= bit_of(map_size, axis) | bit_of(map_box, axis) | bit_of(map_step, axis);
    if (axis) needed |= bit_of(map_stride, axis - 1);
  }
  if (map.missing & needed) return "a tensor map built from zeros, some of whose fields were never set";
  uint32_t inner = elements_along(map, 0) * bytes_of_element(map.type);
  if (inner % 16) return "a tensor map built from zeros, the rows of whose boxes are no multiple of 16 bytes";
  if (map.swizzle_bytes && inner > map.swizzle_bytes) return "a tensor map built from zeros, whose boxes are wider than its swizzle";
  return nullptr;
}

const char *replace_field(void *at, MapField field, uint32_t axis, uint64_t value) {
  TensorMap map = is_made(at) ? map_at(at) : empty_map();
  bool of_axis = field >= map_size;
  uint32_t axes = field == map_stride ? most_axes - 1 : most_axes;
  if (of_axis && axis >= axes) return "tensormap.replace of an axis that no map has";
  bool is_of_none = of_axis && !map.missing && axis + (field == map_stride) >= map.rank;
  if (is_of_none) return nullptr;
  if (const char *why = refusal_of(field, value)) return why;
  switch (field) {
    case map_start: map.start = value; break;
    case map_rank: map.rank = static_cast<uint8_t>(value + 1); break;
    case map_type: map.type = type_by_ptx[value]; break;
    case map_interleave: break;
    case map_swizzle: map.swizzle_bytes = static_cast<uint8_t>(bytes_of_swizzle(static_cast<uint32_t>(value))); break;
    case map_fill: map.fills_nan = value != 0; break;
    case map_size: map.size_less_1[axis] = static_cast<uint32_t>(value - 1); break;
    case map_stride: map.stride[axis] = value; break;
    case map_box: map.box_less_1[axis] = static_cast<uint8_t>(value - 1); break;
    case map_step: map.step[axis] = static_cast<uint8_t>(value); break;
  }
  map.missing &= ~bit_of(field, of_axis ? axis : 0);
  change(at, map);
  return nullptr;
}

uint32_t elements_along(const TensorMap &map, uint32_t axis) { return (map.box_less_1[axis] + uint32_t{map.step[axis]}) / map.step[axis]; }

uint64_t bytes_of_box(const TensorMap &map) {
  uint64_t bytes = bytes_of_element(map.type);
  for (uint32_t axis = 0; axis < map.rank; axis++) bytes *= elements_along(map, axis);
  return bytes;
}

void fill_element(const TensorMap &map, void *to) {
  uint32_t bytes = bytes_of_element(map.type);
  memset(to, map.fills_nan ? 0xff : 0, bytes);
  if (map.fills_nan) static_cast<unsigned char *>(to)[bytes - 1] = 0x7f;
}

}  // namespace cuda_on_cpu
