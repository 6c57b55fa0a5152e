"""Accesses, atomics and what warps do in PTX: their values, and that each is checked with its line and thread."""

import numpy as np
import pytest
from planted_jobs import Value, job_of
from ptx_kernels import ACCESSES, WARPS

from kfuzz.devices import Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice

IN_ACCESSES = ("accesses", "updates", "half_an_address")


def run(device: CpuDevice, text: str, every: tuple[str, ...], entry: str, arguments: dict[str, Value]) -> Outcome:
    return device.run(job_of(text, every, entry, arguments, block=32), Probe(check=True, runs=1, timeout=30.0))


@pytest.mark.slow
def test_loads_and_stores_of_every_width_and_space(device: CpuDevice) -> None:
    x = np.random.default_rng(3).integers(0, 1 << 32, 32, dtype=np.uint32)
    arguments: dict[str, Value] = {"y": "f32[256]", "x": x.view(np.float32)}
    outcome = run(device, ACCESSES, IN_ACCESSES, "accesses", arguments)
    assert outcome.findings == ()
    y = outcome.runs[0].outputs["y"].view(np.uint32).reshape(8, 32)
    t, four = np.arange(32, dtype=np.uint32), x.reshape(8, 4)
    np.testing.assert_array_equal(y[0], np.repeat(four @ np.array([1, 2, 3, 4], np.uint32), 4))
    signed_byte, byte, half = x.view(np.int8)[3::4], x.view(np.uint8)[2::4], x.view(np.int16)[1::2]
    wanted = signed_byte.astype(np.int32).view(np.uint32) ^ byte.astype(np.uint32) << 8
    np.testing.assert_array_equal(y[1], wanted ^ half.astype(np.int32).view(np.uint32) << 16)
    np.testing.assert_array_equal(y[2], np.repeat(four[:, 2] - four[:, 1], 4))
    s = np.stack([3 * t, t + 100], axis=1).reshape(-1)
    np.testing.assert_array_equal(y[3], s[63 - t] * 1000 + (t + 100) + 100000)
    np.testing.assert_array_equal(y[4], (t + 300) % 256 | 7 << 8 | t << 16)
    np.testing.assert_array_equal(y[5], np.repeat(four[:, 1] ^ four[:, 2], 4))
    np.testing.assert_array_equal(y[6], np.where(t < 8, x, 9))
    np.testing.assert_array_equal(y[7], t)


@pytest.mark.slow
def test_atomics_of_every_operation(device: CpuDevice) -> None:
    x = np.zeros(24, np.uint32)
    x[2] = x[5] = 0xFFFFFFFF
    x[1] = 0x80000000
    arguments: dict[str, Value] = {"y": "f32[56]", "x": x.view(np.float32)}
    outcome = run(device, ACCESSES, IN_ACCESSES, "updates", arguments)
    assert outcome.findings == ()
    y = outcome.runs[0].outputs["y"].view(np.uint32)
    assert set(y[:32].tolist()) == {64 + 0x5000}  # 32 times 2, and 32 as a half
    z = y[32:].tolist()
    assert z[:8] == [496, 0xFFFFFFF7, 0, 0xFFFFFFFF, 0, 969, 32 % 5, 100 - 31]
    assert z[8:11] == [0x43780000, 0x50004C00, 0x42004180]  # 248; 16 and 32 in 16 bits
    assert z[12:17] == [32, 32, 0x42000000, 0x42800000, 96]  # as floats 32 and 64
    assert z[18:20] == [7, 0]
    assert z[20:] == [0x42000000, 0x42800000, 0x43F80000, 0x44780000]  # 32 and 64, and the sums of what was there


@pytest.mark.slow
def test_a_generic_address_of_32_bits_has_zeros_above_them(device: CpuDevice) -> None:
    outcome = run(device, ACCESSES, IN_ACCESSES, "half_an_address", {"y": "f32[32]"})
    assert [one.kind for one in outcome.findings if one.severity == "error"] == ["illegal-address"]


@pytest.mark.slow
def test_warps_and_matrices(device: CpuDevice) -> None:
    x = np.random.default_rng(4).integers(0, 100, 32, dtype=np.uint32)
    outcome = run(device, WARPS, ("warps",), "warps", {"y": "f32[384]", "x": x.view(np.float32)})
    assert outcome.findings == ()
    y = outcome.runs[0].outputs["y"].view(np.uint32).reshape(12, 32)
    t = np.arange(32, dtype=np.uint32)
    np.testing.assert_array_equal(y[0], np.where(t < 27, x[np.minimum(t + 5, 31)] * 2 + 1, x * 2))
    up = np.where(t >= 2, x[np.maximum(t, 2) - 2], x)
    np.testing.assert_array_equal(y[1], x[t // 8 * 8 + 3] + 1000 * up + 1000000 * (t >= 2))
    below = x < 50
    np.testing.assert_array_equal(
        y[2], np.full(32, below.all() + 2 * below.any() + 4 * (below.all() or not below.any()) + 8)
    )
    np.testing.assert_array_equal(y[3], np.full(32, (below.astype(np.uint32) << t).sum(dtype=np.uint32)))
    same = ((x[:, None] % 4 == x[None, :] % 4) << t[None, :]).sum(axis=1, dtype=np.uint32)
    np.testing.assert_array_equal(y[4], same ^ np.uint32(0xFFFFFFFF))
    least = (int(x.min()) - 60) % (1 << 32)
    total = int(x.sum()) + 7 * least + 11 * int(np.bitwise_xor.reduce(x))
    np.testing.assert_array_equal(y[5], np.full(32, total % (1 << 32), np.uint32))
    np.testing.assert_array_equal(y[6], abs(x.astype(int) - 90).max() * 100 + (t == 0))
    np.testing.assert_array_equal(y[7], (x > 10).sum() + 100)
    matrix = np.arange(64).reshape(8, 8)
    across = matrix.T.reshape(32, 2)
    np.testing.assert_array_equal(y[8], across[:, 0] | across[:, 1] << 16)
    np.testing.assert_array_equal(y[9], (2 * t | (2 * t + 1) << 16) + t)
    np.testing.assert_array_equal(y[10], t + t + 32)
    np.testing.assert_array_equal(y[11], y[8])


KINDS = ("race", "out-of-bounds")  # a result that was never computed is reported as unwritten, too
BLOCK = """
__global__ void shifted(float *y, const float *x) {
  __shared__ float s[64];
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(s + threadIdx.x));
  unsigned next = static_cast<unsigned>(__cvta_generic_to_shared(s + (threadIdx.x + 1) % 64));
  asm volatile("{ .reg .f32 v; .reg .pred inside;\\n"
               "setp.lt.u32 inside, %4, 63;\\n"
               "mov.f32 v, 0f00000000;\\n"
               "GUARD ld.global.f32 v, [%0+4];\\n"
               "st.shared.f32 [%1], v;\\n"
               "MEET\\n"
               "ld.shared.f32 v, [%2];\\n"
               "st.global.f32 [%3], v; }"
               :: "l"(x + threadIdx.x), "r"(at), "r"(next), "l"(y + threadIdx.x), "r"(threadIdx.x));
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("guard", "meet", "found"),
    [
        ("@inside", "bar.sync 0;", set()),
        ("@inside", "", {("race", 10, 12)}),
        ("", "bar.sync 0;", {("out-of-bounds", 0, 9)}),
        ("@!inside", "bar.sync 0;", {("out-of-bounds", 0, 9)}),
    ],
)
def test_accesses_inside_a_block_of_ptx_have_their_line_and_thread(
    device: CpuDevice, guard: str, meet: str, found: set[tuple[str, int, int]]
) -> None:
    text = BLOCK.replace("GUARD", guard).replace("MEET", meet)
    x = np.arange(64, dtype=np.float32)
    job = job_of(text, ("shifted",), "shifted", {"y": "f32[64]", "x": x}, block=64)
    errors = [
        one for one in device.run(job, Probe(check=True, runs=1, timeout=30.0)).findings if one.severity == "error"
    ]
    assert {(one.kind, *sorted({one.line or 0, one.other_line or 0})) for one in errors if one.kind in KINDS} == found
    assert {one.thread for one in errors if one.kind == "out-of-bounds"} <= {(63, 0, 0)}


@pytest.mark.slow
def test_a_misaligned_vector_names_its_line(device: CpuDevice) -> None:
    store = 'asm volatile("st.global.v2.u32 [%0], {%1, %1};" :: "l"(y + 1), "r"(0));'
    text = f"\n__global__ void k(float *y) {{\n  {store}\n}}\n"
    outcome = run(device, text, ("k",), "k", {"y": "f32[4]"})
    assert {(one.kind, one.line) for one in outcome.findings if one.severity == "error"} == {("misaligned", 3)}
