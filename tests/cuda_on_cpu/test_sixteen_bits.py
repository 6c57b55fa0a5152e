"""__half and __nv_bfloat16 on the cpu device: every operation rounds once, as exact fractions show."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import Value, job_of

from kfuzz.claims.language.fill import nearest
from kfuzz.devices import ClaimError, Probe
from kfuzz.devices.cpu.compiler import build_library
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.oracle.numbers.elements import FORMATS, values

Integers = NDArray[np.uint32]
pytestmark = pytest.mark.slow

NAMES = {"f16": ("__half", "half"), "bf16": ("__nv_bfloat16", "bfloat16")}
EACH = pytest.mark.parametrize("kind", NAMES)
BLOCK = 256
FLOAT = "__uint_as_float(a[i])"
BODIES = {
    # what thread i stores, where p, q, r are made of the low bits of a, b, c; T, T2, N, N2 stand for the type's names
    "widened": "__float_as_uint(static_cast<float>(p))",
    "narrowed": "<BITS>(<T>(static_cast<float>(p)))",
    "from float": f"<BITS>(<T>({FLOAT}))",
    "from double": f"<BITS>(<T>(static_cast<double>({FLOAT})))",
    **{f"from float {mode}": f"<BITS>(__float2<N>_{mode}({FLOAT}))" for mode in ("rd", "ru", "rz", "rn")},
    "from unsigned": "<BITS>(__uint2<N>_rn(a[i]))",
    "from long": "<BITS>(__ll2<N>_rn((static_cast<long long>(a[i]) << 20) + 1))",
    "to int": "__<N>2int_rn(__int2<N>_rn(a[i]))",
    "sum": "<BITS>(p + q)",
    "difference": "<BITS>(__hsub(p, q))",
    "product": "<BITS>(p * q)",
    "quotient": "<BITS>(__hdiv(p, q))",
    "fused": "<BITS>(__hfma(p, q, r))",
    "fused pair": "<BITS>(__hfma2(<T2>(q, p), <T2>(r, q), <T2>(p, r)).y)",
}


WORDS = {
    # true of p = 0.5 and q = 1.5
    "comparisons": "__hlt(p, q) && !__hgt(p, q) && __hle(p, p) && __hne(p, q) && p < q && p != q && -q < -p",
    "unordered": "!__hne(p, nan) && __hneu(p, nan) && !__hge(nan, p) && __hgeu(nan, p) && nan != nan && __hisnan(nan)",
    "maxima": "__hmax(p, nan) == p && __hisnan(__hmax_nan(p, nan)) && __hmin(nan, q) == q && "
    "__<N>_as_ushort(__hmax(<T>(-0.0f), <T>(0.0f))) == 0",
    "infinities": "__hisinf(<T>(1e39)) == 1 && __hisinf(<T>(-1e39)) == -1 && __hisinf(p) == 0",
    "pairs": "__low2<N>(pair) == p && __high2float(pair) == 1.5f && __lowhigh2highlow(pair) == "
    "<T2>(q, p) && __hbeq2(pair, pair) && !__hbeq2(pair, __<N>2<N2>(p)) && "
    "__hgt2_mask(pair, __<N>2<N2>(p)) == 0xffff0000u",
    "arithmetic of pairs": "pair + pair == __hmul2(pair, __float2<N2>_rn(2.0f)) && -pair == __hneg2(pair) && "
    "__habs2(-pair) == pair && h2rcp(pair).x == hrcp(p) && __hmax2(pair, __lowhigh2highlow(pair)) == <T2>(q, q)",
    "saturation": "__hadd_sat(q, q) == <T>(1) && __hsub_sat(p, q) == <T>(0) && __hfma_relu(p, -q, <T>(0)) == <T>(0)",
    "functions": "hsqrt(<T>(4.0f)) == <T>(2) && hrsqrt(<T>(0.25f)) == <T>(2) && hexp2(<T>(3)) == <T>(8) && "
    "hlog(<T>(1.0)) == <T>(0) && hfloor(<T>(-1.5)) == <T>(-2) && hexp(<T>(0)) == <T>(1) && h2exp(pair).x == hexp(p)",
    "assignments": "[&] { <T> s = p; s += q; s *= <T>(2); ++s; <T2> t = pair; t -= pair; int n = <T>(2.75f); "
    "return s == (p + q) * <T>(2) + <T>(1) && t == <T2>(0, 0) && n == 2 && (s ? true : false); }()",
    "shuffles": "__shfl_xor_sync(0xffffffffu, p, 1) == p && __shfl_down_sync(0xffffffffu, pair, 1) == pair",
}
BODIES["words"] = " | ".join(f"(({one}) ? 0u : {1 << bit}u)" for bit, one in enumerate(WORDS.values()))


def of_type(kind: str, text: str) -> str:
    """A body or a kernel with the names of the type in it."""
    name, short = NAMES[kind]
    words = {"T2": f"{name}2" if kind == "f16" else "__nv_bfloat162", "N2": f"{short}2", "T": name, "N": short}
    for word, meant in {"BITS": f"__{short}_as_ushort", **words}.items():
        text = text.replace(f"<{word}>", meant)
    return text


def kernel(kind: str, name: str) -> str:
    return of_type(
        kind,
        f"__global__ void {kind}_{name.replace(' ', '_')}(unsigned *y, const unsigned *a, const unsigned *b, "
        f"const unsigned *c, int size) {{\nconst int i = blockIdx.x * {BLOCK} + threadIdx.x;\nif (i >= size) return;\n"
        + "".join(
            f"const <T> {p} = __ushort_as_<N>(static_cast<unsigned short>({a}[i]));\n" for p, a in ("pa", "qb", "rc")
        )
        + f"const <T> nan = <T>(NAN);\nconst <T2> pair = __halves2<N2>(p, q);\n"
        f"y[i] = {BODIES[name]};\n(void)p; (void)q; (void)r; (void)nan; (void)pair;\n}}\n",
    )


VECTORS = """
__global__ void <N>_vectors(float *y, const <T> *x) {
    __shared__ <T> sum;
    __shared__ <T2> sums;
    if (threadIdx.x == 0) { sum = <T>(0); sums = <T2>(0, 0); }
    __syncthreads();
    const uint4 eight = reinterpret_cast<const uint4 *>(x)[threadIdx.x];
    const <T2> *pairs = reinterpret_cast<const <T2> *>(&eight);
    <T2> total = __ldg(pairs);
    for (int i = 1; i < 4; ++i) total = __hadd2(total, pairs[i]);
    atomicAdd(&sum, total.x + total.y);
    atomicAdd(&sums, total);
    __syncthreads();
    y[threadIdx.x] = __<N>2float(sum) + 1000.0f * static_cast<float>(sums.x + sums.y);
}
"""
SOURCE = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + "".join(
    of_type(kind, VECTORS) + "".join(kernel(kind, name) for name in BODIES) for kind in NAMES
)
ENTRIES = tuple(f"{kind}_{name.replace(' ', '_')}" for kind in NAMES for name in BODIES)
ENTRIES += tuple(f"{short}_vectors" for _, short in NAMES.values())


def run(device: CpuDevice, kind: str, name: str, inputs: dict[str, Integers], check: bool = False) -> Integers:
    """y of the kernel of this name, the bits of whose inputs are a, b, c."""
    size = inputs["a"].size
    every = {"a": inputs["a"], "b": inputs.get("b", inputs["a"]), "c": inputs.get("c", inputs["a"])}
    arguments: dict[str, Value] = {"y": f"u32[{size}]", **every, "size": size}
    kernel = f"{kind}_{name.replace(' ', '_')}"
    job = job_of(SOURCE, ENTRIES, kernel, arguments, BLOCK, -(-size // BLOCK))
    outcome = device.run(job, Probe(check=check, runs=2))
    assert outcome.findings == ()
    return outcome.runs[0].outputs["y"].astype(np.uint32)


def numbers(kind: str, bits: Integers) -> NDArray[np.float64]:
    """What numbers these bits are, by numpy and by shifts."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return values(bits.astype(np.uint16).view(np.float16) if kind == "f16" else bits.astype(np.uint16))


def hostile(kind: str, count: int, seed: int) -> Integers:
    """Bits of finite numbers: any, denormal ones, near 1, the largest."""
    rng = np.random.default_rng(seed)
    digits = FORMATS[kind].p
    infinity = ((1 << (17 - digits)) - 2) << (digits - 2)
    sorts = (
        rng.integers(0, infinity, count),
        rng.integers(0, 1 << (digits - 1), count),
        (infinity >> 1) + rng.integers(-(1 << digits), 1 << digits, count),
        infinity - 1 - rng.integers(0, 1 << (digits + 1), count),
    )
    chosen = np.choose(rng.integers(0, len(sorts), count), sorts)
    return (chosen | rng.integers(0, 2, count) << 15).astype(np.uint32)


def nearest_bits(kind: str, exact: Fraction, negative_zero: bool) -> int:
    """The bits of a fraction rounded once."""
    element = FORMATS[kind]
    sign = exact < 0 or (exact == 0 and negative_zero)
    return min(nearest(abs(exact), element), element.infinity) | sign << 15


@pytest.mark.slow
@EACH
def test_every_number_widens_and_comes_back(device: CpuDevice, kind: str) -> None:
    every = np.arange(1 << 16, dtype=np.uint32)
    wide = run(device, kind, "widened", {"a": every}).view(np.float32)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wide.astype(np.float64), numbers(kind, every))
    back = run(device, kind, "narrowed", {"a": every})
    is_nan = np.isnan(numbers(kind, every))
    np.testing.assert_array_equal(back[~is_nan], every[~is_nan])
    assert set(back[is_nan].tolist()) == {0x7FFF}


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("source", ["float", "double"])
def test_a_conversion_rounds_to_nearest_even(device: CpuDevice, kind: str, source: str) -> None:
    low = np.unique(np.concatenate([hostile(kind, 3000, 1) & 0x7FFF, np.arange(64, dtype=np.uint32)]))
    low = low[np.isfinite(numbers(kind, low + 1))]
    middle = ((numbers(kind, low) + numbers(kind, low + 1)) / 2).astype(np.float32)
    near = np.concatenate([middle, np.nextafter(middle, np.float32(0)), np.nextafter(middle, np.float32(np.inf))])
    near = np.concatenate([near, -near, np.float32([65519.99, 65520, 3.3895e38, 3.4e38, 0.0])])
    got = run(device, kind, f"from {source}", {"a": near.view(np.uint32)})
    want = [nearest_bits(kind, Fraction(float(x)), bool(np.signbit(x))) for x in near]
    np.testing.assert_array_equal(got, want)


EXACT: dict[str, Callable[[Fraction, Fraction, Fraction], Fraction]] = {
    "sum": lambda a, b, c: a + b,
    "difference": lambda a, b, c: a - b,
    "product": lambda a, b, c: a * b,
    "quotient": lambda a, b, c: a / b,
    "fused": lambda a, b, c: a * b + c,
    "fused pair": lambda a, b, c: a * b + c,
}


@EACH
@pytest.mark.parametrize("operation", EXACT)
def test_an_operation_rounds_once(device: CpuDevice, kind: str, operation: str) -> None:
    a, b, c = (hostile(kind, 4000, seed) for seed in (2, 3, 4))
    b = np.where(numbers(kind, b) == 0, np.uint32(1), b)
    got = run(device, kind, operation, {"a": a, "b": b, "c": c})
    for one, x, y, z in zip(got.tolist(), *(numbers(kind, bits) for bits in (a, b, c)), strict=True):
        result = EXACT[operation](Fraction(x), Fraction(y), Fraction(z))
        if result != 0:  # the sign of an exact zero is IEEE's, and float's
            assert one == nearest_bits(kind, result, False), (x, y, z)


@EACH
def test_a_fused_product_beside_halfway_is_not_rounded_twice(device: CpuDevice, kind: str) -> None:
    """(1 + v)(1 + v) = 1 + 2 v + v^2 is cut by the last place where c = -v^2 plus the least number there is."""
    digits = FORMATS[kind].p
    one = ((1 << (15 - digits)) - 1) << (digits - 1)
    half_place = one - ((digits) << (digits - 1))  # 2^-digits: 1 + it is halfway to the next number
    cases = np.array([(one, one, 1), (one, half_place, one), (half_place, one, one | 1)], np.uint32)
    a, b, c = (np.ascontiguousarray(column) for column in cases.T)
    got = run(device, kind, "fused", {"a": a, "b": b, "c": c})
    for bits, *terms in zip(got.tolist(), *(numbers(kind, x) for x in (a, b, c)), strict=True):
        x, y, z = map(Fraction, terms)
        assert bits == nearest_bits(kind, x * y + z, False)


@EACH
def test_directed_conversions_enclose(device: CpuDevice, kind: str) -> None:
    x = np.random.default_rng(5).standard_normal(1000).astype(np.float32) * np.float32(1e-6)
    x = np.concatenate([x, np.float32([1e30, -1e30, 3.4e38, -3.4e38])])
    ends = {}
    for mode in ("rd", "ru", "rz", "rn"):
        ends[mode] = numbers(kind, run(device, kind, f"from float {mode}", {"a": x.view(np.uint32)}))
    assert (ends["rd"] <= x).all()
    assert (x <= ends["ru"]).all()
    np.testing.assert_array_equal(ends["rz"], np.where(x > 0, ends["rd"], ends["ru"]))
    np.testing.assert_array_equal(ends["rn"], FORMATS[kind].round(x.astype(np.float64)))


@EACH
def test_integers_are_rounded_from_their_own_digits(device: CpuDevice, kind: str) -> None:
    rng = np.random.default_rng(6)
    a = np.concatenate([rng.integers(0, 1 << 32, 500), rng.integers(0, 1 << 12, 500)]).astype(np.uint32)
    element = FORMATS[kind]
    got = run(device, kind, "from unsigned", {"a": a})
    assert got.tolist() == [min(nearest(Fraction(int(x)), element), element.infinity) for x in a]
    got = run(device, kind, "from long", {"a": a})
    assert got.tolist() == [min(nearest(Fraction((int(x) << 20) + 1), element), element.infinity) for x in a]
    small = np.arange(0, 4096, dtype=np.uint32)
    rounded = run(device, kind, "to int", {"a": small})
    np.testing.assert_array_equal(rounded, FORMATS[kind].round(small.astype(np.float64)))


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("check", [False, True], ids=["fast", "check"])
def test_the_words_of_cuda(device: CpuDevice, kind: str, check: bool) -> None:
    a, b = (np.full(32, np.float32(x).view(np.uint32) >> 16) for x in (0.5, 1.5))
    if kind == "f16":
        a, b = (np.full(32, np.float16(x).view(np.uint16)) for x in (0.5, 1.5))
    got = run(device, kind, "words", {"a": a.astype(np.uint32), "b": b.astype(np.uint32)}, check)
    wrong = [name for bit, name in enumerate(WORDS) if (got.astype(int) >> bit & 1).any()]
    assert not wrong


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("check", [False, True], ids=["fast", "check"])
def test_vector_loads_and_atomic_additions(device: CpuDevice, kind: str, check: bool) -> None:
    exact = np.tile(np.arange(1, 9), 4)  # small whole numbers: nothing is rounded
    form = {"f16": np.float16(exact), "bf16": (np.float32(exact).view(np.uint32) >> 16).astype(np.uint16)}[kind]
    job = job_of(SOURCE, ENTRIES, f"{NAMES[kind][1]}_vectors", {"y": "f32[4]", "x": form}, block=4)
    outcome = device.run(job, Probe(check=check))
    assert outcome.findings == ()
    for one in outcome.runs:
        np.testing.assert_array_equal(one.outputs["y"], np.full(4, 144 * 1001))


def test_what_nvcc_finds_ambiguous_is_so_here(device: CpuDevice) -> None:
    text = "#include <cuda_fp16.h>\n__global__ void k(float *y) { y[0] = __half(1.0f) + 1.0f; }"
    with pytest.raises(ClaimError, match="ambiguous"):
        device.run(job_of(text, ("k",), "k", {"y": "f32[1]"}), Probe())


def test_numbers_of_16_bits_say_that_they_do_not_count() -> None:
    """A sum of halves as floats would seem to be one of constants, with no additions at all."""
    text = "#include <cuda_fp16.h>\n__global__ void k(float *y) { y[0] = __half2float(__half(1.0f)) + y[1]; }"
    with pytest.raises(ClaimError, match="do not count"):
        build_library(job_of(text, ("k",), "k", {"y": "f32[2]"}), "count")
