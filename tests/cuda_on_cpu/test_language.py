"""CUDA C++ on the cpu device means what it means on a GPU: shuffles, votes, atomics, arithmetic, memory."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from language_runs import EVERY, run
from numpy.typing import NDArray
from planted_jobs import Value, floats, job_of

from kfuzz.devices import ClaimError, Job, Probe, Step
from kfuzz.devices.cpu.device import CpuDevice

pytestmark = pytest.mark.slow


def per_lane(expression: str, before: str = "") -> str:
    """A kernel that stores one value of each lane."""
    return (
        f"{before}\n__global__ void k(int *y) {{ const int lane = threadIdx.x; (void)lane; y[lane] = {expression}; }}"
    )


LANES = np.arange(32)
SHUFFLES = {
    "__shfl_sync(0xffffffffu, lane, 5)": np.full(32, 5),
    "__shfl_sync(0xffffffffu, lane, 37)": np.full(32, 5),
    "__shfl_sync(0xffffffffu, lane, 2, 8)": LANES // 8 * 8 + 2,
    "__shfl_sync(0xffffffffu, lane, 11, 8)": LANES // 8 * 8 + 3,
    "__shfl_up_sync(0xffffffffu, lane, 3)": np.where(LANES >= 3, LANES - 3, LANES),
    "__shfl_up_sync(0xffffffffu, lane, 3, 16)": np.where(LANES % 16 >= 3, LANES - 3, LANES),
    "__shfl_down_sync(0xffffffffu, lane, 5)": np.where(LANES + 5 < 32, LANES + 5, LANES),
    "__shfl_down_sync(0xffffffffu, lane, 5, 8)": np.where(LANES % 8 + 5 < 8, LANES + 5, LANES),
    "__shfl_xor_sync(0xffffffffu, lane, 7)": LANES ^ 7,
    "__shfl_xor_sync(0xffffffffu, lane, 12, 8)": np.where((LANES ^ 12) <= (LANES | 7), LANES ^ 12, LANES),
    "__ballot_sync(0xffffffffu, lane % 3 == 0)": np.full(32, sum(1 << i for i in range(0, 32, 3))),
    "__any_sync(0xffffffffu, lane == 31)": np.ones(32),
    "__any_sync(0xffffffffu, lane == 32)": np.zeros(32),
    "__all_sync(0xffffffffu, lane < 32)": np.ones(32),
    "__all_sync(0xffffffffu, lane < 31)": np.zeros(32),
    "__popc(__match_any_sync(0xffffffffu, lane / 5))": np.where(LANES < 30, 5, 2),
    "(int)all_match(lane < 32)": np.full(32, -1),
    "(int)all_match(lane == 31)": np.zeros(32),
    "__reduce_add_sync(0xffffffffu, lane - 20)": np.full(32, 31 * 16 - 20 * 32),
    "__reduce_min_sync(0xffffffffu, lane - 20)": np.full(32, -20),
    "__reduce_max_sync(0xffffffffu, lane - 20)": np.full(32, 11),
    "(int)__reduce_max_sync(0xffffffffu, (unsigned)(lane - 20))": np.full(32, -1),
    "(int)__reduce_and_sync(0xffffffffu, 0xf0u | lane)": np.full(32, 0xF0),
    "(int)__reduce_or_sync(0xffffffffu, 1u << lane / 8)": np.full(32, 15),
    "(int)__reduce_xor_sync(0xffffffffu, (unsigned)lane * 3u)": np.full(32, np.bitwise_xor.reduce(LANES * 3)),
    "(int)__shfl_xor_sync(0xffffffffu, (double)lane + 0.5, 1)": LANES ^ 1,
    "(int)(__shfl_xor_sync(0xffffffffu, (long long)lane << 40, 1) >> 40)": LANES ^ 1,
    "lane < 16 ? __shfl_xor_sync(0xffffu, lane, 3) : __shfl_xor_sync(0xffff0000u, lane, 5)": np.where(
        LANES < 16, LANES ^ 3, LANES ^ 5
    ),
    "__syncthreads_count(lane % 4 == 0)": np.full(32, 8),
    "__syncthreads_and(lane < 40)": np.ones(32),
    "__syncthreads_or(lane == 40)": np.zeros(32),
}


@EVERY
def test_warp_collectives_follow_the_rules_of_ptx(device: CpuDevice, check: bool) -> None:
    kernels = (
        "__device__ unsigned all_match(int v) "
        "{ int same; unsigned m = __match_all_sync(0xffffffffu, v, &same); return same ? m : 0; }\n"
    ) + "\n".join(
        f"__global__ void k{i}(int *y) {{ const int lane = threadIdx.x; y[lane] = {one}; }}"
        for i, one in enumerate(SHUFFLES)
    )
    every = tuple(f"k{i}" for i in range(len(SHUFFLES)))
    for i, (expression, want) in enumerate(SHUFFLES.items()):
        job = job_of(kernels, every, f"k{i}", {"y": "i32[32]"}, block=32)
        outcome = device.run(job, Probe(check=check))
        assert outcome.findings == ()
        for one in outcome.runs:
            np.testing.assert_array_equal(one.outputs["y"], want.astype(np.int64).astype(np.int32), expression)


VALUES = {
    # expression of float x, value of x, the bits or the value that a GPU gives
    "fmaxf(NAN, x)": (2.0, 2.0),
    "fmaxf(x, NAN)": (2.0, 2.0),
    "fminf(x, NAN)": (2.0, 2.0),
    "max(x, 3.0f)": (2.0, 3.0),
    "max(x, NAN)": (2.0, 2.0),
    "min(x, -INFINITY)": (2.0, -math.inf),
    "max(1, (int)x)": (2.0, 2.0),
    "__fdividef(x, 4.0f)": (2.0, 0.5),
    "__fdividef(x, 1.7e38f)": (2.0, 0.0),
    "__frcp_rn(x)": (4.0, 0.25),
    "__fadd_rn(x, 1e-9f)": (1.0, 1.0),
    "__fmul_rn(x, x)": (3.0, 9.0),
    "__fdiv_rn(1.0f, x)": (3.0, float(np.float32(1) / np.float32(3))),
    "__fsqrt_rn(x)": (2.0, float(np.sqrt(np.float32(2)))),
    "__fmaf_rn(x, x, -9.0f)": (3.0, 0.0),
    "__ffma2_rn(make_float2(0.0f, x), make_float2(0.0f, x), make_float2(0.0f, -8.0f)).y": (3.0, 1.0),
    "__fadd2_ru(make_float2(x, 0.0f), make_float2(1e-30f, 0.0f)).x": (1.0, 1.0 + 2.0**-23),
    "__fmul2_rz(make_float2(x, 0.0f), make_float2(-x, 0.0f)).x": (1.0 + 2.0**-23, -(1.0 + 2.0**-22)),
    "rsqrtf(x)": (4.0, 0.5),
    "__int_as_float(__float_as_int(x) + 1)": (1.0, float(np.nextafter(np.float32(1), np.float32(2)))),
    "__uint_as_float(0x7f800000u) - x": (1.0, math.inf),
    "__saturatef(x)": (7.0, 1.0),
    "__float2int_rn(x + 0.5f)": (2.0, 2.0),
    "__float2int_rz(-x - 0.9f)": (2.0, -2.0),
    "(float)__float2int_rn(x * 1e20f)": (1.0, 2147483648.0),
    "expf(x)": (0.0, 1.0),
    "__expf(x)": (0.0, 1.0),
    "expf(-INFINITY * x)": (1.0, 0.0),
    "__expf(-INFINITY * x)": (1.0, 0.0),
    "exp2f(x)": (-149.0, 2.0**-149),
    "(float)__popc(0xff00ff00u)": (0.0, 16.0),
    "(float)__clz(1)": (0.0, 31.0),
    "(float)__clz(0)": (0.0, 32.0),
    "(float)__ffs(8)": (0.0, 4.0),
    "(float)(__brev(1u) >> 16)": (0.0, 32768.0),
    "(float)__mul24(0x1000001, 3)": (0.0, 3.0),
    "(float)__umulhi(0x80000000u, 4u)": (0.0, 2.0),
    "(float)__mul64hi(-1ll << 62, 8)": (0.0, -2.0),
    "(float)__hadd(-3, 0)": (0.0, -2.0),
    "(float)__rhadd(2147483647, 1)": (0.0, 1073741824.0),
    "(float)__urhadd(4294967295u, 0u)": (0.0, 2147483648.0),
    "(float)__sad(-2147483647 - 1, 0, 0u)": (0.0, 2147483648.0),
    "(float)__usad(2u, 7u, 1u)": (0.0, 6.0),
    "(float)__funnelshift_lc(1u, 7u, 32u)": (0.0, 1.0),
    "(float)__funnelshift_rc(1u, 7u, 33u)": (0.0, 7.0),
    "(float)__dp4a((int)0xff027f80, (int)0xff037f80, 5)": (0.0, 1.0 + 6 + 127 * 127 + 128 * 128 + 5),
    "(float)__dp4a(0xff027f80u, 0xff037f80u, 5u)": (0.0, 255.0 * 255 + 6 + 127 * 127 + 128 * 128 + 5),
    "(float)__vimax3_s32(-1, 5, 3)": (0.0, 5.0),
    "(float)__vimin3_s32_relu(-4, 2, 3)": (0.0, 0.0),
    "(float)__viaddmax_s32(2147483647, 1, -5)": (0.0, -5.0),
    "(float)__viaddmin_u32(4000000000u, 400000000u, 7u)": (0.0, 7.0),
    "(float)__vimax3_s16x2(0xffff0001u, 0x0002fffeu, 0x00010005u)": (0.0, 131077.0),
    "(float)__vimin3_u16x2(0xffff0001u, 0x0002fffeu, 0x00010005u)": (0.0, 65537.0),
    "(float)__viaddmax_s16x2_relu(0x7fff0001u, 0x00010001u, 0x80008000u)": (0.0, 2.0),
    "(float)__dp2a_lo((int)0x8000ffff, 0x0302ff05, 1)": (0.0, 32768.0 - 5 + 1),
    "(float)__dp2a_hi((int)0x8000ffff, 0x0302ff05, 1)": (0.0, -3 * 32768.0 - 2 + 1),
    "(float)(__vadd2(0x0001ffffu, 0x00020001u) == 0x00030000u)": (0.0, 1.0),
    "(float)(__vaddss4(0x7f800102u, 0x01ff0304u) == 0x7f800406u)": (0.0, 1.0),
    "(float)(__vsubus2(0x00010005u, 0x00020003u) == 0x00000002u)": (0.0, 1.0),
    "(float)(__vmaxs4(0xff017f80u, 0x00008001u) == 0x00017f01u)": (0.0, 1.0),
    "(float)(__vminu4(0xff017f80u, 0x00008001u) == 0x00007f01u)": (0.0, 1.0),
    "(float)(__vcmpgts2(0xffff0001u, 0x00000000u) == 0x0000ffffu)": (0.0, 1.0),
    "(float)(__vsetgtu2(0xffff0001u, 0x00000000u) == 0x00010001u)": (0.0, 1.0),
    "(float)(__vabsss4(0x80ff017fu) == 0x7f01017fu)": (0.0, 1.0),
    "(float)(__vneg2(0x80000001u) == 0x8000ffffu)": (0.0, 1.0),
    "(float)__vsads4(0x80ff0100u, 0x7f000000u)": (0.0, 257.0),
    "(float)__vsadu2(0xffff0001u, 0x00000003u)": (0.0, 65537.0),
    "norm3df(x, 0.0f, 4.0f)": (3.0, 5.0),
    "norm4df(x, x, 1e38f, 0.0f)": (1e38, float(np.float32(np.sqrt(3.0) * np.float64(np.float32(1e38))))),
    "rnorm4df(x, x, x, x)": (2.0, 0.25),
    "normf(1, in) + rnormf(1, in)": (-4.0, 4.25),
    "(float)exp((double)x)": (0.0, 1.0),
    "(float)fmax((double)x, 3.0)": (2.0, 3.0),
    "__ldg(&y[0]) + x": (1.0, 1.0),
    "abs(-x)": (1.5, 1.5),
    "make_float4(x, 2, 3, 4).w": (1.0, 4.0),
    "isinf(x) ? 1.0f : 0.0f": (math.inf, 1.0),
    "1.0f / x": (0.0, math.inf),
}


@EVERY
def test_arithmetic_is_that_of_cuda(device: CpuDevice, check: bool) -> None:
    kernels = "\n".join(
        f"__global__ void k{i}(float *y, float *in) {{ const float x = in[0]; y[0] = 0.0f; y[0] = {one}; }}"
        for i, one in enumerate(VALUES)
    )
    every = tuple(f"k{i}" for i in range(len(VALUES)))
    for i, (expression, (x, want)) in enumerate(VALUES.items()):
        job = job_of(kernels, every, f"k{i}", {"y": "f32[1]", "in": np.array([x], np.float32)}, block=1)
        outcome = device.run(job, Probe(check=check))
        assert outcome.findings == (), expression
        assert float(outcome.runs[0].outputs["y"][0]) == want, expression


def exp_of(
    device: CpuDevice, function: str, x: NDArray[np.float32], flags: tuple[str, ...] = ()
) -> NDArray[np.float64]:
    text = (
        "__global__ void k(float *y, const float *x, int n)"
        f"{{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = {function}(x[i]); }}"
    )
    arguments: dict[str, Value] = {"y": f"f32[{len(x)}]", "x": x, "n": len(x)}
    return run(device, text, arguments, block=256, grid=-(-len(x) // 256), flags=flags).astype(np.float64)


def test_expf_and_its_fast_form_stay_within_what_cuda_documents(device: CpuDevice) -> None:
    u = 2.0**-24
    x = np.linspace(-104.5, 88.0, 20_001, dtype=np.float32)
    true = np.exp(x.astype(np.float64))
    for function, a0, kappa in (("expf", 5.0, 0.0), ("__expf", 5.0, 2.346)):
        error = np.abs(exp_of(device, function, x) - true)
        bound = (a0 + kappa * np.abs(x)) * u * true + (a0 + 104 * kappa) * 2.0**-150
        assert (error <= bound).all()


SELDOM = {
    # the function, its documented ulp in the CUDA C++ Programming Guide, where it is asked, what it is
    "erfinvf": (2, (-0.99999, 0.99999), mpmath.erfinv),
    "erfcinvf": (4, (1e-30, 1.9999), lambda y: mpmath.erfinv(1 - y)),
    "normcdfinvf": (5, (1e-30, 0.9999), lambda y: mpmath.sqrt(2) * mpmath.erfinv(2 * y - 1)),
    "erfcxf": (4, (-9.0, 1e4), lambda x: mpmath.exp(x * x) * mpmath.erfc(x)),
    "cyl_bessel_i0f": (6, (-80.0, 80.0), lambda x: mpmath.besseli(0, x)),
    "cyl_bessel_i1f": (6, (-80.0, 80.0), lambda x: mpmath.besseli(1, x)),
}


def test_seldom_functions_stay_within_what_cuda_documents(device: CpuDevice) -> None:
    text = "\n".join(
        f"__global__ void {name}_of(float *y, const float *x) {{ y[threadIdx.x] = {name}(x[threadIdx.x]); }}"
        for name in SELDOM
    )
    for name, (ulps, (lo, hi), exact) in SELDOM.items():
        x = np.concatenate([np.linspace(lo, hi, 61), np.geomspace(1e-30, hi, 61)]).astype(np.float32)
        job = job_of(text, tuple(f"{one}_of" for one in SELDOM), f"{name}_of", {"y": f"f32[{len(x)}]", "x": x}, len(x))
        got = device.run(job, Probe(check=False)).runs[0].outputs["y"]
        with mpmath.workdps(60):
            true = np.array([float(exact(mpmath.mpf(float(one)))) for one in x])
        error = np.abs(got.astype(np.float64) - true)
        np.testing.assert_array_less(error, ulps * np.spacing(np.abs(true.astype(np.float32))), name)


def test_the_fast_exponential_keeps_denormal_results(device: CpuDevice) -> None:
    got = exp_of(device, "__expf", np.array([-90.0, -100.0], np.float32))
    assert (got > 0).all()


@pytest.mark.parametrize("flags", [("-ftz=true",), ("--ftz=true",), ("-use_fast_math",)])
def test_denormals_are_flushed_where_the_claim_says_so(device: CpuDevice, flags: tuple[str, ...]) -> None:
    got = exp_of(device, "expf", np.array([-90.0, -80.0], np.float32), flags)
    assert got[0] == 0.0
    assert got[1] > 0.0
    assert (exp_of(device, "expf", np.array([-90.0], np.float32)) > 0).all()  # and only there


def test_denormals_are_kept_where_the_claim_says_so_beside_fast_math(device: CpuDevice) -> None:
    """As nvcc has it, and the oracle: a setting of its own wins over what -use_fast_math brings."""
    for flags in (("-use_fast_math", "-ftz=false"), ("--ftz=false", "--use_fast_math")):
        assert exp_of(device, "expf", np.array([-90.0], np.float32), flags)[0] > 0.0


def test_fast_math_takes_the_fast_exponential(device: CpuDevice) -> None:
    x = np.linspace(-80.0, -40.0, 1000, dtype=np.float32)
    np.testing.assert_array_equal(exp_of(device, "expf", x, ("-use_fast_math",)), exp_of(device, "__expf", x))
    assert (exp_of(device, "expf", x) != exp_of(device, "__expf", x)).any()


def test_nothing_is_contracted(device: CpuDevice) -> None:
    text = "__global__ void k(float *y, const float *x) { y[0] = x[0] * x[0] - x[1]; }"
    x = np.float32(1 + 2.0**-12)
    got = run(device, text, {"y": "f32[1]", "x": np.array([x, x * x], np.float32)}, block=1)
    assert got[0] == 0.0


ATOMICS = """
__global__ void k(int *y, int *i, unsigned *u, float *f, unsigned long long *q) {
    const int t = threadIdx.x;
    atomicAdd(&i[0], t);
    atomicSub(&i[1], 1);
    atomicMin(&i[2], -t);
    atomicMax(&i[3], t);
    atomicOr(&i[4], 1 << t % 31);
    atomicAnd(&i[5], ~(1 << t % 8));
    atomicXor(&i[6], t);
    atomicExch(&i[7], 5);
    atomicInc(&u[0], 9u);
    atomicDec(&u[1], 9u);
    atomicMax(&u[2], 0x80000000u + t);
    atomicAdd(&f[0], 1.0f);
    atomicAdd(&q[0], 1ull << 33);
    int seen = i[8], expected;
    do {
        expected = seen;
        seen = atomicCAS(&i[8], expected, expected + 2);
    } while (seen != expected);
    __syncthreads();
    if (t == 0) {
        for (int k = 0; k < 9; k++) {
            y[k] = i[k];
        }
        y[9] = u[0], y[10] = u[1], y[11] = u[2], y[12] = f[0], y[13] = q[0] >> 33;
    }
}
"""


@EVERY
def test_atomics_lose_nothing(device: CpuDevice, check: bool) -> None:
    start = np.array([0, 0, 0, 0, 0, -1, 0, 0, 0], np.int32)
    arguments: dict[str, Value] = {
        "y": "i32[14]",
        "i": start,
        "u": np.zeros(3, np.uint32),
        "f": np.zeros(1, np.float32),
        "q": np.zeros(2, np.uint32),
    }
    text = ATOMICS.replace("int seen = i[8]", "int seen = atomicAdd(&i[8], 0)")
    job = job_of(text, ("k",), "k", arguments, block=64)
    job = replace(job, buffers=tuple(replace(one, is_output=True) for one in job.buffers))
    outcome = device.run(job, Probe(check=check))
    assert outcome.findings == ()
    xor = int(np.bitwise_xor.reduce(np.arange(64)))
    want = [64 * 63 // 2, -64, -63, 63, 2**31 - 1, ~0xFF, xor, 5, 128, 64 % 10, 6, -(2**31) + 63, 64, 64]
    for one in outcome.runs:
        assert one.outputs["y"].tolist() == want


@EVERY
def test_dynamic_shared_memory_in_every_way_of_declaring_it(device: CpuDevice, check: bool) -> None:
    for declaration in (
        "extern __shared__ float s[];",
        "extern __shared__ __align__(16) float s[];",
        "extern __align__(16) __shared__ float s[];",
        "extern __shared__ alignas(16) float s[];",
        "extern\n    __shared__ float s[];",
        "extern float __shared__ s[];",
        "extern volatile __shared__ float s[];",
        "__shared__ extern float s[];",
        "extern __shared__ volatile float s[];",
        "extern __shared__ unsigned char raw[]; float *s = reinterpret_cast<float *>(raw);",
        "extern __shared__ float tile[][8]; float *s = tile[0];",
        "extern __shared__ __align__(16) float tile[] [2] [4]; float *s = tile[0][0];",
    ):
        text = (
            f"__global__ void k(float *y, const float *x) {{ {declaration} const int t = threadIdx.x; s[t] = x[t]; "
            "__syncthreads(); y[t] = s[31 - t]; }"
        )
        got = run(device, text, {"y": "f32[32]", "x": floats(32)}, check, shared=128)
        np.testing.assert_array_equal(got, floats(32)[::-1], declaration)


@EVERY
def test_static_shared_memory_in_every_way_of_declaring_it(device: CpuDevice, check: bool) -> None:
    for declaration in (
        "__shared__ float s[32];",
        "static __shared__ float s[32];",
        "__shared__ static float s[32];",
        "extern __shared__ float s[32];",
        "__shared__ __align__(16) float s[32];",
        "__shared__ alignas(16) float s[32];",
        "volatile __shared__ float s[32];",
        "__shared__ float2 pairs[16]; float *s = &pairs[0].x;",
        "struct P { float a, b; P() = default; P(float v) : a(v), b(v) {} };"
        " __shared__ P pairs[16]; float *s = &pairs[0].a;",
        "struct P { float a, b; P() {} }; __shared__ P pairs[16]; float *s = &pairs[0].a;",
    ):
        text = (
            f"__global__ void k(float *y, const float *x) {{ {declaration} const int t = threadIdx.x; s[t] = x[t]; "
            "__syncthreads(); y[t] = s[31 - t]; }"
        )
        got = run(device, text, {"y": "f32[32]", "x": floats(32)}, check)
        np.testing.assert_array_equal(got, floats(32)[::-1], declaration)


@EVERY
def test_shared_memory_lies_where_its_alignas_says_by_a_number_or_a_type(device: CpuDevice, check: bool) -> None:
    text = """
    struct alignas(64) Wide { int v[16]; };
    __global__ void k(int *y) {
        __shared__ char first[3];
        __shared__ alignas(128) char second[5];
        static __shared__ alignas(Wide) char third[sizeof(Wide)];
        volatile __shared__ alignas(32) char fourth[5];
        auto beyond = [](const volatile void *p, size_t at) { return int(reinterpret_cast<size_t>(p) % at); };
        y[threadIdx.x] = beyond(second, 128) + beyond(third, 64) + beyond(fourth, 32) + (first == nullptr);
    }"""
    np.testing.assert_array_equal(run(device, text, {"y": "i32[32]"}, check), np.zeros(32))


def test_grids_and_blocks_of_three_dimensions(device: CpuDevice) -> None:
    text = """
    __global__ void k(int *y) {
        const int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        y[b * 24 + t] = b * 1000 + t;
    }"""
    job = job_of(text, ("k",), "k", {"y": "i32[288]"})
    job = replace(job, steps=(Step("k", (2, 3, 2), (4, 2, 3), 0, ("y",)),))
    want = (np.arange(12)[:, None] * 1000 + np.arange(24)).reshape(-1)
    for one in device.run(job, Probe()).runs:
        np.testing.assert_array_equal(one.outputs["y"], want)


@EVERY
def test_cooperative_groups(device: CpuDevice, check: bool) -> None:
    text = """
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    __global__ void k(float *y, const float *x) {
        __shared__ float s[64];
        cg::thread_block block = cg::this_thread_block();
        cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
        auto half = cg::tiled_partition<16>(warp);
        const int t = block.thread_rank();
        const float of_warp = cg::reduce(warp, x[t], cg::plus<float>());
        const float of_half = cg::reduce(half, x[t], cg::greater<float>());
        s[t] = of_half;
        half.sync();
        const float neighbour = s[half.meta_group_rank() * 16 + 15 - half.thread_rank()];
        block.sync();
        s[t] = warp.shfl_down(of_warp, 1) + warp.any(t == 3) + half.shfl(x[t], 1);
        cg::sync(block);
        y[t] = s[63 - t] + neighbour + warp.meta_group_size();
    }"""
    x = floats(64)
    warp = x.reshape(2, 32).sum(1).repeat(32)
    half = x.reshape(4, 16).max(1).repeat(16)
    second = x.reshape(4, 16)[:, 1].repeat(16)
    want = (warp + (np.arange(64) < 32) + second)[::-1] + half + 2
    np.testing.assert_array_equal(run(device, text, {"y": "f32[64]", "x": x}, check, block=64), want)


def test_device_memory_printf_and_assert(device: CpuDevice) -> None:
    text = """
    #include <assert.h>
    #include <cassert>
    __global__ void k(float *y) {
        float *own = static_cast<float *>(malloc(16));
        own[3] = 7.0f;
        assert(own != nullptr);
        printf("seven is %g\\n", own[3]);
        y[0] = own[3];
        free(own);
    }"""
    outcome = device.run(job_of(text, ("k",), "k", {"y": "f32[1]"}, block=1), Probe())
    assert outcome.runs[0].outputs["y"][0] == 7.0
    assert outcome.notes == ("the kernel printed: seven is 7\n",)


def test_a_copy_is_made_when_it_is_waited_for_and_no_sooner(device: CpuDevice) -> None:
    text = """
    #include <cuda_pipeline.h>
    __global__ void k(float *y, const float *x) {
        __shared__ __align__(8) float tile[4];
        tile[0] = tile[1] = tile[2] = tile[3] = 5.0f;
        __pipeline_memcpy_async(tile, x, 8, 4);
        __pipeline_commit();
        __pipeline_memcpy_async(tile + 2, x + 2, 8);
        __pipeline_wait_prior(0);
        for (int i = 0; i < 4; i++) y[i] = tile[i];
        __pipeline_commit();
        __pipeline_wait_prior(0);
        y[4] = tile[2];
    }"""
    x = np.float32([1, 2, 3, 4])
    assert run(device, text, {"y": "f32[5]", "x": x}, block=1).tolist() == [1, 0, 5, 5, 3]


@pytest.mark.parametrize("barriers", [1, 40])
def test_a_copy_to_a_barrier_is_made_at_its_wait_however_many_barriers_there_are(
    device: CpuDevice, barriers: int
) -> None:
    """With a table of 16 barriers, a copy to a 17th was made at once, and a read before the wait saw it."""
    text = f"""
    #include <cuda/barrier>
    __global__ void k(float *y, const float *x) {{
        constexpr int n = {barriers};
        __shared__ cuda::barrier<cuda::thread_scope_block> copied[n];
        __shared__ float tile[n];
        for (int i = 0; i < n; i++) {{
            init(&copied[i], 1);
            tile[i] = 5.0f;
            cuda::memcpy_async(&tile[i], &x[i], sizeof(float), copied[i]);
        }}
        for (int i = 0; i < n; i++) y[i] = tile[i];
        for (int i = 0; i < n; i++) {{
            copied[i].arrive_and_wait();
            y[n + i] = tile[i];
        }}
    }}"""
    x = np.arange(barriers, dtype=np.float32)
    assert run(device, text, {"y": f"f32[{2 * barriers}]", "x": x}, block=1).tolist() == [5] * barriers + x.tolist()


def test_what_the_cache_shall_keep_changes_no_value(device: CpuDevice) -> None:
    text = """
    #include <cooperative_groups.h>
    #include <cuda/annotated_ptr>
    #include <cuda/pipeline>
    __global__ void k(float *y, const float *x) {
        __shared__ float tile[2];
        using property = cuda::access_property;
        cuda::apply_access_property(x, 16, property::persisting{});
        cuda::annotated_ptr<const float, property::streaming> first(x);
        cuda::annotated_ptr<const float, property> other(x + 2, property(property::persisting{}, 0.5f));
        y[0] = *cuda::associate_access_property(x, property::persisting{});
        y[1] = first[1];
        auto pipe = cuda::make_pipeline();
        cuda::memcpy_async(tile, other, sizeof tile, pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        y[2] = other && other - other == 0 ? tile[0] : 0.0f;
        y[3] = *(other.operator->() + 1);
        const auto alone = cooperative_groups::this_thread();
        cuda::annotated_ptr<float, property::shared> third(tile), fourth(tile + 1);
        cuda::memcpy_async(third, first, sizeof(float), pipe);
        cuda::memcpy_async(alone, fourth, other, sizeof(float), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        y[4] = 10 * tile[0] + tile[1];
        cuda::memcpy_async(alone, tile, other, sizeof tile, pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        y[5] = 10 * tile[0] + tile[1];
    }"""
    x = np.float32([1, 2, 3, 4])
    assert run(device, text, {"y": "f32[6]", "x": x}, block=1).tolist() == [1, 2, 3, 4, 13, 34]


def test_what_the_cache_shall_keep_lies_in_an_array(device: CpuDevice) -> None:
    text = """
    #include <cuda/annotated_ptr>
    __global__ void k(float *y, const float *x) {
        y[0] = *cuda::associate_access_property(x + 4, cuda::access_property::persisting{});
    }"""
    one = job_of(text, ("k",), "k", {"y": "f32[1]", "x": np.ones(4, np.float32)}, block=1)
    outcome = device.run(one, Probe(check=True))
    assert (outcome.findings[0].kind, outcome.findings[0].line) == ("out-of-bounds", 4)


UNSUPPORTED = {
    'asm volatile("mbarrier.inval.b64 [%0];");': "the PTX operand %0, which runs on the GPU alone",
    "texture<float> t;": "texture references",
    "other<<<1, 1>>>(y);": "launches in the source",
}


@pytest.mark.parametrize("statement", UNSUPPORTED)
def test_what_is_not_there_is_one_line_with_file_and_line(device: CpuDevice, statement: str) -> None:
    text = f"// first line\n__global__ void k(float *y) {{\n    {statement}\n}}\n"
    with pytest.raises(ClaimError) as error:
        device.run(job_of(text, ("k",), "k", {"y": "f32[1]"}), Probe())
    assert str(error.value).startswith("planted.cu:3: the cpu device does not have ")
    assert UNSUPPORTED[statement] in str(error.value)
    assert "\n" not in str(error.value)


def test_words_in_comments_and_strings_are_no_features(device: CpuDevice) -> None:
    text = """
    // k<<<1, 1>>>(y), asm("x"), wmma::fragment: only talk; extern __shared__ float nothing[];
    /* static __shared__ textures: texture<float> */
    __global__ void k(float *y) { const char *words = "<<<asm wmma::"; y[0] = words[0] == '<' ? 1'000.0f : '"'; }"""
    assert run(device, text, {"y": "f32[1]"}, block=1)[0] == 1000.0


TOO_LARGE = """
__global__ void k(float *y) {
    __shared__ float s[20000];
    s[threadIdx.x] = 1.0f;
    __syncthreads();
    y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}"""

MISTAKES: dict[str, tuple[Job, str]] = {
    "does not compile": (
        job_of("\n__global__ void k(float *y) { y[0] = undeclared; }", ("k",), "k", {"y": "f32[1]"}),
        r"planted\.cu:2:.*error:.*undeclared",
    ),
    "no such entry": (
        job_of("__global__ void k(float *y) {}", ("j",), "j", {"y": "f32[1]"}),
        r"planted\.cu: no __global__ function is named j; in this file: k",
    ),
    "too many arguments": (
        job_of("__global__ void k(float *y) {}", ("k",), "k", {"y": "f32[1]", "n": 3}),
        r"k has 1 parameters; the claim passes 2",
    ),
    "a number for a pointer": (
        job_of("__global__ void k(float *y, float *x) {}", ("k",), "k", {"y": "f32[1]", "n": 3}),
        r"parameter 2 of k is a pointer; the claim passes the integer 3",
    ),
    "a float parameter": (
        job_of("__global__ void k(float *y, float n) {}", ("k",), "k", {"y": "f32[1]", "n": 3}),
        r"parameter 2 of k is neither a pointer nor an integer of 32 or 64 bits",
    ),
    "too many threads": (
        job_of("__global__ void k(float *y) {}", ("k",), "k", {"y": "f32[1]"}, block=1025),
        r"1025 threads; at most 1024",
    ),
    "no blocks": (job_of("__global__ void k(float *y) {}", ("k",), "k", {"y": "f32[1]"}, grid=0), r"grid \(0, 1, 1\)"),
    "too much dynamic shared memory": (
        job_of("__global__ void k(float *y) {}", ("k",), "k", {"y": "f32[1]"}, shared=300_000),
        r"300000 bytes of dynamic shared memory; at most 232448",
    ),
    "too large a static array": (
        job_of(TOO_LARGE, ("k",), "k", {"y": "f32[1]"}),
        r"__shared__ s has 80000 bytes; a static array has at most 49152",
    ),
    "a static array of 100 GB": (
        job_of(TOO_LARGE.replace("20000", "25000000000"), ("k",), "k", {"y": "f32[1]"}),
        r"__shared__ s has 100000000000 bytes; a static array has at most 49152",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_file_is_a_claim_error(device: CpuDevice, name: str) -> None:
    job, message = MISTAKES[name]
    with pytest.raises(ClaimError, match=message):
        device.run(job, Probe())


CONVERGED = {
    # which lanes there are, and what a lane of the branch gets: the others wait at the barrier, or have returned
    "if (lane < 20) y[lane] = __popc(__activemask()); __syncthreads();": np.where(LANES < 20, 20, 0),
    "if (lane % 2) y[lane] = __popc(__activemask());\nelse y[lane] = (int)__activemask();\n__syncthreads();": np.where(
        LANES % 2, 16, 0x55555555
    ),
    "if (lane >= 20) return; const unsigned mask = __activemask(); y[lane] = __shfl_sync(mask, lane, 3);": np.where(
        LANES < 20, 3, 0
    ),
    "for (int i = lane; i < 40; i += 32) y[lane] = __popc(__activemask()); __syncwarp();": np.where(LANES < 8, 8, 32),
    "if (lane < 20) { cg::coalesced_group g = cg::coalesced_threads(); y[lane] = cg::reduce(g, 1, cg::plus<int>()); }"
    " __syncthreads();": np.where(LANES < 20, 20, 0),
}


@EVERY
@pytest.mark.parametrize("body", CONVERGED)
def test_lanes_converge_with_those_of_their_branch_alone(device: CpuDevice, body: str, check: bool) -> None:
    text = (
        "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
        f"namespace cg = cooperative_groups;\n__global__ void k(int *y) {{ const int lane = threadIdx.x; {body} }}"
    )
    got = run(device, text, {"y": np.zeros(32, np.int32)}, check)
    np.testing.assert_array_equal(got, CONVERGED[body])


GROUPS = {
    "struct S { float a; int b; double c; };  auto t = cg::tiled_partition<32>(cg::this_thread_block());"
    " S s = {1.0f, lane, 0.5}; s = t.shfl_xor(s, 1); s = t.shfl_down(s, 1); y[lane] = s.b;": np.where(
        LANES == 31, 30, (LANES + 1) ^ 1
    ),
    "struct S { int a, b, c; }; auto t = cg::tiled_partition<8>(cg::this_thread_block()); S s = {lane, 1, lane};"
    " s = cg::reduce(t, s, [](S p, S q) { return S{max(p.a, q.a), p.b + q.b, min(p.c, q.c)}; });"
    " y[lane] = s.a * 10000 + s.b * 100 + s.c;": (LANES // 8 * 8 + 7) * 10000 + 800 + LANES // 8 * 8,
    "cg::thread_group t = cg::tiled_partition(cg::this_thread_block(), 8); t.sync();"
    " y[lane] = (int)(t.size() * 100 + t.thread_rank());": 800 + LANES % 8,
    "cg::thread_group b = cg::this_thread_block(); b.sync(); y[lane] = (int)(b.size() + b.thread_rank());": 32 + LANES,
    "auto t = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::labeled_partition(t, lane / 5);"
    " y[lane] = (int)g.size();": np.where(LANES < 30, 5, 2),
    "auto t = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::binary_partition(t, lane < 9);"
    " y[lane] = (int)(g.size() * 100 + g.thread_rank());": np.where(LANES < 9, 900 + LANES, 2300 + LANES - 9),
    "y[lane] = 0; __syncwarp(); cg::invoke_one(cg::this_thread_block(), [&](int v) { y[0] = v; }, 7);": np.where(
        LANES, 0, 7
    ),
    "y[lane] = cg::this_thread().size() + cg::coalesced_threads().meta_group_size();": np.full(32, 2),
}


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("body", GROUPS)
def test_groups_of_every_kind(device: CpuDevice, body: str, check: bool) -> None:
    text = (
        "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
        f"namespace cg = cooperative_groups;\n__global__ void k(int *y) {{ const int lane = threadIdx.x; {body} }}"
    )
    np.testing.assert_array_equal(run(device, text, {"y": "i32[32]"}, check), GROUPS[body])


COMPILES = (
    "__builtin_assume(lane < 32); y[lane] = lane;",
    "for (const long long start = clock64(); clock64() - start < 10000000;) {} y[lane] = lane;",
    "__stcs(y + lane, (short)lane); __stcg(y + lane, (unsigned char)lane);",
    "const clock_t start = clock(); y[lane] = lane + (clock() < start);",
    "y[lane] = __shfl_sync(0xffffffffu, lane > 3, 4) ? lane : 0;",
    "y[lane] = lane; y[lane] = __ldcv(y + lane);",
    "y[lane] = sizeof(__CUDACC_VER__) > 1 ? lane : __CUDACC_VER_BUILD__;",
    "#if CUDART_VERSION >= 11000 && __CUDACC_VER_MAJOR__ >= 11\ny[lane] = lane;\n#endif\n",
    "#if CUDA_VERSION == CUDART_VERSION && !__CUDA_ARCH_HAS_FEATURE__(SM90_ALL)\ny[lane] = lane;\n#endif\n",
)


@EVERY
@pytest.mark.parametrize("body", COMPILES)
def test_what_kernels_take_for_granted_is_there(device: CpuDevice, body: str, check: bool) -> None:
    text = f"__global__ void k(int *y) {{ const int lane = threadIdx.x;\n{body}\n}}"
    np.testing.assert_array_equal(run(device, text, {"y": "i32[32]"}, check), LANES)


FLUSHING = """
__global__ void k(float *y, float *cells, float *two) {
    double *wide = reinterpret_cast<double *>(two);
    __shared__ float near[4];
    extern __shared__ float dynamic[];
    const float first[4] = {3e-39f, 6.8e-41f, -3e-39f, 2e-38f}, second[4] = {0.0f, -3.4e-41f, 2e-38f, -1.5e-38f};
    const int t = threadIdx.x;
    near[t] = dynamic[t] = first[t];
    atomicAdd(&near[t], second[t]);
    atomicAdd(&dynamic[t], second[t]);
    atomicAdd(&cells[t], first[t]);
    atomicAdd(&cells[t], second[t]);
    atomicAdd(wide, 1e-310);
    __syncthreads();
    y[t] = near[t], y[4 + t] = dynamic[t], y[8 + t] = cells[t];
    y[12 + t] = wide[0] != 0;
}
"""


@EVERY
def test_atomic_float_additions_flush_denormals_in_global_memory_alone(device: CpuDevice, check: bool) -> None:
    """PTX, atom.add.f32: of global memory subnormal inputs and results are flushed, of shared memory they are not."""
    first, second = (np.array(row, "f4") for row in ([3e-39, 6.8e-41, -3e-39, 2e-38], [0, -3.4e-41, 2e-38, -1.5e-38]))
    arguments: dict[str, Value] = {"y": "f32[16]", "cells": "f32[4] = 0", "two": "f32[2] = 0"}
    got = run(device, FLUSHING, arguments, check, block=4, shared=16)
    kept = first + second
    np.testing.assert_array_equal(got[:4], kept)
    np.testing.assert_array_equal(got[4:8], kept)
    np.testing.assert_array_equal(got[8:12], np.array([0, 0, 2e-38, 0], "f4"))
    assert (got[12:] == 1).all()


@EVERY
def test_how_one_operation_rounds_is_nothing_to_what_is_around_it_and_to_other_threads(
    device: CpuDevice, check: bool
) -> None:
    text = """
    __global__ void k(float *y, const float *x) {
        float sum = 0.0f;
        for (int i = 0; i < 64; i++) sum = __fadd_rz(sum, expf(x[i]));
        y[threadIdx.x] = expf(x[threadIdx.x]) / sum;
    }"""
    x = floats(64)
    y = run(device, text, {"y": "f32[64]", "x": x}, check, block=64)
    plain = run(device, text.replace("__fadd_rz(sum, expf(x[i]))", "1.0f"), {"y": "f32[64]", "x": x}, check, block=64)
    np.testing.assert_array_equal(y, plain / sum_toward_zero(plain))


def sum_toward_zero(terms: NDArray[np.generic]) -> np.float32:
    """Floats added one after the other, each sum cut."""
    total = np.float32(0)
    for term in terms.astype(np.float64):
        exact = float(total) + float(term)
        near = np.float32(exact)
        total = np.nextafter(near, np.float32(0)) if abs(float(near)) > abs(exact) else near
    return total
