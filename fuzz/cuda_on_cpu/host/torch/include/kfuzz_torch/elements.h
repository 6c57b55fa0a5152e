// The element types of tensors: X(torch's name, C++ type, number, kind). Everything that depends on the type is made
// from this list; types that kernels do not compute with are in the second one, X(torch's name, number, bytes).
#pragma once

#define KFUZZ_TORCH_ELEMENTS(X)      \
  X(Byte, uint8_t, 0, integral)      \
  X(Char, int8_t, 1, integral)       \
  X(Short, int16_t, 2, integral)     \
  X(Int, int, 3, integral)           \
  X(Long, int64_t, 4, integral)      \
  X(Half, c10::Half, 5, narrow)      \
  X(Float, float, 6, floating)       \
  X(Double, double, 7, floating)     \
  X(Bool, bool, 11, boolean)         \
  X(BFloat16, c10::BFloat16, 15, narrow) \
  X(Float8_e5m2, c10::Float8_e5m2, 23, narrow) \
  X(Float8_e4m3fn, c10::Float8_e4m3fn, 24, narrow)

#define KFUZZ_TORCH_OTHER_TYPES(X) \
  X(ComplexHalf, 8, 4)             \
  X(ComplexFloat, 9, 8)            \
  X(ComplexDouble, 10, 16)         \
  X(QInt8, 12, 1)                  \
  X(QUInt8, 13, 1)                 \
  X(QInt32, 14, 4)                 \
  X(Undefined, 16, 0)              \
  X(Float8_e5m2fnuz, 25, 1)        \
  X(Float8_e4m3fnuz, 26, 1)        \
  X(Float8_e8m0fnu, 44, 1)         \
  X(Float4_e2m1fn_x2, 45, 1)
