"""ldmatrix and stmatrix of elements of 8, 6 and 4 bits: which lane has which element."""

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import job_of

from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice

LOADS = (("m8n16.x1", "b8x16.b4x16_p64", 1), ("m8n16.x2", "b8x16.b6x16_p32", 2), ("m8n16.x4", "b8x16.b4x16_p64", 4),
         ("m16n16.x1.trans", "b8", 2), ("m16n16.x2.trans", "b8x16.b6x16_p32", 4),
         ("m16n16.x2.trans", "b8x16.b4x16_p64", 4))  # fmt: skip
STORES = (1, 2, 4)


def kernel() -> str:
    lines = []
    words = 0
    for shape, kind, count in LOADS:
        places = ", ".join(f"%{i}" for i in range(count))
        registers = ", ".join(f'"=r"(r[{i}])' for i in range(count))
        lines.append(f'  asm volatile("ldmatrix.sync.aligned.{shape}.shared.{kind} {{{places}}}, [%{count}];"')
        lines.append(f'               : {registers} : "r"(at));')
        lines.append(f"  for (int i = 0; i < {count}; i++) y[({words} + i) * 32 + threadIdx.x] = r[i];")
        words += count
    for count in STORES:
        places = ", ".join(f"%{i + 1}" for i in range(count))
        registers = ", ".join(f'"r"(x[{i} * 32 + threadIdx.x])' for i in range(count))
        lines.append("  __syncwarp();")
        lines.append(f'  asm volatile("stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8 [%0], {{{places}}};"')
        lines.append(f'               :: "r"(at), {registers});')
        lines.append("  __syncwarp();")
        lines.append(f"  for (int i = threadIdx.x; i < {count} * 32; i += 32) y[{words} * 32 + i] = s[i];")
        words += count
    return "\n".join((
        "__global__ void matrices(unsigned *y, const unsigned *x) {",
        "  __shared__ __align__(16) unsigned s[128];",
        "  unsigned r[4], at = static_cast<unsigned>(__cvta_generic_to_shared(s + threadIdx.x * 4));",
        "  for (int i = threadIdx.x; i < 128; i += 32) s[i] = x[i];",
        "  __syncwarp();", *lines, "}", "",
    ))  # fmt: skip


def elements(x: NDArray[np.uint32], kind: str) -> NDArray[np.uint32]:
    """The elements of the 32 rows of 16 bytes."""
    size = int(kind.partition(".b")[2][:1] or 8)
    bits = np.unpackbits(x.view(np.uint8).reshape(32, 16), axis=1, bitorder="little")[:, : 16 * size]
    return (bits.reshape(32, 16, size) << np.arange(size)).sum(axis=2).astype(np.uint32)


def packed(parts: list[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    return sum((part << np.uint32(8 * place) for place, part in enumerate(parts)), np.zeros(32, np.uint32))


def loaded(x: NDArray[np.uint32]) -> list[NDArray[np.uint32]]:
    """A lane has four adjacent elements of m8n16; of m16n16, as a GPU shows, four rows of a column and one 8 on."""
    made, lane = [], np.arange(32)
    for shape, kind, count in LOADS:
        rows = elements(x, kind)
        for register in range(count):
            if "trans" in shape:
                first, column = register // 2 * 16 + lane % 4 * 4, lane // 4 + register % 2 * 8
                made.append(packed([rows[first + i, column] for i in range(4)]))
            else:
                made.append(packed([rows[register * 8 + lane // 4, lane % 4 * 4 + i] for i in range(4)]))
    return made


def stored(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Each matrix is 16 x 8, held as the sums of an mma are: its columns become rows."""
    made, lane = [], np.arange(32)
    for count in STORES:
        matrices = np.zeros((count, 16, 8), np.uint8)
        for matrix in range(count):
            held = x[matrix * 32 + lane].view(np.uint8).reshape(32, 4)
            for i in range(4):
                matrices[matrix, lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2] = held[:, i]
        made.append(np.ascontiguousarray(matrices.transpose(0, 2, 1)).view(np.uint32).reshape(-1))
    return np.concatenate(made)


@pytest.mark.slow
def test_every_lane_has_its_elements(device: CpuDevice) -> None:
    x = np.random.default_rng(1).integers(0, 1 << 32, 128, dtype=np.uint32)
    wanted = np.concatenate([*loaded(x), stored(x)])
    job = job_of(kernel(), ("matrices",), "matrices", {"y": f"u32[{len(wanted)}]", "x": x}, block=32)
    outcome = device.run(job, Probe(check=True, runs=1, timeout=20.0))
    assert outcome.findings == ()
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"].view(np.uint32), wanted)
