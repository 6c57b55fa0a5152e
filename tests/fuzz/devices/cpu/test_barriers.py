"""Advice on barriers: lines as they stand in the text, the turn of the loop, and one barrier that all threads reach."""

from dataclasses import replace

import pytest
from planted_jobs import floats, job_of

from kfuzz.devices import Finding, Job, Probe
from kfuzz.devices.cpu.barriers import Repair, propose_repairs
from kfuzz.devices.cpu.device import CpuDevice

TILED = """\
__global__ void k(float *y, const float *a, const float *b, int n) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    float acc = 0.0f;
    for (int t = 0; t < n; t += TILE) {
        As[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            acc += As[threadIdx.y][i] * Bs[i][threadIdx.x];  // all of a row, all of a column
        }
    }
    y[row * n + col] = acc;
}"""
STORED = """\
__global__ void k(float *y, const float *x) {
    __shared__ float shared[64];
    shared[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = shared[0];
}"""
LAST_WARP = """\
__global__ void k(float *y, const float *x) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32) {
        const float other = s[threadIdx.x + 32];
        s[threadIdx.x] += other;
        y[threadIdx.x] = s[threadIdx.x ^ 1];
    }
}"""


def tiled(text: str, tile: int, n: int) -> Job:
    """The product of two square matrices by tiles."""
    arguments = {"y": f"f32[{n * n}]", "a": floats(n * n), "b": floats(n * n), "n": n}
    job = job_of(text.replace("TILE", str(tile)), ("k",), "k", arguments)
    return replace(job, steps=(replace(job.steps[0], grid=(n // tile, n // tile, 1), block=(tile, tile, 1)),))


def races(device: CpuDevice, job: Job) -> list[Finding]:
    findings = device.run(job, Probe(check=True, timeout=10.0)).findings
    return [one for one in findings if (one.kind, one.severity) == ("race", "error")]


@pytest.mark.slow
@pytest.mark.parametrize("tile", [4, 16])
def test_a_race_with_the_next_turn_of_a_loop_names_one_barrier_for_all_its_pairs_of_lines(
    device: CpuDevice, tile: int
) -> None:
    found = races(device, tiled(TILED, tile, 2 * tile))
    assert len(found) > 1
    for one in found:
        line, array = min(one.line or 0, one.other_line or 0), one.array
        again = (
            f"in the next turn of the loop line {line} overwrites {array}[{one.index}], which line 11 may still read"
        )
        assert f"missing barrier: {again}: put `__syncthreads()` after line 12" in one.message
        assert "__syncwarp()" not in one.message
        assert "between" not in one.message, "a barrier stands there"


@pytest.mark.slow
def test_the_barrier_that_the_advice_names_removes_the_race(device: CpuDevice) -> None:
    lines = TILED.split("\n")
    assert lines[11].strip() == "}"
    right = "\n".join([*lines[:12], "        __syncthreads();", *lines[12:]])
    assert races(device, tiled(right, 16, 32)) == []


@pytest.mark.parametrize("block", [64, 16])
def test_the_lines_of_a_race_come_as_they_stand_in_the_text(device: CpuDevice, block: int) -> None:
    found = races(device, job_of(STORED, ("k",), "k", {"y": f"f32[{block}]", "x": floats(block)}, block=block))
    assert {(one.line, one.other_line) for one in found} == {(3, 4), (4, 3)}
    for one in found:
        assert "line 3 writes shared[0] and line 4 reads it: put `__syncthreads()` after line 3 (kfuzz" in one.message


def test_no_barrier_of_the_block_is_named_where_one_warp_alone_comes(device: CpuDevice) -> None:
    found = races(device, job_of(LAST_WARP, ("k",), "k", {"y": "f32[32]", "x": floats(64)}, block=64))
    assert found
    assert all("line 7 writes" in one.message and "put `__syncwarp()` after line 7" in one.message for one in found)


def test_a_barrier_comes_after_the_whole_branch_and_keeps_each_line_where_it_is() -> None:
    text = "void k() {\n  if (a) {\n    s = 1;  // first\n  } else {\n    s = 2;\n  }\n  x = s;\n}"
    (repair,) = propose_repairs(text, 7, 3, in_one_warp=False)
    assert repair == Repair("__syncthreads()", between=6)
    assert repair.write(text) == text.replace("  }\n  x", "  } __syncthreads(); \n  x")


def test_lines_of_two_functions_get_no_barrier() -> None:
    text = "namespace n {\nvoid f() {\n  s = 1;\n}\nvoid g() {\n  x = s;\n}\n}"
    assert list(propose_repairs(text, 3, 6, in_one_warp=True)) == []
