"""The runtime on aarch64: cross-compiled, and run where it can be emulated."""

import shutil
import subprocess
from pathlib import Path

import pytest
from paths import DATA
from planted_jobs import floats, job_of

from kfuzz.devices.cpu import compiler, toolchain
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.cpu.sights import SIGHTS

CROSS, EMULATOR, ROOT = "aarch64-linux-gnu-g++", "qemu-aarch64", "/usr/aarch64-linux-gnu"
MISSING = [one for one in (CROSS, EMULATOR) if not shutil.which(one)]

KERNELS = """
__global__ void tree(float *y, const float *x) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int i = 128; i > 0; i /= 2) {
        if (t < i) {
            s[t] += s[t + i];
        }
        __syncthreads();
    }
    float value = x[t];
    for (int offset = 16; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
    }
    y[t] = s[0] + value;
}

__global__ void race(float *y, const float *x) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = x[t];
    y[t] = s[255 - t];
}

__global__ void outside(float *y, const float *x) {
    y[threadIdx.x] = x[threadIdx.x + 1];
}

__global__ void wild(float *y, const float *x) {
    y[static_cast<long long>(x[0]) << 40] = x[threadIdx.x];
}
"""
SIGHT_NAMES = ("none", *(one.name for one in SIGHTS))
TREE_SUM = 256 * (256 * 257 // 2) + sum(32 * 32 * (warp + 1) for warp in range(8))


@pytest.fixture
def cross(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The driver, compiled for aarch64; the compiler of the cpu device is the cross compiler meanwhile."""
    if MISSING:
        pytest.skip(f"no {' and no '.join(MISSING)} here: apt-get install g++-aarch64-linux-gnu qemu-user")
    monkeypatch.setenv("CXX", CROSS)
    driver = tmp_path / "driver"
    source = DATA / "aarch64_driver.cpp"
    command = [CROSS, "-std=c++17", "-O1", "-I", str(toolchain.HOME), str(source), "-o", str(driver), "-ldl"]
    subprocess.run(command, check=True)
    return driver


def emulated(driver: Path, entry: str, flavour: Flavour) -> list[tuple[int, int, str, float, float]]:
    """Status, findings, the first one's kind, and two numbers of y, under each schedule."""
    every = ("tree", "race", "outside", "wild")
    job = job_of(KERNELS, every, entry, {"y": "f32[256]", "x": floats(256)}, block=256)
    library = compiler.build_library(job, flavour)
    arrays = [str(word) for _, offset, size in library.shared_arrays for word in (offset, size)]
    where = [str(toolchain.build_runtime()), str(library.path), entry, str(library.anchor_offset)]
    command = [EMULATOR, "-L", ROOT, str(driver), *where, str(int(flavour == "check")), *arrays]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return [(int(a), int(b), SIGHT_NAMES[int(c)], float(d), float(e)) for a, b, c, d, e in rows]


@pytest.mark.parametrize("flavour", ["fast", "check"])
def test_fibers_barriers_and_shuffles_work_on_aarch64(cross: Path, flavour: Flavour) -> None:
    assert emulated(cross, "tree", flavour) == [(0, 0, "none", TREE_SUM, 256 * 257 // 2 + 256)] * 3


@pytest.mark.parametrize(
    ("entry", "kind", "status"),
    [("race", "uninitialised", 0), ("outside", "out_of_bounds", 0), ("wild", "illegal_address", 1)],
)
def test_accesses_are_checked_on_aarch64(cross: Path, entry: str, kind: str, status: int) -> None:
    for got_status, count, first, _, _ in emulated(cross, entry, "check"):
        assert (got_status, first) == (status, kind)
        assert count > 0


def test_a_fault_is_caught_on_aarch64(cross: Path) -> None:
    assert [(one[0], one[2]) for one in emulated(cross, "wild", "fast")] == [(1, "illegal_address")] * 3
