// The element types of tensors, and their names.
#pragma once
#include <cstdint>
#include <cstring>
#include <ostream>
#include <type_traits>

#ifdef __CUDACC__  // torch includes them in CUDA text, and files rely on it
#define KFUZZ_TORCH_IN_CUDA
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include "elements.h"
#include "float8.h"
#include "machine.h"

namespace c10 {

enum class ScalarType : int8_t {
#define KFUZZ_TORCH_NUMBER(name, type, number, kind) name = number,
#define KFUZZ_TORCH_OTHER_NUMBER(name, number, bytes) name = number,
  KFUZZ_TORCH_ELEMENTS(KFUZZ_TORCH_NUMBER) KFUZZ_TORCH_OTHER_TYPES(KFUZZ_TORCH_OTHER_NUMBER)
};

// IEEE binary16 in 16 bits: every operation is float's, rounded to nearest even, as in torch.
struct alignas(2) Half {
  unsigned short x;

  Half() = default;
  __host__ __device__ Half(float value) : x(rounded(value)) {}
  __host__ __device__ operator float() const { return widened(x); }
#ifdef KFUZZ_TORCH_IN_CUDA
  __host__ __device__ Half(const __half &value) { memcpy(&x, &value, sizeof x); }
  __host__ __device__ operator __half() const {
    __half value;
    memcpy(&value, &x, sizeof x);
    return value;
  }
#endif

 private:
  __host__ __device__ static unsigned short rounded(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u);
    if (size >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);  // halfway to 2^16, or beyond
    if (size < 0x38800000u) {  // subnormal: adding 2^-1 leaves multiples of 2^-24 in the lower bits, rounded
      float shifted;
      memcpy(&shifted, &size, sizeof shifted);
      shifted += 0.5f;
      memcpy(&bits, &shifted, sizeof bits);
      return static_cast<unsigned short>(sign | (bits - 0x3f000000u));
    }
    uint32_t odd = size >> 13 & 1u;
    return static_cast<unsigned short>(sign | ((size + 0xc8000fffu + odd) >> 13));
  }
  __host__ __device__ static float widened(unsigned short half) {
    uint32_t sign = (half & 0x8000u) << 16, size = half & 0x7fffu, bits;
    if (size >= 0x7c00u) {
      bits = sign | 0x7f800000u | (size & 0x3ffu) << 13;
    } else if (size >= 0x400u) {
      bits = sign | ((size << 13) + 0x38000000u);
    } else {
      float value = static_cast<float>(size) * 0x1p-24f;
      memcpy(&bits, &value, sizeof bits);
      bits |= sign;
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
};

struct alignas(2) BFloat16 {
  unsigned short x;

  BFloat16() = default;
  __host__ __device__ BFloat16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    x = static_cast<unsigned short>(value != value ? 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  __host__ __device__ operator float() const {
    uint32_t bits = static_cast<uint32_t>(x) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
#ifdef KFUZZ_TORCH_IN_CUDA
  __host__ __device__ BFloat16(const __nv_bfloat16 &value) { memcpy(&x, &value, sizeof x); }
  __host__ __device__ explicit operator __nv_bfloat16() const {
    __nv_bfloat16 value;
    memcpy(&value, &x, sizeof x);
    return value;
  }
#endif
};

#define KFUZZ_TORCH_ARITHMETIC(type, sign)                                                         \
  __host__ __device__ inline type operator sign(type a, type b) {                                  \
    return type(static_cast<float>(a) sign static_cast<float>(b));                                 \
  }                                                                                                \
  __host__ __device__ inline type &operator sign##=(type &a, type b) { return a = a sign b; }      \
  __host__ __device__ inline float operator sign(type a, float b) { return static_cast<float>(a) sign b; } \
  __host__ __device__ inline float operator sign(float a, type b) { return a sign static_cast<float>(b); } \
  __host__ __device__ inline double operator sign(type a, double b) { return static_cast<float>(a) sign b; } \
  __host__ __device__ inline double operator sign(double a, type b) { return a sign static_cast<float>(b); } \
  __host__ __device__ inline type operator sign(type a, int b) { return a sign type(static_cast<float>(b)); } \
  __host__ __device__ inline type operator sign(int a, type b) { return type(static_cast<float>(a)) sign b; }
#define KFUZZ_TORCH_OPERATORS(type)   \
  KFUZZ_TORCH_ARITHMETIC(type, +)     \
  KFUZZ_TORCH_ARITHMETIC(type, -)     \
  KFUZZ_TORCH_ARITHMETIC(type, *)     \
  KFUZZ_TORCH_ARITHMETIC(type, /)     \
  __host__ __device__ inline type operator-(type a) { return type(-static_cast<float>(a)); }
KFUZZ_TORCH_OPERATORS(Half)
KFUZZ_TORCH_OPERATORS(BFloat16)
KFUZZ_TORCH_OPERATORS(Float8_e4m3fn)
KFUZZ_TORCH_OPERATORS(Float8_e5m2)

// Two halves may become floats or CUDA's halves, which both can be compared: without these, neither is chosen. They are
// templates, so that a half beside a number is a float as before.
#define KFUZZ_TORCH_COMPARISON(sign)                                                                        \
  template <typename H, typename = typename std::enable_if<std::is_same<H, Half>::value>::type>             \
  __host__ __device__ inline bool operator sign(H a, H b) {                                                 \
    return static_cast<float>(a) sign static_cast<float>(b);                                                \
  }
KFUZZ_TORCH_COMPARISON(==)
KFUZZ_TORCH_COMPARISON(!=)
KFUZZ_TORCH_COMPARISON(<)
KFUZZ_TORCH_COMPARISON(<=)
KFUZZ_TORCH_COMPARISON(>)
KFUZZ_TORCH_COMPARISON(>=)
#undef KFUZZ_TORCH_COMPARISON

enum class ScalarKind { integral, boolean, floating, narrow, other };  // narrow: a float that computes as float32

struct ScalarFacts {
  const char *name;
  size_t bytes;
  ScalarKind kind;
};
inline ScalarFacts facts_of(ScalarType type) {
  switch (type) {
#define KFUZZ_TORCH_FACTS(name, type, number, kind) \
  case ScalarType::name: return {#name, sizeof(type), ScalarKind::kind};
#define KFUZZ_TORCH_OTHER_FACTS(name, number, bytes) \
  case ScalarType::name: return {#name, bytes, ScalarKind::other};
    KFUZZ_TORCH_ELEMENTS(KFUZZ_TORCH_FACTS)
    KFUZZ_TORCH_OTHER_TYPES(KFUZZ_TORCH_OTHER_FACTS)
  }
  return {"Undefined", 0, ScalarKind::other};
}

template <class T>
inline constexpr bool is_narrow = false;
template <class T>
struct CppTypeToScalarType;
template <ScalarType type>
struct ScalarTypeToCppType;
#define KFUZZ_TORCH_TYPES(name, cpp, number, kind)               \
  template <>                                                    \
  struct CppTypeToScalarType<cpp> {                              \
    static constexpr ScalarType value = ScalarType::name;        \
  };                                                             \
  template <>                                                    \
  struct ScalarTypeToCppType<ScalarType::name> {                 \
    using type = cpp;                                            \
  };                                                             \
  template <>                                                    \
  inline constexpr bool is_narrow<cpp> = ScalarKind::kind == ScalarKind::narrow;
KFUZZ_TORCH_ELEMENTS(KFUZZ_TORCH_TYPES)
template <>
struct CppTypeToScalarType<long long> {
  static constexpr ScalarType value = ScalarType::Long;
};

inline const char *toString(ScalarType type) { return facts_of(type).name; }
inline std::ostream &operator<<(std::ostream &out, ScalarType type) { return out << toString(type); }
inline size_t elementSize(ScalarType type) { return facts_of(type).bytes; }
inline bool isFloatingType(ScalarType type) {
  return facts_of(type).kind == ScalarKind::floating || facts_of(type).kind == ScalarKind::narrow;
}
inline bool isIntegralType(ScalarType type, bool with_bool = false) {
  return facts_of(type).kind == ScalarKind::integral || (with_bool && type == ScalarType::Bool);
}

constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte, kChar = ScalarType::Char, kInt8 = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short, kInt = ScalarType::Int, kInt32 = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = ScalarType::Long, kHalf = ScalarType::Half, kFloat16 = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float, kDouble = ScalarType::Double;
constexpr ScalarType kFloat64 = ScalarType::Double, kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kFloat8_e4m3fn = ScalarType::Float8_e4m3fn, kFloat8_e5m2 = ScalarType::Float8_e5m2;
constexpr ScalarType kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz, kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz;
constexpr ScalarType kFloat8_e8m0fnu = ScalarType::Float8_e8m0fnu, kFloat4_e2m1fn_x2 = ScalarType::Float4_e2m1fn_x2;

}  // namespace c10
