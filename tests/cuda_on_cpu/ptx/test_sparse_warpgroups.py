"""wgmma.sp multiplies the elements of a sparse A that its metadata names, and refuses sums that need rounding."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import job_of

from kfuzz.devices import Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice

THREADS, COLUMNS = 128, 8


@dataclass(frozen=True)
class Kind:
    """A type of the factors, its bytes, the type of the sums, and the selector of the lanes whose metadata counts."""

    name: str
    bytes: int
    sums: str
    selector: int = 0
    a_in_registers: bool = True

    @property
    def k(self) -> int:
        return 64 // self.bytes


KINDS = (
    Kind("f16", 2, "f32", selector=1),
    Kind("bf16", 2, "f32", a_in_registers=False),
    Kind("f16", 2, "f16"),
    Kind("tf32", 4, "f32", selector=1),
    Kind("e4m3", 1, "f32"),
    Kind("s8", 1, "s32", a_in_registers=False),
)
INPUTS = 128 + 5 * THREADS
"""Words of a case: the shared B, four of A and the metadata of each thread."""


def kernel() -> str:
    lines = [
        "__device__ unsigned long long descriptor(const void *p, unsigned leading, unsigned stride) {",
        "  return (__cvta_generic_to_shared(p) & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 |",
        "         (unsigned long long)(stride >> 4) << 32;\n}",
        "__global__ void products(unsigned *y, const unsigned *x) {",
        "  __shared__ alignas(1024) unsigned a[512], b[128];\n  int t = threadIdx.x;\n  unsigned w[4], e;",
    ]
    for case, one in enumerate(KINDS):
        words = 2 if one.sums == "f16" else 4
        names = [f"%{i}" for i in range(words)]
        at = words + (4 if one.a_in_registers else 1)
        a = "{" + ", ".join(f"%{words + i}" for i in range(4)) + "}" if one.a_in_registers else f"%{words}"
        kinds = f"{one.sums}.{one.name}.{one.name}"
        rest = {"f16": ", 1, 1" + ", 0" * (1 if one.a_in_registers else 2), "s8": ""}.get(
            one.name.removeprefix("b"), ", 1, 1"
        )
        text = (
            f"wgmma.mma_async.sp.sync.aligned.m64n8k{one.k}.{kinds} "
            f"{{{', '.join(names)}}}, {a}, %{at}, %{at + 1}, {one.selector}, 1{rest};"
        )
        kind, letter = ("float", "f") if one.sums == "f32" else ("unsigned", "r")
        outs = ", ".join(f'"+{letter}"(d[{i}])' for i in range(words))
        of_a = ", ".join(f'"r"(w[{i}])' for i in range(4)) if one.a_in_registers else '"l"(descriptor(a, 1024, 128))'
        lines += [
            f"  x += {INPUTS if case else 0};",
            "  __syncthreads(); b[t] = x[t]; e = x[128 + 4 * 128 + t];",
            "  for (int i = 0; i < 4; i++) w[i] = x[128 + i * 128 + t];",
            "  // Word i of thread t: row t / 4 and eight below it, and then four lanes further along k.",
            "  for (int i = 0; i < 4; i++) a[i / 2 * 256 + (t / 32 * 2 + i % 2) * 32 + t % 32 / 4 * 4 + t % 4] = w[i];",
            '  asm volatile("fence.proxy.async;" ::: "memory"); __syncthreads();',
            f"  {{ {kind} d[{words}] = {{}};",
            '    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");',
            f'    asm volatile("{text}" : {outs} : {of_a}, "l"(descriptor(b, 128, 128)), "r"(e) : "memory");',
            '    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");',
            '    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");',
            f"    for (int i = 0; i < {words}; i++) reinterpret_cast<{kind} *>(y)[{case * 512} + i * 128 + t] = d[i];",
            f"    for (int i = {words}; i < 4; i++) y[{case * 512} + i * 128 + t] = 0; }}",
        ]
    return "\n".join([*lines, "}", ""])


def codes(kind: Kind, values: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Small integers as bytes of the type."""
    if kind.name == "s8":
        return values.astype(np.int8).view(np.uint8)
    if kind.name == "f16":
        return values.astype(np.float16).view(np.uint8)
    floats = values.astype(np.float32).view(np.uint32)
    if kind.name == "tf32":
        return floats.view(np.uint8)
    if kind.name == "bf16":
        return (floats >> 16).astype(np.uint16).view(np.uint8)
    size = np.abs(values)  # e4m3: 0 to 4, and its sign
    return (np.array([0, 0x38, 0x40, 0x44, 0x48])[size] | (values < 0) * 0x80).astype(np.uint8)


def metadata(kind: Kind, rng: np.random.Generator) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Each thread's word, and the element of k that each stored element of each row is; as ELayout_64x16, 64x32 and
    64x64 have it: value v of thread t is about row m and from element k on."""
    words = rng.integers(0, 1 << 32, THREADS, dtype=np.uint32)  # of lanes that are not asked
    places = np.zeros((64, kind.k // 2), np.int64)
    chunk = 2 if kind.bytes == 4 else 4
    for t in range(THREADS):
        lane, row = t % 4, t // 32 * 16 + t % 32 // 4
        if kind.bytes == 1:
            chunks = [(row + 8 * (lane % 2), 32 * (lane // 2) + 4 * v) for v in range(8)]
        elif lane // 2 == kind.selector:
            chunks = [(row + 8 * half, kind.k // 2 * (lane % 2) + chunk * v) for half in (0, 1) for v in range(4)]
        else:
            continue
        words[t] = 0
        for place, (m, k) in enumerate(chunks):
            if chunk == 2:
                second = int(rng.integers(2))
                nibble, found = (0b1110 if second else 0b0100), [k + second]
            else:
                low, high = (int(one) for one in rng.choice(4, 2, replace=False))
                nibble, found = low | high << 2, [k + low, k + high]
            words[t] |= np.uint32(nibble << 4 * place)
            places[m, k // 2 : k // 2 + len(found)] = found
    return words, places


def case(kind: Kind, rng: np.random.Generator) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """The words of a case, and the sums of each thread."""
    a, b = rng.integers(-4, 5, (64, kind.k // 2)), rng.integers(-4, 5, (COLUMNS, kind.k))
    words, places = metadata(kind, rng)
    full = np.zeros((64, kind.k), np.int64)
    np.put_along_axis(full, places, a, axis=1)
    product = (full @ b.T).astype(np.float64)
    shared = codes(kind, b).reshape(COLUMNS, 4, 16).transpose(1, 0, 2).reshape(-1).view(np.uint32)
    rows = codes(kind, a).reshape(64, 32).view(np.uint32)
    t = np.arange(THREADS)
    top = t // 32 * 16 + t % 32 // 4
    held = [rows[top + i % 2 * 8, t % 4 + i // 2 * 4] for i in range(4)]
    sums = np.array([product[top + i // 2 * 8, t % 4 * 2 + i % 2] for i in range(4)])
    return np.concatenate([shared, *held, words]), sums


def run(device: CpuDevice, x: NDArray[np.uint32]) -> Outcome:
    arguments = {"y": f"f32[{512 * len(KINDS)}]", "x": x.view(np.float32)}
    return device.run(
        job_of(kernel(), ("products",), "products", arguments, THREADS), Probe(check=True, runs=1, timeout=60.0)
    )


@pytest.mark.slow
def test_a_sparse_product_of_each_type_is_that_of_its_full_matrix() -> None:
    rng = np.random.default_rng(5)
    cases = [case(kind, rng) for kind in KINDS]
    with CpuDevice() as device:
        outcome = run(device, np.concatenate([words for words, _ in cases]))
        assert outcome.findings == ()
        got = outcome.runs[0].outputs["y"].reshape(len(KINDS), 4, THREADS)
        for kind, made, (_, wanted) in zip(KINDS, got, cases, strict=True):
            if kind.sums == "f16":
                halves = made[:2].copy().view(np.float16).reshape(2, THREADS, 2)
                found = np.array([halves[i // 2, :, i % 2] for i in range(4)]).astype(np.float64)
            else:
                found = made.view(np.int32).astype(np.float64) if kind.sums == "s32" else made.astype(np.float64)
            np.testing.assert_array_equal(found, wanted, err_msg=str(kind))
        rounded = np.concatenate([words for words, _ in cases])
        rounded[:128] &= 0xFFFF0000
        rounded[:128] |= 0x0001  # B: the least of halves, beside whole numbers
        assert "sums that are not exact" in str(run(device, rounded).refusal)
        undefined = np.concatenate([words for words, _ in cases])
        undefined[INPUTS - THREADS + 2] = 0  # lane 2 names element 0 twice
        assert "metadata or a selector that PTX leaves undefined" in str(run(device, undefined).refusal)
