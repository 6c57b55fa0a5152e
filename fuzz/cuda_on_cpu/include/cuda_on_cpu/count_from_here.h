// From here on, float and double are numbers that count (counted.h): included after all headers of a kernel file and
// before its own text.
#define float ::cuda_on_cpu::counted_float
#define double ::cuda_on_cpu::counted_double
#define float1 ::cuda_on_cpu::counted_float1
#define float2 ::cuda_on_cpu::counted_float2
#define float3 ::cuda_on_cpu::counted_float3
#define float4 ::cuda_on_cpu::counted_float4
#define double2 ::cuda_on_cpu::counted_double2
#define make_float1 ::cuda_on_cpu::make_counted_float1
#define make_float2 ::cuda_on_cpu::make_counted_float2
#define make_float3 ::cuda_on_cpu::make_counted_float3
#define make_float4 ::cuda_on_cpu::make_counted_float4
#define make_double2 ::cuda_on_cpu::make_counted_double2
#define __float_as_int ::cuda_on_cpu::counted_float_as_int
#define __float_as_uint ::cuda_on_cpu::counted_float_as_uint
#define __int_as_float ::cuda_on_cpu::counted_int_as_float
#define __uint_as_float ::cuda_on_cpu::counted_uint_as_float
#define __double_as_longlong ::cuda_on_cpu::counted_double_as_longlong
#define __longlong_as_double ::cuda_on_cpu::counted_longlong_as_double
#undef printf
#define printf(...) 0
