"""The parts of the CUDA toolkit on the cpu device: cub's reductions, tiles larger than a warp, directed rounding."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from language_runs import EVERY, run
from planted_jobs import floats, job_of

from kfuzz.devices import Buffer, Job, Probe, Step
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.oracle.numbers.elements import F32, F64, Element

pytestmark = pytest.mark.slow


BLOCK_SUM = """
#include <cub/cub.cuh>
struct Largest {{
    __device__ float operator()(const float &a, const float &b) const {{ return fmaxf(a, b); }}
}};
__global__ void k(float *y, const float *x) {{
    using Reduce = cub::BlockReduce<float, {threads}{algorithm}>;
    __shared__ typename Reduce::TempStorage storage;
    float mine = x[threadIdx.x];
    {body}
}}
"""
STORE = "{{ float total = {call}; if (threadIdx.x == 0) y[{place}] = total; }}"


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("threads", [48, pytest.param(256, marks=pytest.mark.soak)])
@pytest.mark.parametrize("algorithm", ["", ", cub::BLOCK_REDUCE_RAKING"])
def test_cub_block_reduce(device: CpuDevice, check: bool, threads: int, algorithm: str) -> None:
    x = floats(threads)
    wanted = {
        "Reduce(storage).Sum(mine)": x.sum(),
        "Reduce(storage).Sum(mine, 33)": x[:33].sum(),
        "Reduce(storage).Reduce(mine, cub::Max())": x.max(),
        "Reduce(storage).Reduce(-mine, Largest(), 5)": -1.0,
    }
    body = " __syncthreads(); ".join(STORE.format(call=call, place=place) for place, call in enumerate(wanted))
    text = BLOCK_SUM.format(threads=threads, algorithm=algorithm, body=body)
    got = run(device, text, {"y": f"f32[{len(wanted)}]", "x": x}, check, block=threads)
    assert dict(zip(wanted, got.tolist(), strict=True)) == wanted


def test_shared_memory_of_cub_that_is_used_again_without_a_barrier_is_a_race(device: CpuDevice) -> None:
    twice = STORE.format(call="Reduce(storage).Sum(mine) + Reduce(storage).Sum(mine)", place=0)
    text = BLOCK_SUM.format(threads=256, algorithm="", body=twice)
    job = job_of(text, ("k",), "k", {"y": "f32[1]", "x": floats(256)}, block=256)
    found = device.run(job, Probe(check=True, runs=6)).findings
    assert {one.kind for one in found} == {"race"}
    assert {line for one in found for line in (one.line, one.other_line)} == {10}


@EVERY
@pytest.mark.parametrize("width", [4, 32])
def test_cub_warp_reduce(device: CpuDevice, check: bool, width: int) -> None:
    text = f"""
    #include <cub/warp/warp_reduce.cuh>
    struct MD {{ double m; float d; float e; }};
    struct Add {{
        __device__ MD operator()(const MD &a, const MD &b) const {{ return {{a.m + b.m, a.d + b.d, b.e}}; }}
    }};
    __global__ void k(float *y, const float *x) {{
        using Reduce = cub::WarpReduce<MD, {width}>;
        __shared__ typename Reduce::TempStorage storage[32];
        int lane = threadIdx.x % {width};
        MD total = Reduce(storage[threadIdx.x / {width}]).Reduce(MD{{x[threadIdx.x], 1.0f, x[threadIdx.x]}}, Add());
        if (lane == 0) y[threadIdx.x / {width}] = float(total.m) + total.d + total.e;
    }}"""
    x = floats(64)
    parts = x.reshape(-1, width)
    want = parts.sum(axis=1) + width + parts[:, -1]
    got = run(device, text, {"y": f"f32[{64 // width}]", "x": x}, check, block=64)
    np.testing.assert_array_equal(got, want)


TILES = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(float *y, const float *x) {{
    __shared__ cg::block_tile_memory<{threads}> memory;
    cg::thread_block block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<{size}>(block);
    float total = cg::reduce(tile, x[threadIdx.x], cg::plus<float>());
    float most = cg::reduce(tile, x[threadIdx.x], cg::greater<float>());
    int odd = tile.any(x[threadIdx.x] == 7.0f);
    if (tile.thread_rank() == 0) y[tile.meta_group_rank()] = total + most + 1000000.0f * odd;
}}
"""


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize(("threads", "size"), [(256, 64), (256, 256), (512, 128), (96, 64), (64, 32)])
def test_tiles_larger_than_a_warp_meet_in_the_memory_of_their_block(
    device: CpuDevice, check: bool, threads: int, size: int
) -> None:
    x = floats(threads)
    tiles = [x[first : first + size] for first in range(0, threads, size)]
    want = [tile.sum() + tile.max() + 1e6 * (7.0 in tile) for tile in tiles]
    text = TILES.format(threads=threads, size=size)
    got = run(device, text, {"y": f"f32[{len(tiles)}]", "x": x}, check, block=threads)
    np.testing.assert_array_equal(got, np.float32(want))


def test_a_large_tile_without_memory_is_a_trap(device: CpuDevice) -> None:
    text = TILES.format(threads=64, size=64).replace("this_thread_block(memory)", "this_thread_block()")
    found = device.run(job_of(text, ("k",), "k", {"y": "f32[1]", "x": floats(64)}), Probe()).findings
    assert found[0].kind == "trap"


@EVERY
def test_integers_of_64_bits_are_passed_whole(device: CpuDevice, check: bool) -> None:
    text = """__global__ void k(int *y, size_t n, long long m, int small) {
        y[0] = int(n >> 32); y[1] = int(m >> 32); y[2] = int(m); y[3] = small;
    }"""
    arguments = {"y": "i32[4]", "n": 5 << 32, "m": -(3 << 32) + 7, "small": -2}
    got = run(device, text, arguments, check, block=1)  # type: ignore[arg-type]  # words of planted_jobs
    assert got.tolist() == [5, -3, 7, -2]


HARD = (1.0, 3.0, -7.0, 0.1, 1e-30, 1e30, 1.1754944e-38, 1e-45, 3.4028235e38, -1.0000001, 1e-7)
OPERATIONS: dict[str, tuple[int, Callable[..., Fraction | None]]] = {
    "add": (2, lambda a, b: a + b),
    "sub": (2, lambda a, b: a - b),
    "mul": (2, lambda a, b: a * b),
    "div": (2, lambda a, b: a / b),
    "rcp": (1, lambda a: 1 / a),
    "fma": (3, lambda a, b, c: a * b + c),
    "sqrt": (1, lambda a: None if a < 0 else a),
}
TYPES: dict[str, tuple[str, type[np.floating], Element]] = {
    "float": ("f", np.float32, F32),
    "double": ("d", np.float64, F64),
}
NAMES = {("fma", "f"): "__fmaf", ("fma", "d"): "__fma"}


def is_rounded(mode: str, got: np.floating, exact: Fraction, power: int = 1) -> bool:
    """Whether a float is the last one on a mode's side of the exact value; of a root, `exact` is its square."""
    if mode == "rz":
        mode = "rd" if exact >= 0 else "ru"
    side, kind = (-1 if mode == "rd" else 1), type(got)
    with np.errstate(over="ignore"):
        beyond = np.nextafter(got, kind(-side * np.inf))
    at, next_one = (_power(one, power) for one in (got, beyond))
    return side * (at - exact) >= 0 > side * (next_one - exact)


def _power(value: np.floating, power: int) -> Fraction:
    """A float, or its square with its sign; infinities are far beyond whatever is compared with them."""
    if np.isinf(value):
        return Fraction(int(np.sign(value)) << 5000)
    exact = Fraction(float(value))
    return exact if power == 1 else exact * abs(exact)


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("scalar", TYPES)
def test_directed_rounding_is_exact(device: CpuDevice, check: bool, scalar: str) -> None:
    letter, kind, element = TYPES[scalar]
    hard = kind(HARD) if scalar == "float" else np.array([*HARD[:-1], 5e-324])
    a, b, c = (grid.reshape(-1) for grid in np.meshgrid(hard, hard, hard[:3], indexing="ij"))
    every = [(mode, operation) for mode in ("rz", "ru", "rd") for operation in OPERATIONS]
    outputs, lines = [], []
    for mode, operation in every:
        name = NAMES.get((operation, letter), f"__{letter}{operation}")
        arguments = ", ".join(("a[i]", "b[i]", "c[i]")[: OPERATIONS[operation][0]])
        outputs.append(f"{operation}_{mode}")
        lines.append(f"{operation}_{mode}[i] = {name}_{mode}({arguments});")
    parameters = ", ".join([*(f"{scalar} *{one}" for one in outputs), *(f"const {scalar} *{one}" for one in "abc")])
    body = f"for (int i = threadIdx.x; i < n; i += 32) {{ {' '.join(lines)} }}"
    text = f"__global__ void k({parameters}, int n) {{ {body} }}"
    given = [Buffer(role, element, one.shape, one) for role, one in {"a": a, "b": b, "c": c}.items()]
    made = [Buffer(name, element, a.shape, is_output=True) for name in outputs]
    step = Step("k", (1, 1, 1), (32, 1, 1), 0, (*outputs, "a", "b", "c", len(a)))
    job = Job("planted", Path("planted.cu"), text, (), 256, (*made, *given), (step,), ("k",))
    run = device.run(job, Probe(check=check)).runs[0]
    for (mode, operation), output in zip(every, outputs, strict=True):
        count, exact = OPERATIONS[operation]
        for i, value in enumerate(run.outputs[output]):
            operands = [Fraction(float(one[i])) for one in (a, b, c)[:count]]
            wanted = exact(*operands)
            if wanted is None or (wanted == 0 and mode == "rd"):  # x - x is -0 where it is rounded down
                continue
            assert is_rounded(mode, value, wanted, 2 if operation == "sqrt" else 1), (output, operands, value)


def test_a_result_that_is_rounded_the_other_way_is_seen() -> None:
    third = Fraction(1, 3)
    below = np.nextafter(np.float32(1 / 3), np.float32(0))
    assert is_rounded("rd", below, third)
    for mode, wrong in (("rd", np.float32(1 / 3)), ("ru", below), ("rz", np.nextafter(below, np.float32(0)))):
        assert not is_rounded(mode, wrong, third)
