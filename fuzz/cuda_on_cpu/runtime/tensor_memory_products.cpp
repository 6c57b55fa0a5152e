// tcgen05.mma, tcgen05.cp and tcgen05.commit. One thread asks for them; for a pair of blocks, it asks for both.
#include <cstring>

#include "block.h"
#include "bulk_copies.h"
#include "checker.h"
#include "cluster.h"
#include "common_access.h"
#include "host_code.h"
#include "library_image.h"
#include "mbarriers.h"
#include "ordering.h"
#include "report.h"
#include "shared_matrices.h"
#include "shared_memory.h"
#include "state.h"
#include "tensor_memory.h"
#include "tensor_sums.h"

namespace cuda_on_cpu {

namespace {

constexpr uint32_t quarters = tensor_lanes / lanes_of_quarter, most_scales = 4;

struct Room {
  Factors a, b;
  double a_scales[quarters][tensor_lanes][most_scales], b_scales[quarters][most_columns][most_scales];
};
PerProcess<Room> room;

// The blocks that an operation is about: this one, or this one and the other one of its pair, the one of even rank first.
struct Blocks {
  uint32_t count, resident[2], rank[2];
};

Blocks blocks_of(bool of_two, uint64_t pc) {
  Cluster &c = own_cluster();
  Blocks made = {1, {c.member[block.rank].resident, 0}, {block.rank, 0}};
  if (!of_two) return made;
  uint32_t first = block.rank & ~1u;
  if (first + 1 >= c.size) {
    report(Kind::tensor_without_peer, pc, 0);
    run_is_damaged();
    end_thread();
  }
  for (uint32_t i = 0; i < 2; i++) made.rank[i] = first + i, made.resident[i] = c.member[first + i].resident;
  made.count = 2;
  return made;
}

uint64_t relative(uintptr_t pc) { return pc - library_start(*run->module); }

void take_turn_if_over(uintptr_t pc) {
  if (checker.active && turn_is_over()) take_turn(pc, __builtin_frame_address(0));
}

// What an instruction descriptor says.
struct Instruction {
  TensorType a, b, sum;
  uint32_t rows, columns, a_scale_at, b_scale_at;
  bool clamps, negates, a_by_column, b_by_column, scales_are_powers;
};

enum Refusal : uint64_t { no_shape = 1, no_type };

[[noreturn]] void end_by(Refusal why, uint64_t detail, uint64_t pc) {
  if (Finding *f = report(Kind::tensor_product_refused, pc, 0)) {
    f->detail = detail;
    f->bytes = why;
  }
  run_is_damaged();
  end_thread();
}

TensorType type_of(TensorKind kind, uint32_t code, uint32_t instruction, uint64_t pc) {
  constexpr TensorType narrow[] = {TensorType::e4m3, TensorType::e5m2, TensorType::s32, TensorType::e2m3, TensorType::e3m2, TensorType::e2m1};
  switch (kind) {
    case TensorKind::f16:
      if (code < 2) return code ? TensorType::bf16 : TensorType::f16;
      break;
    case TensorKind::tf32:
      if (code == 2) return TensorType::tf32;
      break;
    case TensorKind::i8:
      if (code < 2) return code ? TensorType::s8 : TensorType::u8;
      break;
    case TensorKind::mxf4:
    case TensorKind::mxf4nvf4:
      if (code == 1) return TensorType::e2m1_packed;
      break;
    default:
      if (code < 6 && code != 2) return narrow[code];
  }
  end_by(no_type, instruction, pc);
}

TensorType sum_of(TensorKind kind, uint32_t code, uint32_t instruction, uint64_t pc) {
  bool may_be_half = kind == TensorKind::f16 || kind == TensorKind::f8f6f4;
  if (kind == TensorKind::i8 && code == 2) return TensorType::s32;
  if (kind != TensorKind::i8 && code == 1) return TensorType::f32;
  if (may_be_half && code == 0) return TensorType::f16;
  end_by(no_type, instruction, pc);
}

bool is_narrow(TensorType type) { return type == TensorType::e2m3 || type == TensorType::e3m2 || type == TensorType::e2m1 || type == TensorType::e2m1_packed; }

Instruction read_instruction(const TensorProduct &p, uint64_t pc) {
  uint32_t bits = p.instruction;
  auto field = [bits](int at, int width) { return bits >> at & ((1u << width) - 1); };
  if (field(2, 1)) host_refuses("tcgen05.mma of sparse matrices, as an instruction descriptor says");
  Instruction made = {};
  made.a = type_of(p.kind, field(7, 3), bits, pc);
  made.b = type_of(p.kind, field(10, 3), bits, pc);
  made.sum = p.scales ? TensorType::f32 : sum_of(p.kind, field(4, 2), bits, pc);
  made.clamps = p.kind == TensorKind::i8 && field(3, 1);
  made.negates = p.kind != TensorKind::i8 && field(13, 1) != field(14, 1);
  made.a_by_column = field(15, 1);
  made.b_by_column = field(16, 1);
  made.rows = field(24, 5) * 16;
  made.columns = field(17, 6) * 8;
  made.b_scale_at = field(4, 2);
  made.a_scale_at = field(29, 2);
  made.scales_are_powers = field(23, 1);
  bool one = made.rows == 128 || (made.rows == 64 && !p.scales) || (p.keeps_b && made.rows == 32);
  bool is_shape = p.of_two_blocks ? made.rows == 256 || made.rows == 128 : one;
  uint32_t step = p.of_two_blocks ? 16 : 8;
  if (!is_shape || !made.columns || made.columns > most_columns || made.columns % step) end_by(no_shape, bits, pc);
  if ((is_narrow(made.a) && made.a_by_column) || (is_narrow(made.b) && made.b_by_column)) end_by(no_type, bits, pc);
  if (p.scales && p.of_two_blocks && made.rows == 128) host_refuses("tcgen05.mma with scale factors for 128 rows of two blocks");
  if (p.a_in_tensor_memory && is_narrow(made.a)) host_refuses("tcgen05.mma of elements of 4 or 6 bits in tensor memory");
  if (p.a_in_tensor_memory && p.keeps_b && made.rows != tensor_lanes) host_refuses("tcgen05.mma.ws of 32 or 64 rows in tensor memory");
  return made;
}

// A product under way: what it is about, and how its accesses are checked.
struct Making {
  const TensorProduct &asked;
  Instruction what;
  TensorLayout layout;
  Blocks blocks;
  uint64_t pc;
  uint32_t moment;
};

TensorAccess access_of(const Making &m, uint32_t which, bool reads, bool writes) {
  TensorAccess a = {};
  a.kind = FlightKind::tensor_core;
  a.reads = reads;
  a.writes = writes;
  a.moment = m.moment;
  a.pc = m.pc;
  a.resident = m.blocks.resident[which];
  a.rank = m.blocks.rank[which];
  return a;
}

bool is_inside(TensorPlace p) { return p.lane < tensor_lanes && p.column < tensor_columns; }
uint32_t word_at(const TensorAccess &a, TensorPlace p) { return is_inside(p) ? tensor_word(a.resident, p) : 0; }

void take_shared(const Making &m, uint32_t which, const PlacedMatrix &own, Factors &into, uint32_t first_row) {
  PlacedMatrix p = same_matrix(own, m.blocks.resident[which]);
  if (checker.active)
    each_access(p, [&](uintptr_t address, uint32_t) { checker_bulk({address, chunk_bytes, false, false, m.moment, m.pc, is_of_tensor_core}); });
  take_matrix(into, p, first_row);
}

PlacedMatrix place(uint64_t descriptor, uint32_t rows, TensorType type, bool by_depth) {
  SharedMatrix matrix = matrix_of_tcgen05(descriptor);
  if (!matrix.span) host_refuses("tcgen05 with a swizzle by 128 bytes in units of 32, or a leading distance that is an address");
  return place_matrix(matrix, rows, depth_of(type), type, by_depth, own_cluster().member[block.rank].resident);
}

// Lanes that hold no rows of their own have the rows of the others once more.
void take_a_of_tensor_memory(const Making &m, uint32_t which) {
  TensorAccess a = access_of(m, which, true, false);
  TensorPlace first = place_at(m.asked.a_address);
  uint32_t each = 4 / bytes_of(m.what.a);
  for (uint32_t row = 0; row < m.layout.rows_each() * m.layout.parts(); row++)
    for (uint32_t column = 0; column < depth_of(m.what.a) / each; column++) {
      TensorPlace p = {first.lane + m.layout.lane_of(row), first.column + column};
      if (checker.active && !checker_tensor(a, p)) return;
      take_word(room.a, word_at(a, p), m.what.a, which * tensor_lanes + row, column * each);
    }
}

// The scale factors of 32 rows are one column, and the four quarters have them once more.
template <class Into>
void take_scales(const Making &m, uint32_t which, uint32_t address, uint32_t rows, uint32_t first_byte, Into into) {
  TensorAccess a = access_of(m, which, true, false);
  TensorPlace first = place_at(address & 0x3fffffff);
  for (uint32_t quarter = 0; quarter < quarters; quarter++)
    for (uint32_t row = 0; row < rows; row++) {
      TensorPlace p = {first.lane + quarter * lanes_of_quarter + row % lanes_of_quarter, first.column + row / lanes_of_quarter};
      if (checker.active && !checker_tensor(a, p)) return;
      for (uint32_t i = 0; i < m.asked.scales; i++)
        into(quarter, row)[i] = scale_of(word_at(a, p) >> 8 * ((first_byte + i) % 4) & 0xff, m.what.scales_are_powers);
    }
}

uint32_t sum_bits(const Making &m, uint32_t before, uint32_t row_of_a, uint32_t lane, uint32_t column) {
  const Instruction &w = m.what;
  const uint32_t quarter = lane / lanes_of_quarter;
  if (w.sum == TensorType::s32)
    return static_cast<uint32_t>(tensor_sum_of_integers(room.a, room.b, row_of_a, column, m.asked.adds ? static_cast<int32_t>(before) : 0, w.clamps));
  float whole;
  memcpy(&whole, &before, sizeof whole);
  double sum = !m.asked.adds ? 0 : w.sum == TensorType::f16 ? of_half(static_cast<uint16_t>(before)) : static_cast<double>(whole);
  sum *= power_of_two(-static_cast<int>(m.asked.scale_of_sums));
  Scales scales = {m.asked.scales, room.a_scales[quarter][row_of_a % tensor_lanes], room.b_scales[quarter][column]};
  sum = tensor_sum(room.a, room.b, row_of_a, column, w.a, sum, w.negates ? -1 : 1, scales);
  if (w.sum == TensorType::f16) return half_of(sum);
  whole = cut_to_float(sum);
  memcpy(&before, &whole, sizeof whole);
  return before;
}

void make_sums(const Making &m, uint32_t which) {
  TensorAccess a = access_of(m, which, m.asked.adds, true);
  TensorPlace first = place_at(m.asked.sums);
  const uint32_t *disabled = m.asked.disabled + 4 * which;
  bool has_duplicates = m.asked.a_in_tensor_memory;
  for (uint32_t row = 0; row < m.layout.rows_each(); row++)
    for (uint32_t column = 0; column < m.what.columns; column++) {
      TensorPlace at = m.layout.sum(row, column), p = {first.lane + at.lane, first.column + at.column};
      if (disabled[p.lane / 32 % 4] >> p.lane % 32 & 1) continue;
      if (checker.active && !checker_tensor(a, p)) return;
      if (!is_inside(p)) continue;
      uint32_t &word = tensor_word(a.resident, p), row_of_a = which * tensor_lanes + (has_duplicates && m.layout.parts() > 1 ? at.lane : row);
      word = sum_bits(m, word, row_of_a, at.lane, column);
    }
}

void multiply(const TensorProduct &asked, uint64_t pc) {
  Instruction what = read_instruction(asked, pc);
  Blocks blocks = blocks_of(asked.of_two_blocks, pc);
  Making m = {asked, what, {what.rows, what.columns, asked.of_two_blocks, asked.keeps_b}, blocks, pc, checker.active ? flight_of_thread() : 0};
  uint32_t columns_each = what.columns / blocks.count;
  PlacedMatrix b = place(asked.b_at, columns_each, what.b, !what.b_by_column), in_shared = {};
  if (!asked.a_in_tensor_memory) in_shared = place(asked.a_at, m.layout.rows_each(), what.a, !what.a_by_column);
  for (uint32_t i = 0; i < blocks.count; i++) {
    if (asked.a_in_tensor_memory)
      take_a_of_tensor_memory(m, i);
    else
      take_shared(m, i, in_shared, room.a, i * tensor_lanes);
    take_shared(m, i, b, room.b, i * columns_each);
  }
  for (uint32_t i = 0; i < blocks.count; i++) {
    if (asked.scales) {
      take_scales(m, i, asked.a_scales, m.layout.rows_each(), what.a_scale_at, [](uint32_t quarter, uint32_t row) { return room.a_scales[quarter][row]; });
      take_scales(m, i, asked.b_scales, what.columns, what.b_scale_at, [](uint32_t quarter, uint32_t row) { return room.b_scales[quarter][row]; });
    }
    make_sums(m, i);
  }
}

// tcgen05.cp.

struct CopyShape {
  uint32_t lanes, bytes, again;  // how far apart the lanes are that get the same; 0: none
};

CopyShape shape_of(TensorCopy kind) {
  switch (kind) {
    case TensorCopy::lanes128_bits256: return {128, 32, 0};
    case TensorCopy::lanes128_bits128: return {128, 16, 0};
    case TensorCopy::lanes64_pairs_02_13: return {64, 16, 64};
    case TensorCopy::lanes64_pairs_01_23: return {64, 16, 32};
    default: return {32, 16, 32};
  }
}

void copy_to(const PlacedMatrix &from, uint32_t address, TensorCopy kind, TensorAccess a) {
  CopyShape s = shape_of(kind);
  TensorPlace first = place_at(address);
  bool is_allocated = true;
  for (uint32_t row = 0; row < s.lanes; row++)
    for (uint32_t along = 0; along < s.bytes; along += chunk_bytes) {
      const char *chunk = from.chunk(row, along);
      if (checker.active) checker_bulk({reinterpret_cast<uintptr_t>(chunk), chunk_bytes, false, false, a.moment, a.pc, is_of_tensor_core});
      uint32_t words[chunk_bytes / 4] = {};
      if (is_shared_of(from.resident, reinterpret_cast<uintptr_t>(chunk))) memcpy(words, chunk, sizeof words);
      for (uint32_t copies = tensor_lanes / s.lanes, i = 0; i < copies; i++) {
        uint32_t lane = kind == TensorCopy::lanes64_pairs_01_23 ? row / 32 * 64 + row % 32 : row;
        for (uint32_t word = 0; word < chunk_bytes / 4; word++) {
          TensorPlace p = {first.lane + lane + i * s.again, first.column + along / 4 + word};
          if (checker.active && is_allocated) is_allocated = checker_tensor(a, p);
          if (is_inside(p)) tensor_word(a.resident, p) = words[word];
        }
      }
    }
}

}  // namespace

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

CUDA_ON_CPU_API void cuda_on_cpu_tensor_product(const TensorProduct *asked) {
  take_turn_if_over(CALLER);
  multiply(*asked, relative(CALLER));
}

CUDA_ON_CPU_API void cuda_on_cpu_tensor_copy(uint32_t to, uint64_t descriptor, uint32_t kind, bool of_two_blocks) {
  take_turn_if_over(CALLER);
  uint64_t pc = relative(CALLER);
  Blocks blocks = blocks_of(of_two_blocks, pc);
  CopyShape s = shape_of(static_cast<TensorCopy>(kind));
  PlacedMatrix from = place(descriptor, s.lanes, TensorType::u8, true);
  for (uint32_t i = 0; i < blocks.count; i++) {
    TensorAccess a = {};
    a.kind = FlightKind::tensor_core;
    a.writes = true;
    a.moment = checker.active ? flight_of_thread() : 0;
    a.pc = pc;
    a.resident = blocks.resident[i];
    a.rank = blocks.rank[i];
    copy_to(same_matrix(from, blocks.resident[i]), to, static_cast<TensorCopy>(kind), a);
  }
}

// An arrival when all that this thread has asked for is over: at once here. With a mask, at the same place in other blocks, too.
CUDA_ON_CPU_API void cuda_on_cpu_tensor_commit(void *barrier, uint32_t mask) {
  uintptr_t pc = CALLER;
  take_turn_if_over(pc);
  Knowledge known = checker.active ? end_flight_of_thread() : nothing;
  if (!mask) return arrive_with(reinterpret_cast<uintptr_t>(barrier), known, pc);
  Cluster &c = own_cluster();
  for (uint32_t rank = 0; rank < max_cluster; rank++) {
    if (!(mask >> rank & 1)) continue;
    if (rank >= c.size) {
      if (Finding *f = report(Kind::multicast_outside, relative(pc), 0)) f->detail = rank;
      run_is_damaged();
      end_thread();
    }
    arrive_with(reinterpret_cast<uintptr_t>(same_place(barrier, c.member[block.rank].resident, c.member[rank].resident)), known, pc);
  }
}
