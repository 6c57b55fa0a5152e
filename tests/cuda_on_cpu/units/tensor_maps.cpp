// units: tensor_maps
#include "runtime/tensor_maps.h"

#include "expect.h"

using namespace cuda_on_cpu;

constexpr uint32_t of_ints = 3, of_floats = 7, by_128 = 3;
alignas(128) static int array[40][72];
alignas(64) static char map[bytes_of_map];

struct Lists {
  uint64_t size[5] = {72, 40}, stride[4] = {72 * 4};
  uint32_t box[5] = {16, 8}, step[5] = {1, 1};
};
static AskedMap asked(const Lists &l) { return {of_ints, 2, array, l.size, l.stride, l.box, l.step, 0, 0, 0, 0}; }

template <class Change>
static RefusedMap refused(Change change) {
  Lists lists;
  AskedMap one = asked(lists);
  change(lists, one);
  return encode(map, one);
}

int main() {
  using R = RefusedMap;
  EXPECT(!is_made(map));
  EXPECT(refused([](Lists &, AskedMap &) {}) == R::no && is_made(map));
  EXPECT(bytes_of_box(map_at(map)) == 512);
  EXPECT(refused([](Lists &l, AskedMap &) { l.box[1] = 257; }) == R::box);
  EXPECT(refused([](Lists &l, AskedMap &) { l.box[0] = 3; }) == R::inner_side);
  EXPECT(refused([](Lists &l, AskedMap &) { l.size[1] = 0; }) == R::size);
  EXPECT(refused([](Lists &l, AskedMap &) { l.step[1] = 9; }) == R::step);
  EXPECT(refused([](Lists &l, AskedMap &) { l.step[0] = 9; }) == R::no);  // ignored, if nothing is interleaved
  EXPECT(refused([](Lists &l, AskedMap &) { l.stride[0] = 72 * 4 + 4; }) == R::stride);
  EXPECT(refused([](Lists &l, AskedMap &) { l.stride[0] = uint64_t{1} << 40; }) == R::stride);
  EXPECT(refused([](Lists &, AskedMap &a) { a.start = &array[0][1]; }) == R::address);
  EXPECT(refused([](Lists &, AskedMap &a) { a.rank = 6; }) == R::rank);
  EXPECT(refused([](Lists &, AskedMap &a) { a.fill = 1; }) == R::fill);
  EXPECT(refused([](Lists &, AskedMap &a) { a.fill = 1, a.type = of_floats; }) == R::no);
  EXPECT(refused([](Lists &l, AskedMap &a) { l.box[0] = 64, a.swizzle = by_128; }) == R::inner_width);
  EXPECT(refused([](Lists &, AskedMap &a) { a.interleave = 2; }) == R::interleaved_rank);
  Lists lists;
  AskedMap packed = asked(lists);
  packed.type = 13;
  EXPECT(encode(map, packed) == R::no && lacks(packed));

  // The second half of a map has nothing, and half of the first is no map.
  EXPECT(refused([](Lists &, AskedMap &) {}) == R::no);
  memset(map + 64, 0xff, 64);
  EXPECT(is_made(map));
  memset(map + 32, 0, 32);
  EXPECT(!is_made(map));

  // A corner outside: two rows above the array, and the last 5 of 72 columns.
  EXPECT(refused([](Lists &, AskedMap &) {}) == R::no);
  const int32_t corner[] = {67, -2};
  uint32_t inside = 0, filled = 0;
  walk_box(map_at(map), corner, 0x10000, [&](const Run16 &r) {
    (r.global ? inside : filled) += r.bytes / 4;
    uintptr_t place = (r.shared - 0x10000) / 4;
    if (r.global) EXPECT(r.global == reinterpret_cast<char *>(&array[place / 16 - 2][67 + place % 16]));
  });
  EXPECT(inside == 6 * 5 && filled == 16 * 8 - 6 * 5);

  // The swizzle is of the address: by 128 bytes the chunk of row i goes to chunk j ^ i % 8; by 64 to j ^ i / 2 % 4.
  TensorMap plain = map_at(map);
  plain.swizzle_bytes = 128;
  EXPECT(swizzled(plain, 0x10000 + 3 * 128 + 2 * 16) == 0x10000 + 3 * 128 + (2 ^ 3) * 16);
  EXPECT(swizzled(plain, 0x10080) == 0x10080 + 16);
  plain.swizzle_bytes = 64;
  EXPECT(swizzled(plain, 0x10000 + 5 * 64 + 16) == 0x10000 + 5 * 64 + (1 ^ 2) * 16);
  // Fields that a kernel replaces.
  EXPECT(refused([](Lists &, AskedMap &) {}) == R::no);
  EXPECT(replace_field(map, map_start, 0, 256) == nullptr && map_at(map).start == 256 && is_made(map));
  EXPECT(replace_field(map, map_size, 1, 7) == nullptr && map_at(map).size_less_1[1] == 6);
  EXPECT(replace_field(map, map_stride, 0, 512) == nullptr && map_at(map).stride[0] == 512);
  EXPECT(replace_field(map, map_size, 4, 0) == nullptr && map_at(map).size_less_1[4] == 0);  // an axis that it does not have
  EXPECT(replace_field(map, map_start, 0, 8) && replace_field(map, map_size, 1, 0) && replace_field(map, map_stride, 0, 24));
  EXPECT(replace_field(map, map_size, 5, 1) && replace_field(map, map_stride, 4, 16));
  return failures;
}
