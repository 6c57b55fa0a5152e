// What PTX's registers hold: types by their names, operands of asm statements, moves, vectors. A register is a C++
// variable of its size; an instruction reads and writes it as the type that its name says.
#pragma once
#include "../bits.h"
#include "../memory.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_refused_at(const char *words, int line);
CUDA_ON_CPU_IMPORT [[noreturn]] void cuda_on_cpu_exit();

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
using ptx_b128 = unsigned __int128;
using ptx_f32 = float;
using ptx_f64 = double;
using ptx_pred = bool;

CUDA_ON_CPU_OF_REGISTERS void ptx_refused(const char *words) { cuda_on_cpu_refused(words); }

// Whether a macro that is a part of an asm statement's text has this meaning.
constexpr bool ptx_is_text(const char *one, const char *other) { return __builtin_strcmp(one, other) == 0; }

// PTX's `_` takes any result.
struct PtxSink {
  template <class T>
  void operator=(T) const {}
};

// A register that nothing has written yet: a NaN as a float of any size.
struct PtxUnwritten {
  template <class T>
  static __forceinline__ T made() {
    T value;
    uint16_t pattern[(sizeof(T) + 1) / 2];
    for (uint16_t &word : pattern) word = 0x7ff5;
    __builtin_memcpy(static_cast<void *>(&value), pattern, sizeof value);
    return value;
  }
  template <class T>
  __forceinline__ operator T() const {
    if constexpr (std::is_same_v<T, bool>) return false;
    else return made<T>();
  }
};

// Whether a register is a class that knows what its number went through (counted_registers.h).
template <class T>
constexpr bool ptx_counts = false;
template <class T>
using PtxPlain = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T>
constexpr bool ptx_is_integer = std::is_integral_v<T> || std::is_enum_v<T> || std::is_same_v<T, ptx_b128>;

// A C++ value as an operand of an asm statement, in a register of its constraint.
template <class To, class From>
CUDA_ON_CPU_OF_REGISTERS To ptx_given(From from) {
  static_assert(sizeof from <= sizeof(To), "an operand of an asm statement is no larger than its constraint says");
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (ptx_is_integer<From> && ptx_is_integer<To>) {
    return static_cast<To>(from);
  } else {
    static_assert(sizeof from == sizeof(To), "an operand of an asm statement is as large as its constraint says");
    To made;
    __builtin_memcpy(static_cast<void *>(&made), &from, sizeof made);
    return made;
  }
}

// A register of an asm statement into the C++ variable that is its output.
template <class To, class From>
CUDA_ON_CPU_OF_REGISTERS void ptx_give(To &&place, From from) {
  using Plain = std::remove_cv_t<std::remove_reference_t<To>>;
  if constexpr (std::is_same_v<Plain, From>) {
    place = from;
  } else if constexpr (ptx_is_integer<Plain> && ptx_is_integer<From>) {
    place = static_cast<Plain>(from);
  } else {
    static_assert(sizeof(Plain) == sizeof from, "an output of an asm statement is as large as its constraint says");
    Plain made;
    __builtin_memcpy(static_cast<void *>(&made), &from, sizeof made);
    place = made;
  }
}

// A register, or a constant, as a type. A decimal constant is a double and becomes any float; other floats keep their bits.
template <class To, class From>
CUDA_ON_CPU_OF_REGISTERS To ptx_as(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (ptx_counts<From>) {
    return from.template as<To>();
  } else if constexpr (ptx_is_integer<To> && ptx_is_integer<From>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>) {
    return static_cast<float>(from);
  } else if constexpr (std::is_class_v<To> && !ptx_is_integer<From> && std::is_constructible_v<To, From>) {
    return static_cast<To>(from);  // numbers that count
  } else {
    static_assert(sizeof(To) == sizeof(From), "an instruction reads a register of its own size");
    To made;
    __builtin_memcpy(static_cast<void *>(&made), &from, sizeof made);
    return made;
  }
}

// A result into a register of its own size.
template <class Out, class From>
CUDA_ON_CPU_OF_REGISTERS void ptx_put(Out &&to, From value) {
  using To = std::remove_reference_t<Out>;
  if constexpr (std::is_const_v<To> && !std::is_same_v<std::remove_cv_t<To>, PtxSink>) {
    ptx_refused("the cpu device does not have asm statements that write their inputs");
  } else if constexpr (ptx_counts<To>) {
    to.put(value);
  } else if constexpr (!std::is_same_v<std::remove_cv_t<To>, PtxSink>) {
    static_assert(std::is_same_v<To, bool> == std::is_same_v<From, bool>, "a predicate is no number");
    to = ptx_as<To>(value);
  }
}
// A loaded or converted value into a register that may be wider: then by its sign.
template <class Out, class From>
CUDA_ON_CPU_OF_REGISTERS void ptx_put_wider(Out &&to, From value) {
  using To = std::remove_reference_t<Out>;
  if constexpr (ptx_counts<To>) {
    to.put(value);
  } else if constexpr (std::is_integral_v<From> && sizeof(To) > sizeof(From) && !std::is_same_v<std::remove_cv_t<To>, PtxSink>) {
    using Wide = std::conditional_t<std::is_signed_v<From>, int64_t, uint64_t>;
    if constexpr (sizeof(To) == 8) ptx_put(to, static_cast<Wide>(value));
    else if constexpr (sizeof(To) == 4) ptx_put(to, static_cast<uint32_t>(static_cast<Wide>(value)));
    else ptx_put(to, static_cast<uint16_t>(static_cast<Wide>(value)));
  } else {
    ptx_put(to, value);
  }
}
// A register, or a constant, as a type of the same bits, on its way into a register like Out.
template <class T, class Out, class From>
CUDA_ON_CPU_OF_REGISTERS auto ptx_kept(From from) {
  if constexpr (ptx_counts<PtxPlain<Out>>) return PtxPlain<Out>::template kept<T>(from);
  else return ptx_as<T>(from);
}
template <class T, class Out, class From>
CUDA_ON_CPU_OF_REGISTERS void ptx_move(Out &&to, From from) { ptx_put(to, ptx_kept<T, Out>(from)); }

CUDA_ON_CPU_OF_REGISTERS float ptx_float_of_bits(uint32_t bits) { return from_bits<float>(bits); }
CUDA_ON_CPU_OF_REGISTERS double ptx_double_of_bits(uint64_t bits) { return from_bits<double>(bits); }

// `[register + offset]`.
template <class Register, class Offset>
CUDA_ON_CPU_OF_REGISTERS Register ptx_at(Register address, Offset offset) {
  return static_cast<Register>(address + static_cast<Register>(offset));
}

// The places of addresses in generic, global or constant memory, and in shared memory, whose lower 32 bits are enough.
template <class Register>
CUDA_ON_CPU_OF_REGISTERS void *ptx_generic(Register address) {
  if constexpr (sizeof address == 4) return reinterpret_cast<void *>(static_cast<uintptr_t>(static_cast<uint32_t>(address)));
  static_assert(sizeof address >= 4, "a generic address has 64 bits, or 32 and the others are 0");
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}
// An address of local or constant memory may have its lower 32 bits alone, as LLVM writes it. The thread's stack and a module
// are both smaller than the 2 GB that these reach.
CUDA_ON_CPU_OF_REGISTERS void *ptx_near(uintptr_t near, uint32_t address) {
  return reinterpret_cast<void *>(near + static_cast<uintptr_t>(static_cast<intptr_t>(static_cast<int32_t>(address - static_cast<uint32_t>(near)))));
}
template <class Register>
CUDA_ON_CPU_OF_REGISTERS void *ptx_local(Register address) {
  if constexpr (sizeof address == 4) return ptx_near(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), static_cast<uint32_t>(address));
  return ptx_generic(address);
}
static const char ptx_in_module = 0;
template <class Register>
CUDA_ON_CPU_OF_REGISTERS void *ptx_const(Register address) {
  if constexpr (sizeof address == 4) return ptx_near(reinterpret_cast<uintptr_t>(&ptx_in_module), static_cast<uint32_t>(address));
  return ptx_generic(address);
}
// The generic addresses of both, from 64 bits of which the upper ones may be 0.
CUDA_ON_CPU_OF_REGISTERS uint64_t ptx_whole_local(uint64_t address) {
  return !address || address >> 32 ? address : reinterpret_cast<uintptr_t>(ptx_local(static_cast<uint32_t>(address)));
}
CUDA_ON_CPU_OF_REGISTERS uint64_t ptx_whole_const(uint64_t address) {
  return !address || address >> 32 ? address : reinterpret_cast<uintptr_t>(ptx_const(static_cast<uint32_t>(address)));
}
template <class Register>
CUDA_ON_CPU_OF_REGISTERS void *ptx_shared(Register address) { return cuda_on_cpu_shared_at(static_cast<uint64_t>(address)); }

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
template <>
struct PtxWord<128> { using type = ptx_b128; };
template <int bits, class To, class... Part>
void ptx_pack_counted(To &to, Part... part);
template <int bits, class From, class... Part>
void ptx_unpack_counted(From from, Part &&...part);
template <int bits, class To, class... Part>
CUDA_ON_CPU_OF_REGISTERS void ptx_pack(To &&to, Part... part) {
  if constexpr (ptx_counts<PtxPlain<To>>) return ptx_pack_counted<bits>(to, part...);
  else {
    using Word = typename PtxWord<bits / sizeof...(Part)>::type;
    Word words[] = {ptx_as<Word>(part)...};
    typename PtxWord<bits>::type made;
    __builtin_memcpy(&made, words, sizeof made);
    ptx_put(to, made);
  }
}
template <int bits, class From, class... Part>
CUDA_ON_CPU_OF_REGISTERS void ptx_unpack(From from, Part &&...part) {
  if constexpr (ptx_counts<From>) return ptx_unpack_counted<bits>(from, part...);
  else {
    using Word = typename PtxWord<bits / sizeof...(Part)>::type;
    Word words[sizeof...(Part)], *next = words;
    auto whole = ptx_as<typename PtxWord<bits>::type>(from);
    __builtin_memcpy(words, &whole, sizeof whole);
    (ptx_put(part, *next++), ...);
  }
}

}  // namespace cuda_on_cpu
