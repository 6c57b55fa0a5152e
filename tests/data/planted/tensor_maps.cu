// Programs of one page that copy boxes of tensors (TMA). Arguments and answers as in bulk_copies.cu. Right cases cover ranks 1
// to 5, all swizzles, fills, element strides and reductions. For nvcc: -std=c++17 -gencode arch=compute_90a,code=sm_90a.
#include <cuda/barrier>
#include <cuda/ptx>

#include "named_cases.h"

namespace ptx = cuda::ptx;
constexpr int threads = 64;

__device__ void begin(uint64_t *full) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
}
__device__ void expect(uint64_t *full, uint32_t bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
}
__device__ void take(uint64_t *full, uint32_t bytes, const int *box, int *made) {
  while (!ptx::mbarrier_try_wait_parity(full, 0)) {}
  for (int i = threadIdx.x; i < bytes / 4; i += threads) made[i] = box[i];
}

// The box at a corner, as it lies in shared memory, goes to `made`.
template <int axes, bool by_strides = false>
__global__ void load_box(const __grid_constant__ CUtensorMap map, int4 corner, int last, uint32_t bytes, int *made) {
  extern __shared__ __align__(1024) int box[];
  __shared__ uint64_t full;
  begin(&full);
  if (threadIdx.x == 0) {
    const int32_t every[5] = {corner.x, corner.y, corner.z, corner.w, last};
    int32_t at[axes];
    for (int i = 0; i < axes; i++) at[i] = every[i];
    expect(&full, bytes);
    if (by_strides) ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &map, at, &full);  //~ error: out-of-bounds if map_from_strides_of_another
    else ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &map, at, &full);  //~ error: out-of-bounds if box_wider_than_array
  }
  take(&full, bytes, box, made);
}
// A map that is no constant of the grid.
__global__ void load_by_own_copy(const CUtensorMap map, uint32_t bytes, int *made) {
  extern __shared__ __align__(1024) int box[];
  __shared__ uint64_t full;
  begin(&full);
  if (threadIdx.x == 0) {
    const int32_t at[2] = {0, 0};
    expect(&full, bytes);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &map, at, &full);  //~ error: tensor-map if map_is_no_grid_constant
  }
  take(&full, bytes, box, made);
}
// Numbers from 1000 on, as they lie in shared memory, go to the box; or are added to it.
template <bool adds>
__global__ void store_box(const __grid_constant__ CUtensorMap map, int x, int y, uint32_t bytes) {
  extern __shared__ __align__(1024) int box[];
  for (int i = threadIdx.x; i < bytes / 4; i += threads) box[i] = 1000 + i;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x) return;
  const int32_t at[2] = {x, y};
  if (adds) ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, at, box);  //~ error: tensor-map if added_below_0
  else ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, box);  //~ error: tensor-map if stored_between_16_bytes
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}
// The kernel itself copies a map to memory, and uses it there.
template <bool fences>
__global__ void map_written_by_the_kernel(const __grid_constant__ CUtensorMap map, CUtensorMap *there, uint32_t bytes, int *made) {
  extern __shared__ __align__(1024) int box[];
  __shared__ uint64_t full;
  begin(&full);
  if (threadIdx.x < 16) there->opaque[threadIdx.x] = map.opaque[threadIdx.x];
  if (fences) ptx::fence_proxy_tensormap_generic(ptx::sem_release, ptx::scope_gpu);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fences) ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, there, ptx::n32_t<128>());
    const int32_t at[2] = {0, 0};
    expect(&full, bytes);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, there, at, &full);  //~ error: missing-proxy-fence if tensormap_replaced_without_fence
  }
  take(&full, bytes, box, made);
}

// An array of ints, its sizes from the innermost axis on, and a box of it.
struct Shape {
  std::vector<cuuint64_t> size;
  std::vector<cuuint32_t> box, step;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  bool floats = false;  // and a fill of NaN
  std::vector<cuuint64_t> stride_bytes = {};
};
std::vector<cuuint64_t> strides_of(const Shape &s) {
  if (!s.stride_bytes.empty()) return s.stride_bytes;
  std::vector<cuuint64_t> made;
  cuuint64_t stride = 4;
  for (cuuint64_t size : s.size) made.push_back(stride *= size);  // the last is of no axis: a list may not be null
  return made;
}
CUresult encode(CUtensorMap *map, void *array, const Shape &s) {
  std::vector<cuuint64_t> stride = strides_of(s);
  return find_encode()(map, s.floats ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_INT32, static_cast<cuuint32_t>(s.size.size()), array,
                       s.size.data(), stride.data(), s.box.data(), s.step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, s.swizzle,
                       CU_TENSOR_MAP_L2_PROMOTION_NONE,
                       s.floats ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
size_t count_of(const Shape &s) {
  size_t count = 1;
  for (cuuint64_t size : s.size) count *= size;
  return count;
}
size_t in_box(const Shape &s) {
  size_t count = 1;
  for (size_t i = 0; i < s.box.size(); i++) count *= (s.box[i] + s.step[i] - 1) / s.step[i];
  return count;
}
std::vector<int> numbers_from_1(size_t count) {
  std::vector<int> made(count);
  for (size_t i = 0; i < count; i++) made[i] = static_cast<int>(i) + 1;
  return made;
}
struct Arrays {
  std::vector<int> content, got;
  OnDevice<int> array, made;
  CUtensorMap map;
  explicit Arrays(const Shape &s, size_t of = 0) : content(numbers_from_1(of ? of : count_of(s))), got(in_box(s)), array(content), made(got) {
    if (CUresult error = encode(&map, array.there, s)) printf("refused: %d\n", error), exit(1);
  }
  void fetch() { got = made.fetch(), content = array.fetch(); }
};

// What the guide's tables say: 16 bytes change places within a span, by the number of the row of 128 bytes.
size_t place_in_shared(const Shape &s, size_t word) {
  size_t span = s.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : size_t{16} << s.swizzle;
  if (!span) return word;
  size_t row = word * 4 / 128, chunk = word / 4 % (span / 16), spans = word / 4 / (span / 16);
  return (spans * (span / 16) + (chunk ^ row % (span / 16))) * 4 + word % 4;
}
bool is_right(const Shape &s, const Arrays &a, const int *corner, int outside) {
  std::vector<int64_t> i(5, 0);
  for (size_t word = 0; word < a.got.size(); word++) {
    size_t rest = word;
    int64_t from = 0, stride = 1;
    bool inside = true;
    for (size_t axis = 0; axis < s.size.size(); axis++) {
      size_t side = (s.box[axis] + s.step[axis] - 1) / s.step[axis];
      int64_t at = corner[axis] + static_cast<int64_t>(rest % side * s.step[axis]);
      inside = inside && at >= 0 && at < static_cast<int64_t>(s.size[axis]);
      from += at * stride, stride *= static_cast<int64_t>(s.size[axis]), rest /= side;
    }
    int got = a.got[place_in_shared(s, word)], want = inside ? a.content[static_cast<size_t>(from)] : outside;
    bool is_nan = (got & 0x7f800000) == 0x7f800000 && (got & 0x7fffff);
    if (!inside && s.floats ? !is_nan : got != want) return false;
  }
  return true;
}
bool is_right_at_0(const Shape &s, Arrays &a) {
  a.fetch();
  const int corner[5] = {};
  return is_right(s, a, corner, 0);
}
template <int axes>
bool loads(const Shape &s, std::vector<int> corner) {
  Arrays a(s);
  corner.resize(5);
  auto bytes = static_cast<uint32_t>(a.got.size() * 4);
  load_box<axes><<<1, threads, bytes>>>(a.map, int4{corner[0], corner[1], corner[2], corner[3]}, corner[4], bytes, a.made.there);
  a.fetch();
  return is_right(s, a, corner.data(), 0);
}

bool one_axis(bool) { return loads<1>({{1000}, {64}, {1}}, {100}) && loads<1>({{1000}, {64}, {1}}, {972}) && loads<1>({{1000}, {64}, {1}}, {-4}); }
bool two_axes(bool) {
  Shape s = {{72, 40}, {16, 8}, {1, 1}};
  bool right = true;
  for (int x : {0, 8, -4, 68, 72})
    for (int y : {0, -2, 37}) right &= loads<2>(s, {x, y});
  return right;
}
bool three_axes(bool) { return loads<3>({{20, 7, 5}, {8, 3, 4}, {1, 1, 1}}, {4, -1, 3}); }
bool four_axes(bool) { return loads<4>({{8, 5, 4, 3}, {4, 2, 3, 2}, {1, 1, 1, 1}}, {4, 4, 1, 2}); }
bool five_axes(bool) { return loads<5>({{8, 3, 4, 3, 2}, {4, 2, 2, 2, 2}, {1, 1, 1, 1, 1}}, {4, 1, 3, -1, 1}); }
bool every_second_row(bool) { return loads<2>({{72, 40}, {16, 16}, {1, 2}}, {0, 1}) && loads<2>({{72, 40}, {16, 9}, {1, 3}}, {60, 35}); }
bool filled_with_nan(bool) { return loads<2>({{72, 40}, {16, 8}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_NONE, true}, {68, 37}); }
bool swizzled(bool) {
  bool right = true;
  for (CUtensorMapSwizzle by : {CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B})
    right &= loads<2>({{72, 40}, {4u << by, 32}, {1, 1}, by}, {8, 4});
  return right;
}
template <bool adds>
bool stores(int left, int top) {
  Shape s = {{72, 40}, {16, 8}, {1, 1}};
  Arrays a(s);
  std::vector<int> before = a.content;
  store_box<adds><<<1, threads, 512>>>(a.map, left, top, 512);
  a.fetch();
  bool right = true;
  for (int y = 0; y < 40; y++)
    for (int x = 0; x < 72; x++) {
      bool in = x >= left && x < left + 16 && y >= top && y < top + 8;
      int old = before[static_cast<size_t>(y * 72 + x)], put = 1000 + (y - top) * 16 + x - left;
      right &= a.content[static_cast<size_t>(y * 72 + x)] == (!in ? old : adds ? old + put : put);
    }
  return right;
}
bool stored(bool) { return stores<false>(60, 35); }
bool added(bool) { return stores<true>(60, 35); }
// On an H100 each is an illegal instruction. A load may begin below 0.
bool stored_between_16_bytes(bool wrong) { return stores<false>(wrong ? 7 : 8, 4); }
bool added_below_0(bool wrong) { return stores<true>(8, wrong ? -2 : 0); }
// The array has fewer rows than its map says.
bool box_wider_than_array(bool wrong) {
  Shape s = {{64, 32}, {16, 32}, {1, 1}};
  Arrays a(s, wrong ? 64 * 30 : 0);
  load_box<2><<<1, threads, 2048>>>(a.map, int4{0, 0, 0, 0}, 0, 2048, a.made.there);
  return is_right_at_0(s, a) && !wrong;
}
bool map_from_strides_of_another(bool wrong) {
  Shape s = {{64, 32}, {16, 32}, {1, 1}};
  if (wrong) s.stride_bytes = {512};  // of an array of twice as many columns
  Arrays a(s);
  load_box<2, true><<<1, threads, 2048>>>(a.map, int4{0, 0, 0, 0}, 0, 2048, a.made.there);
  return is_right_at_0(s, a) && !wrong;
}
bool map_is_no_grid_constant(bool wrong) {
  Shape s = {{64, 32}, {16, 32}, {1, 1}};
  Arrays a(s);
  if (wrong) load_by_own_copy<<<1, threads, 2048>>>(a.map, 2048, a.made.there);
  else load_box<2><<<1, threads, 2048>>>(a.map, int4{0, 0, 0, 0}, 0, 2048, a.made.there);
  return is_right_at_0(s, a);
}
bool tensormap_replaced_without_fence(bool wrong) {
  Shape s = {{64, 32}, {16, 8}, {1, 1}};
  Arrays a(s);
  OnDevice<CUtensorMap> there{std::vector<CUtensorMap>(1)};
  (wrong ? map_written_by_the_kernel<false> : map_written_by_the_kernel<true>)<<<1, threads, 512>>>(a.map, there.there, 512, a.made.there);
  return is_right_at_0(s, a) && !wrong;
}
bool swizzle_64_read_as_128(bool wrong) {
  Shape s = {{72, 40}, {16, 32}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_64B};
  Arrays a(s);
  load_box<2><<<1, threads, 2048>>>(a.map, int4{8, 4, 0, 0}, 0, 2048, a.made.there);
  a.fetch();
  const int corner[5] = {8, 4};
  if (wrong) s.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  return is_right(s, a, corner, 0);
}
// What the driver refuses leaves the map as it is.
bool refusals(bool) {
  int *array;
  CHECK(cudaMalloc(&array, 1 << 20));
  alignas(64) CUtensorMap map;
  auto refuses = [&](const Shape &s, int *at) { return encode(&map, at, s) == CUDA_ERROR_INVALID_VALUE; };
  bool right = refuses({{72, 40}, {16, 257}, {1, 1}}, array) && refuses({{72, 40}, {3, 8}, {1, 1}}, array) && refuses({{72, 0}, {16, 8}, {1, 1}}, array) &&
               refuses({{72, 40}, {16, 8}, {1, 9}}, array) && refuses({{72, 40}, {16, 8}, {1, 1}}, array + 1) && refuses({{71, 40}, {16, 8}, {1, 1}}, array) &&
               refuses({{72, 40}, {64, 8}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B}, array) && refuses({{8, 8, 8, 8, 8, 8}, {4, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}}, array) &&
               refuses({{256, 256}, {256, 229}, {1, 1}}, array) && encode(&map, array, {{256, 256}, {256, 228}, {1, 1}}) == CUDA_SUCCESS;
  CHECK(cudaFree(array));
  return right;
}

#define CASE(name, has_twin) {#name, name}
const Judged cases[] = {
    CASE(one_axis, 0), CASE(two_axes, 0), CASE(three_axes, 0), CASE(four_axes, 0), CASE(five_axes, 0), CASE(every_second_row, 0), CASE(filled_with_nan, 0),
    CASE(swizzled, 0), CASE(stored, 0), CASE(added, 0), CASE(swizzle_64_read_as_128, 0), CASE(box_wider_than_array, 1),
    CASE(map_from_strides_of_another, 1), CASE(tensormap_replaced_without_fence, 1), CASE(stored_between_16_bytes, 1), CASE(added_below_0, 1),
    CASE(map_is_no_grid_constant, 1),
};

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], "refusals") && refusals(false)) printf("refusals\n");
  run_named(argc, argv, cases, run_judged);
}
