// What PTX's registers hold: types by their names, moves, vectors.
#pragma once
#include "mbarrier.h"

namespace cuda_on_cpu {

using ptx_u8 = uint8_t;
using ptx_s8 = int8_t;
using ptx_b8 = uint8_t;
using ptx_u16 = uint16_t;
using ptx_s16 = int16_t;
using ptx_b16 = uint16_t;
using ptx_u32 = uint32_t;
using ptx_s32 = int32_t;
using ptx_b32 = uint32_t;
using ptx_u64 = uint64_t;
using ptx_s64 = int64_t;
using ptx_b64 = uint64_t;
using ptx_f32 = float;
using ptx_f64 = double;

// One register into another: only the bits count.
template <class Out, class From>
CUDA_ON_CPU_INLINE void ptx_move(Out &&to, From from) {
  using To = std::remove_reference_t<Out>;
  if constexpr (std::is_same_v<To, PtxSink>) {
  } else if constexpr (std::is_arithmetic_v<To> && std::is_arithmetic_v<From> && std::is_floating_point_v<To> == std::is_floating_point_v<From>) {
    to = static_cast<To>(from);
  } else {
    static_assert(sizeof(To) == sizeof(From), "a register is moved into one of its own size");
    __builtin_memcpy(&to, &from, sizeof to);
  }
}

// A register of `bits` bits is made of its parts, or falls into them; the first part is the lowest.
template <int bits>
struct PtxWord;
template <>
struct PtxWord<8> { using type = uint8_t; };
template <>
struct PtxWord<16> { using type = uint16_t; };
template <>
struct PtxWord<32> { using type = uint32_t; };
template <>
struct PtxWord<64> { using type = uint64_t; };
template <int bits, class To, class... Part>
CUDA_ON_CPU_INLINE void ptx_pack(To &&to, Part... part) {
  using Word = typename PtxWord<bits / sizeof...(Part)>::type;
  Word words[sizeof...(Part)], *next = words;
  (ptx_move(*next++, part), ...);
  typename PtxWord<bits>::type made;
  __builtin_memcpy(&made, words, sizeof made);
  ptx_move(to, made);
}
template <int bits, class From, class... Part>
CUDA_ON_CPU_INLINE void ptx_unpack(From from, Part &&...part) {
  using Word = typename PtxWord<bits / sizeof...(Part)>::type;
  Word words[sizeof...(Part)], *next = words;
  typename PtxWord<bits>::type whole;
  ptx_move(whole, from);
  __builtin_memcpy(words, &whole, sizeof whole);
  (ptx_move(part, *next++), ...);
}

}  // namespace cuda_on_cpu
