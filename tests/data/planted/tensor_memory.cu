// Programs of one page on tensor memory (tcgen05). Arguments and answers as in bulk_copies.cu. The host lays both factors out as
// descriptors name them; right cases cover kinds of products, swizzles, both orders, factors and scales in tensor memory, pairs of
// blocks, and every shape of transfers. For nvcc: -arch=sm_100a -std=c++17.
#include "named_cases.h"

constexpr int threads = 128, columns = 32, steps = 2, most_lanes = 128;
enum Kind { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, s8, mx_e4m3, mxf4, nvf4 };
enum Way { plain, a_in_tensor_memory, half_sums, keeps_b };

__device__ uint32_t at(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void before_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ void after_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ void wait_load() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
__device__ void wait_store() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void init(uint64_t *barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void wait(uint64_t *barrier, int parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}\n" ::"r"(at(barrier)), "r"(parity) : "memory");  //~ error: hang if no_commit_at_all
}
__device__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
#define ALLOCATE(to, count) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(at(to)), "r"(count) : "memory")
#define FREE(from, count) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(from), "r"(count) : "memory")
#define RELINQUISH asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;")
#define ALLOCATE_IN_PAIR(to, count) asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(at(to)), "r"(count) : "memory")
#define FREE_IN_PAIR(from, count) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(from), "r"(count) : "memory")
#define RELINQUISH_IN_PAIR asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;")
#define COMMIT(barrier) asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(barrier)) : "memory")
#define LOAD(r, from) asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]) : "r"(from))
#define STORE(to, r) asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"r"(to), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]))

#define IF_ADDS "{ .reg .pred p; setp.ne.b32 p, %4, 0; "
template <Kind kind, int blocks, Way way>
__device__ void multiply(uint32_t sums, uint64_t a, uint64_t b, uint32_t instruction, int adds, uint32_t a_scales, uint32_t b_scales) {
  if constexpr (way == keeps_b)
    asm volatile(IF_ADDS "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::discard [%0], %1, %2, %3, p; }" ::"r"(sums), "l"(a), "l"(b), "r"(instruction), "r"(adds) : "memory");
  else if constexpr (way == a_in_tensor_memory && kind == tf32)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::1.kind::tf32 [%0], [%1], %2, %3, p; }" ::"r"(sums), "r"(static_cast<uint32_t>(a)), "l"(b), "r"(instruction), "r"(adds) : "memory");
  else if constexpr (way == a_in_tensor_memory && blocks == 2)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::2.kind::f16 [%0], [%1], %2, %3, p; }" ::"r"(sums), "r"(static_cast<uint32_t>(a)), "l"(b), "r"(instruction), "r"(adds) : "memory");
  else if constexpr (way == a_in_tensor_memory)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p; }" ::"r"(sums), "r"(static_cast<uint32_t>(a)), "l"(b), "r"(instruction), "r"(adds) : "memory");
  else if constexpr (blocks == 2)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(sums), "l"(a), "l"(b), "r"(instruction), "r"(adds) : "memory");
  else if constexpr (kind == f16 || kind == bf16)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(sums), "l"(a), "l"(b), "r"(instruction), "r"(adds) : "memory");
  else if constexpr (kind == tf32)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::1.kind::tf32 [%0], %1, %2, %3, p; }" ::"r"(sums), "l"(a), "l"(b), "r"(instruction), "r"(adds) : "memory");
  else if constexpr (kind == s8)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::1.kind::i8 [%0], %1, %2, %3, p; }" ::"r"(sums), "l"(a), "l"(b), "r"(instruction), "r"(adds) : "memory");
  else if constexpr (kind == mx_e4m3)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%0], %1, %2, %3, [%5], [%6], p; }" ::"r"(sums), "l"(a), "l"(b), "r"(instruction), "r"(adds), "r"(a_scales), "r"(b_scales) : "memory");
  else if constexpr (kind == mxf4)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%5], [%6], p; }" ::"r"(sums), "l"(a), "l"(b), "r"(instruction), "r"(adds), "r"(a_scales), "r"(b_scales) : "memory");
  else if constexpr (kind == nvf4)
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%5], [%6], p; }" ::"r"(sums), "l"(a), "l"(b), "r"(instruction), "r"(adds), "r"(a_scales), "r"(b_scales) : "memory");
  else
    asm volatile(IF_ADDS "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p; }" ::"r"(sums), "l"(a), "l"(b), "r"(instruction), "r"(adds) : "memory");
}

// A factor as a descriptor names it, without its address; the bytes of a step, and of all steps.
struct Factor {
  uint64_t descriptor;
  int step, bytes;
};
struct Setup {
  Factor a, b;
  uint32_t instruction;
  int rows;
};

template <Kind kind, int blocks, Way way>
__global__ void product(Setup s, const uint32_t *a, const uint32_t *b, const uint32_t *a_words, const uint32_t *scales, uint32_t *out) {
  __shared__ alignas(1024) uint32_t a_tile[4096], b_tile[2048], scale_tile[256];
  __shared__ uint64_t over;
  __shared__ uint32_t memory;
  const int t = threadIdx.x, warp = t / 32, block = blockIdx.x;
  if (warp == 0) {
    if constexpr (blocks == 2) ALLOCATE_IN_PAIR(&memory, 64);
    else ALLOCATE(&memory, 64);
  }
  if (t == 0) init(&over);
  for (int i = t; i < s.a.bytes / 4; i += threads) a_tile[i] = a[block * s.a.bytes / 4 + i];
  for (int i = t; i < s.b.bytes / 4; i += threads) b_tile[i] = b[block * s.b.bytes / 4 + i];
  for (int i = t; i < 256; i += threads) scale_tile[i] = scales[i];
  fence_proxy();
  __syncthreads();
  const uint32_t mine = memory + (warp * 32 << 16);
  for (int part = 0; part < columns / 8; part++) {  // lanes and columns that the sums leave out
    uint32_t words[8] = {};
    STORE(mine + part * 8, words);
  }
  if (way == a_in_tensor_memory) {
    for (int part = 0; part < 2; part++) {
      uint32_t words[8];
      for (int i = 0; i < 8; i++) words[i] = a_words[(block * most_lanes + t) * 16 + part * 8 + i];
      STORE(mine + 40 + part * 8, words);
    }
  }
  wait_store();
  before_sync();
  if (blocks == 2) sync_cluster();
  else __syncthreads();
  after_sync();
  if (t == 0 && block == 0) {
    if (kind >= mx_e4m3) {
      for (uint32_t i = 0; i < 2; i++) {
        uint64_t from = (at(scale_tile + 128 * i) & 0x3ffff) >> 4 | uint64_t{8} << 16 | uint64_t{8} << 32 | uint64_t{1} << 46;
        asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(memory + 32 + 4 * i), "l"(from) : "memory");
      }
    }
    for (int step = 0; step < steps; step++) {
      uint64_t of_a = s.a.descriptor + (((at(a_tile) + step * s.a.step) & 0x3ffff) >> 4), of_b = s.b.descriptor + (((at(b_tile) + step * s.b.step) & 0x3ffff) >> 4);
      if (way == a_in_tensor_memory) of_a = memory + 40 + step * 8;
      multiply<kind, blocks, way>(memory, of_a, of_b, s.instruction, step > 0, memory + 32, memory + 36);
    }
    if (blocks == 2)
      asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(at(&over)), "h"(static_cast<uint16_t>(3)) : "memory");
    else
      COMMIT(&over);
  }
  wait(&over, 0);
  after_sync();
  for (int part = 0; part < columns / 8; part++) {
    uint32_t words[8];
    LOAD(words, mine + part * 8);
    wait_load();
    for (int i = 0; i < 8; i++) out[(block * most_lanes + t) * columns + part * 8 + i] = words[i];
  }
  before_sync();
  if (blocks == 2) sync_cluster();
  else __syncthreads();
  after_sync();
  if (warp == 0) {
    if constexpr (blocks == 2) { FREE_IN_PAIR(memory, 64); RELINQUISH_IN_PAIR; }
    else { FREE(memory, 64); RELINQUISH; }
  }
}

int bits_of(Kind kind) { return kind == tf32 ? 32 : kind <= bf16 ? 16 : kind >= mxf4 ? 4 : 8; }
int width_of(Kind kind) { return kind == e2m1 || kind >= mxf4 ? 4 : kind == e2m3 || kind == e3m2 ? 6 : bits_of(kind); }

// -3 to 3 in each type.
uint32_t code_of(Kind kind, int value) {
  const uint32_t sizes[][4] = {{0, 0x3c00, 0x4000, 0x4200}, {0, 0x3f80, 0x4000, 0x4040}, {0, 0x3f800000, 0x40000000, 0x40400000}, {0, 0x38, 0x40, 0x44},
                               {0, 0x3c, 0x40, 0x42}, {0, 8, 16, 20}, {0, 12, 16, 18}, {0, 2, 4, 5}};
  if (kind == s8) return value & 0xff;
  int like = kind == mx_e4m3 ? e4m3 : kind >= mxf4 ? e2m1 : kind;
  return sizes[like][abs(value)] | static_cast<uint32_t>(value < 0) << (width_of(kind) - 1);
}

// Puts an element where 8 or 16 bytes of elements begin; elements of 4 and 6 bits are followed by padding, unless they fill bytes.
void put(unsigned char *chunk, int bit, int width, uint32_t code) {
  for (int i = 0; i < width; i++)
    if (code >> i & 1) chunk[(bit + i) / 8] |= 1 << (bit + i) % 8;
}

// The bytes of a factor of `lines` rows of m or n, a step after another; span: of the swizzle, or 16.
struct Layout {
  int lines, span;
  bool by_depth;
  int offset(int bits, int line, int k) const {
    int along = by_depth ? k * bits / 8 : line * bits / 8, other = by_depth ? line : k, count = by_depth ? lines : steps * 256 / bits, place;
    if (span > 16) place = along % span + other % 8 * span + other / 8 * 8 * span + along / span * span * count;
    else place = along % 16 + other % 8 * 16 + other / 8 * 128 + along / 16 * 16 * count;
    return place ^ ((place >> 7 & (span / 16 - 1)) << 4);
  }
  int bytes(int bits) const {
    int count = by_depth ? lines : steps * 256 / bits, along = by_depth ? steps * 32 : lines * bits / 8;
    return count * (along > span ? along : span);
  }
  Factor factor(int bits) const {
    int count = by_depth ? lines : steps * 256 / bits, k = 256 / bits;
    uint64_t apart = span * count, eight = 8 * span, code = span == 128 ? 2 : span == 64 ? 4 : span == 32 ? 6 : 0;
    bool is_swapped = span == 16 && !by_depth;  // without a swizzle and by rows of k, the stride is along m or n
    uint64_t leading = is_swapped ? eight : apart, stride = is_swapped ? apart : eight;
    int step = by_depth ? (span > 32 ? 32 : 32 / span * static_cast<int>(apart)) : k * span;
    return {leading >> 4 << 16 | stride >> 4 << 32 | uint64_t{1} << 46 | code << 61, step, bytes(bits)};
  }
};

template <class T>
T *on_device(const std::vector<T> &from) {
  T *made;
  CHECK(cudaMalloc(&made, from.size() * sizeof(T)));
  CHECK(cudaMemcpy(made, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  return made;
}

using Product = void (*)(Setup, const uint32_t *, const uint32_t *, const uint32_t *, const uint32_t *, uint32_t *);
bool is_right(Product product, Kind kind, int blocks, Way way, int rows, int a_span, int b_span, bool a_by_depth, bool b_by_depth) {
  const int bits = bits_of(kind), width = width_of(kind), each = 256 / bits, depth = steps * each, rows_each = rows / blocks, columns_each = columns / blocks;
  const bool spread = way != keeps_b && blocks == 1 && rows == 64;
  const int parts = way == keeps_b || blocks == 2 ? most_lanes / rows_each : 1;
  std::vector<int> a(rows * depth), b(columns * depth);
  Layout of_a = {rows_each, a_span, a_by_depth}, of_b = {columns_each, b_span, b_by_depth};
  std::vector<unsigned char> a_bytes(blocks * of_a.bytes(bits)), b_bytes(blocks * of_b.bytes(bits));
  std::vector<uint32_t> a_words(blocks * most_lanes * 16), scales(256);
  auto lay = [&](unsigned char *to, const Layout &l, int line, int k, int value) {
    const int first = k / (128 / bits) * (128 / bits);  // of 16 bytes
    if (width == bits && bits >= 8) return put(to + l.offset(bits, line, k), 0, width, code_of(kind, value));
    put(to + l.offset(bits, line, first), (k - first) * width, width, code_of(kind, value));
  };
  for (int k = 0; k < depth; k++) {
    for (int i = 0; i < rows; i++) {
      int value = a[i * depth + k] = (i * 5 + k * 3 + i * k) % 7 - 3, block = i / rows_each, row = i % rows_each;
      lay(&a_bytes[block * of_a.bytes(bits)], of_a, row, k, value);
      for (int copy = 0; copy < parts; copy++) {
        int lane = spread ? row / 16 * 32 + row % 16 : row + copy * rows_each;
        a_words[(block * most_lanes + lane) * 16 + k * bits / 32] |= code_of(kind, value) << k * bits % 32;
      }
    }
    for (int j = 0; j < columns; j++) lay(&b_bytes[j / columns_each * of_b.bytes(bits)], of_b, j % columns_each, k, b[j * depth + k] = (j * 3 + k * 2 + j * k) % 5 - 2);
  }
  // The scale of a row is 1 or 2, by 32 rows; of a column 1, 2 or 4 along k. A word has those of four blocks along k.
  const int powers[] = {127, 128, 129}, small[] = {0x38, 0x40, 0x48}, per_step = kind == nvf4 ? 4 : kind == mxf4 ? 2 : 1;
  auto scale_code = [&](int power) { return static_cast<uint32_t>(kind == nvf4 ? small[power] : powers[power]); };
  for (int lane = 0; lane < 32; lane++)
    for (int word = 0; word < 4; word++)
      for (int i = 0; i < 4; i++) {
        scales[lane * 4 + word] |= scale_code((lane + word + i) % 2) << 8 * i;
        scales[128 + lane * 4 + word] |= scale_code((lane + word + i) % 3) << 8 * i;
      }
  uint32_t a_code = kind == bf16 || kind == e5m2 || kind == s8 || kind >= mxf4 ? 1 : kind == tf32 ? 2 : kind == e2m3 ? 3 : kind == e3m2 ? 4 : kind == e2m1 ? 5 : 0;
  uint32_t sum_code = kind >= mx_e4m3 ? 0 : way == half_sums ? 0 : kind == s8 ? 2 : 1;
  uint32_t instruction = sum_code << 4 | a_code << 7 | a_code << 10 | (a_by_depth ? 0u : 1u << 15) | (b_by_depth ? 0u : 1u << 16) | columns / 8 << 17 | rows / 16 << 24;
  if (kind == mx_e4m3 || kind == mxf4) instruction |= 1u << 23;
  auto *a_there = on_device(a_bytes), *b_there = on_device(b_bytes);
  auto *words_there = on_device(a_words), *scales_there = on_device(scales), *out = on_device(std::vector<uint32_t>(blocks * most_lanes * columns));
  Setup s = {of_a.factor(bits), of_b.factor(bits), instruction, rows};
  auto words = [](unsigned char *p) { return reinterpret_cast<const uint32_t *>(p); };
  cudaLaunchConfig_t how = {};
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  how.gridDim = blocks, how.blockDim = threads, how.attrs = &cluster, how.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&how, product, s, words(a_there), words(b_there), static_cast<const uint32_t *>(words_there), static_cast<const uint32_t *>(scales_there), out));
  std::vector<uint32_t> got(blocks * most_lanes * columns);
  CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a_there)); CHECK(cudaFree(b_there)); CHECK(cudaFree(words_there)); CHECK(cudaFree(scales_there)); CHECK(cudaFree(out));
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      double sum = 0;
      for (int k = 0; k < depth; k++) {
        int scale = 1;
        if (kind >= mx_e4m3) {  // both steps have the first scales
          int which = k % each / (each / per_step);
          scale = 1 << (i % 32 + i / 32 + which) % 2 << (j % 32 + j / 32 + which) % 3;
        }
        sum += scale * a[i * depth + k] * b[j * depth + k];
      }
      int block = i / rows_each, row = i % rows_each, wide = columns / parts;
      int lane = spread ? row / 16 * 32 + row % 16 : row + j / wide * rows_each;
      uint32_t word = got[(block * most_lanes + lane) * columns + j % wide];
      float number;
      memcpy(&number, &word, 4);
      if (kind == s8) number = static_cast<float>(static_cast<int>(word));
      if (way == half_sums) {  // small integers
        int exponent = static_cast<int>(word >> 10 & 31);
        number = exponent ? ldexpf(static_cast<float>(1024 + (word & 1023)), exponent - 25) * (word >> 15 & 1 ? -1.0f : 1.0f) : 0;
      }
      if (number != static_cast<float>(sum)) return false;
    }
  return true;
}
template <Kind kind, int blocks = 1, Way way = plain>
bool is_right(int rows, int a_span = 128, int b_span = 128, bool a_by_depth = true, bool b_by_depth = true) {
  return is_right(product<kind, blocks, way>, kind, blocks, way, rows, a_span, b_span, a_by_depth, b_by_depth);
}

bool kinds(bool) {
  return is_right<f16>(128) && is_right<bf16>(64) && is_right<tf32>(128) && is_right<e4m3>(128) && is_right<e5m2>(64) && is_right<s8>(128) && is_right<f16, 1, half_sums>(128);
}
bool narrow_kinds(bool) { return is_right<e2m3>(128) && is_right<e3m2>(64) && is_right<e2m1>(128, 32, 64); }
bool scaled_kinds(bool) { return is_right<mx_e4m3>(128) && is_right<mxf4>(128) && is_right<nvf4>(128); }
bool swizzles(bool) { return is_right<f16>(128, 16, 32) && is_right<f16>(64, 64, 16) && is_right<tf32>(128, 32, 64); }
bool by_rows_of_k(bool) {
  return is_right<f16>(128, 128, 64, false, false) && is_right<bf16>(64, 16, 32, false, false) && is_right<f16>(128, 64, 16, true, false) && is_right<tf32>(64, 32, 128, false, true);
}
bool factors_in_tensor_memory(bool) { return is_right<f16, 1, a_in_tensor_memory>(128) && is_right<tf32, 1, a_in_tensor_memory>(64); }
bool pairs_of_blocks(bool) { return is_right<f16, 2>(256) && is_right<bf16, 2>(128) && is_right<f16, 2, a_in_tensor_memory>(128); }
bool kept_factors(bool) { return is_right<f16, 1, keeps_b>(32) && is_right<f16, 1, keeps_b>(64) && is_right<f16, 1, keeps_b>(128); }

// A shape of transfers against 32x32b: every word that it stores is where it belongs, and comes back.
__global__ void shapes_of_transfers(int *mistakes) {
  __shared__ uint32_t memory;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (warp == 0) ALLOCATE(&memory, 32);
  before_sync();
  __syncthreads();
  after_sync();
  const uint32_t mine = memory + (warp * 32 << 16);
  uint32_t words[8];
  for (int part = 0; part < 4; part++) {
    for (int i = 0; i < 8; i++) words[i] = lane << 16 | (part * 8 + i);
    STORE(mine + part * 8, words);
  }
  wait_store();
  auto expect = [&](uint32_t word, int row, int column) {
    if (word != static_cast<uint32_t>(row << 16 | column)) atomicAdd(mistakes, 1);
  };
  uint32_t r[4];
  const uint32_t lower = mine + (16 << 16) + 4;
  asm volatile("tcgen05.ld.sync.aligned.16x64b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(lower));
  wait_load();
  for (int i = 0; i < 4; i++) expect(r[i], 16 + lane / 4 + lane % 2 * 8, 4 + lane / 2 % 2 + 2 * i);
  asm volatile("tcgen05.ld.sync.aligned.16x128b.x2.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(lower));
  wait_load();
  for (int i = 0; i < 4; i++) expect(r[i], 16 + lane / 4 + i % 2 * 8, 4 + lane % 4 + i / 2 * 4);
  asm volatile("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(mine));
  wait_load();
  for (int i = 0; i < 4; i++) expect(r[i], lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
  asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x4.b32 {%0, %1, %2, %3}, [%4], 16;" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(mine));
  wait_load();
  for (int i = 0; i < 4; i++) expect(r[i], lane % 16, i + lane / 16 * 16);
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%0}, [%1];" : "=r"(r[0]) : "r"(mine + 6));
  wait_load();
  if (r[0] != static_cast<uint32_t>(6 | 7 << 16)) atomicAdd(mistakes, 1);
  asm volatile("tcgen05.st.sync.aligned.16x256b.x1.unpack::16b.b32 [%0], {%1, %2, %3, %4};" ::"r"(mine + (16 << 16)), "r"(r[0]), "r"(r[0]), "r"(r[0]), "r"(r[0]));
  wait_store();
  LOAD(words, mine);
  wait_load();
  for (int i = 0; lane >= 16 && i < 8; i++)
    if (words[i] != (i % 2 ? 7u : 6u)) atomicAdd(mistakes, 1);
  before_sync();
  __syncthreads();
  if (warp == 3) FREE(memory, 32);  // any warp may
}
bool transfers(bool) {
  auto *mistakes = on_device(std::vector<int>(1));
  shapes_of_transfers<<<1, threads>>>(mistakes);
  int count;
  CHECK(cudaMemcpy(&count, mistakes, sizeof count, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(mistakes));
  return count == 0;
}

// Each of these has one bug: 128 x 8 sums of 16 products of ones, which start at 0 and are made twice.
enum Bug {
  none, read_early, no_after, no_before, no_wait_store, no_wait_load, used_early, released_early, overwritten, no_proxy_fence, no_commit, freed_in_use, never_freed,
  used_after_free, too_few_columns, wrong_lanes, no_permit, odd_columns, freed_by_halves, no_room, no_such_shape
};
#define MULTIPLY asm volatile("tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, 1;" ::"r"(sums), "l"(of_a), "l"(of_b), "r"(instruction) : "memory")
#define LOAD_SUMS LOAD(words, mine)
template <Bug bug>
__global__ void two_products(uint32_t *out, int zero) {
  __shared__ alignas(128) uint16_t a[128 * 16], b[8 * 16];
  __shared__ uint64_t over;
  __shared__ uint32_t memory, more;
  const int t = threadIdx.x, warp = t / 32;
  if (warp == 0) {
    if (bug == odd_columns) ALLOCATE(&memory, 48);  //~ error: tensor-memory if columns_not_a_power_of_two
    else if (bug == never_freed) ALLOCATE(&memory, 32);  //~ error: tensor-memory if never_freed_at_the_end
    else ALLOCATE(&memory, 32);
    if (bug == no_permit) RELINQUISH;
    if (bug == no_permit) ALLOCATE(&more, 32);  //~ error: tensor-memory if allocated_after_relinquish
    if (bug == no_room) ALLOCATE(&more, 512);  //~ error: hang if allocation_that_never_fits
  }
  if (t == 0) init(&over);
  for (int i = t; i < 128 * 16; i += threads) a[i] = 0x3c00;
  b[t] = 0x3c00;
  if (bug != no_proxy_fence) fence_proxy();
  __syncthreads();
  const uint32_t sums = memory + (bug == too_few_columns ? 28 : 0), mine = sums + (warp * 32 << 16), instruction = 1u << 4 | 1u << 17 | (bug == no_such_shape ? 9u : 8u) << 24;
  uint32_t words[8] = {};
  if (bug == too_few_columns) STORE(mine, words);  //~ error: tensor-memory if fewer_columns_than_used
  else if (bug == wrong_lanes) STORE((mine ^ 32 << 16), words);  //~ error: tensor-memory if lanes_of_another_warp
  else STORE(mine, words);
  if (bug != no_wait_store) wait_store();
  if (bug != no_before) before_sync();
  __syncthreads();
  if (bug != no_before) after_sync();
  const uint64_t fixed = uint64_t{1} << 46 | uint64_t{8} << 32;
  const uint64_t of_a = fixed | (at(a) & 0x3ffff) >> 4 | uint64_t{128} << 16, of_b = fixed | (at(b) & 0x3ffff) >> 4 | uint64_t{8} << 16;
  if (t == 64) {
    if (bug == no_proxy_fence) MULTIPLY;  //~ error: missing-proxy-fence if no_proxy_fence_before_mma
    else if (bug == no_wait_store) MULTIPLY;  //~ error: transfer-in-flight if no_wait_st
    else if (bug == no_before) MULTIPLY;  //~ warning: missing-tensor-fence if no_fence_before_thread_sync
    else if (bug == no_such_shape) MULTIPLY;  //~ error: tensor-memory if shape_that_does_not_exist
    else MULTIPLY;
    if (bug == overwritten) a[0] = static_cast<uint16_t>(zero);  //~ error: product-in-flight if stage_overwritten_before_commit
    if (bug != no_commit) COMMIT(&over);
  }
  if (bug == read_early) LOAD_SUMS;  //~ error: product-in-flight if sums_read_before_wait
  wait(&over, 0);
  if (bug != no_after) after_sync();
  if (bug == no_after) LOAD_SUMS;  //~ warning: missing-tensor-fence if no_fence_after_thread_sync
  else LOAD_SUMS;
  if (bug == used_early) out[0] = words[0];  //~ warning: transfer-in-flight if used_before_wait_ld
  if (bug != no_wait_load && bug != released_early) wait_load();
  before_sync();
  __syncthreads();
  after_sync();
  if (t == 64) {
    if (bug == released_early) MULTIPLY;  //~ error: transfer-in-flight if sums_released_before_wait_ld
    else MULTIPLY;
    COMMIT(&over);
  }
  wait(&over, 1);
  after_sync();
  uint32_t first[8];
  for (int i = 0; i < 8; i++) first[i] = words[i];  //~ warning: transfer-in-flight if no_wait_ld
  if (bug == used_after_free) {
    __syncthreads();
    if (warp == 0) FREE(memory, 32);
    __syncthreads();
    LOAD_SUMS;  //~ error: tensor-memory if used_after_dealloc
    wait_load();
  } else if (bug != no_wait_load) {
    LOAD_SUMS;
    if (bug == freed_in_use && warp == 0) FREE(memory, 32);  //~ error: transfer-in-flight if freed_before_read
    wait_load();
  }
  for (int i = 0; i < 8; i++) out[t * 8 + i] = words[i] - (__float_as_uint(32) - __float_as_uint(16)) - first[i];
  __syncthreads();
  if (bug == never_freed || bug == used_after_free || bug == freed_in_use) return;
  if (warp == 0) {
    if (bug == freed_by_halves) FREE(memory, 64);  //~ error: tensor-memory if freed_with_another_size
    else FREE(memory, 32);
  }
}
template <Bug bug>
bool has_right_sums(bool wrong) {
  std::vector<uint32_t> got(1024);
  auto *out = on_device(got);
  if (wrong) two_products<bug><<<1, threads>>>(out, 0);
  else two_products<none><<<1, threads>>>(out, 0);
  CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(out));
  for (uint32_t one : got)
    if (one) return false;
  return true;
}

#define CASE(name, has_twin) {#name, name}
#define PAIR(name, bug) {#name, has_right_sums<bug>}
const Judged cases[] = {
    CASE(kinds, 0), CASE(narrow_kinds, 0), CASE(scaled_kinds, 0), CASE(swizzles, 0), CASE(by_rows_of_k, 0), CASE(factors_in_tensor_memory, 0), CASE(pairs_of_blocks, 0),
    CASE(kept_factors, 0), CASE(transfers, 0),
    PAIR(sums_read_before_wait, read_early), PAIR(no_fence_after_thread_sync, no_after), PAIR(no_fence_before_thread_sync, no_before), PAIR(no_wait_st, no_wait_store),
    PAIR(no_wait_ld, no_wait_load), PAIR(used_before_wait_ld, used_early), PAIR(sums_released_before_wait_ld, released_early), PAIR(stage_overwritten_before_commit, overwritten),
    PAIR(no_proxy_fence_before_mma, no_proxy_fence), PAIR(no_commit_at_all, no_commit), PAIR(freed_before_read, freed_in_use), PAIR(never_freed_at_the_end, never_freed),
    PAIR(used_after_dealloc, used_after_free), PAIR(fewer_columns_than_used, too_few_columns), PAIR(lanes_of_another_warp, wrong_lanes), PAIR(allocated_after_relinquish, no_permit),
    PAIR(columns_not_a_power_of_two, odd_columns), PAIR(freed_with_another_size, freed_by_halves), PAIR(allocation_that_never_fits, no_room), PAIR(shape_that_does_not_exist, no_such_shape),
};

int main(int argc, char **argv) { run_named(argc, argv, cases, run_judged); }
