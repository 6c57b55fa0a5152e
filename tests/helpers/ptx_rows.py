"""Runs PTX instructions on many values in one compile, and compares each with a definition in plain Python.

A row is an instruction, the kinds of its operands, and what it means on their bits.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from planted_jobs import job_of

from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice

Wanted = int | tuple[int | None, ...] | None
"""The bits of a result, or of each of its lanes; None is any NaN."""
THREADS = 96
SIZES = {"r": 32, "l": 64, "h": 16, "f": 32, "d": 64}
_CPP = {"r": "unsigned", "l": "unsigned long long", "h": "unsigned short", "f": "float", "d": "double"}
_EDGES = {
    size: (
        0,
        1,
        2,
        3,
        size // 2,
        size - 1,
        size,
        size + 1,
        2 * size - 1,
        255,
        256,
        half - 1,
        half,
        half + 1,
        2 * half - 1,
    )
    for size, half in ((16, 1 << 15), (32, 1 << 31), (64, 1 << 63))
}
_FRACTIONS = {"f32": (32, 23), "f64": (64, 52), "f16": (16, 10), "bf16": (16, 7)}
"""The bits of a float and of its fraction."""


def float_edges(form: str) -> tuple[int, ...]:
    """Zeros, the least and the greatest subnormal and normal numbers, 1 and its neighbours, 1/2, infinities, NaN."""
    bits, fraction = _FRACTIONS[form]
    sign, least = 1 << (bits - 1), 1 << fraction
    infinity = sign - least
    one = ((1 << (bits - 2 - fraction)) - 1) << fraction
    sizes = (0, 1, least - 1, least, one - least, one - 1, one, one + 1, one + least, infinity - 1, infinity)
    return (*sizes, *(sign | size for size in sizes), infinity | least >> 1)


@dataclass(frozen=True)
class Checked:
    """`text` with operands %0, %1, ...; `inputs` and `output` are letters of constraints with the kind of their values.

    An input "r" takes integers, "r:9" those below 9, "f:f32" floats of that format, "r:f16x2" two of them. `meaning`
    gets bits and gives bits.
    """

    text: str
    inputs: tuple[str, ...]
    output: str
    meaning: Callable[..., Wanted]
    lanes: str = ""
    """The float format of the result, if a NaN may have any bits."""


def values(kind: str, rng: random.Random) -> list[int]:
    """Bits of one operand for all threads: edges, and random ones of the same kind."""
    letter, _, form = kind.partition(":")
    size = SIZES[letter]
    if form.endswith("x2"):
        low, high = values(_letter(form), rng), values(_letter(form), rng)
        return [a | b << size // 2 for a, b in zip(low, high, strict=True)]
    if form in _FRACTIONS:
        edges = float_edges(form)
        made = [rng.choice(edges) if rng.random() < 0.45 else _near_one(form, rng) for _ in range(THREADS)]
        return [one & ((1 << size) - 1) for one in made]
    if form.isdigit():
        return [rng.randrange(int(form)) for _ in range(THREADS)]
    return [rng.choice(_EDGES[size]) if rng.random() < 0.5 else rng.getrandbits(size) for _ in range(THREADS)]


def _letter(form: str) -> str:
    plain = form.removesuffix("x2")
    return {"f16": "h:f16", "bf16": "h:bf16", "f32": "f:f32"}[plain]


def _near_one(form: str, rng: random.Random) -> int:
    """A float whose exponent is mostly near that of 1, so that sums and products stay finite."""
    bits, fraction = _FRACTIONS[form]
    width = bits - 1 - fraction
    bias = (1 << (width - 1)) - 1
    if rng.random() < 0.25:
        return rng.getrandbits(bits)
    exponent = bias + rng.randint(-min(bias - 1, fraction + 2), min(bias - 1, fraction + 2))
    return rng.getrandbits(1) << (bits - 1) | exponent << fraction | rng.getrandbits(fraction)


def kernel(rows: Sequence[Checked], name: str) -> str:
    """A kernel that runs every row, each on its own inputs."""
    lines = [f"__global__ void {name}(unsigned long long *y, const unsigned long long *x) {{", "  int t = threadIdx.x;"]
    at = 0
    for number, row in enumerate(rows):
        operands = []
        for kind in row.inputs:
            letter = kind[0]
            operands.append(f'"{letter}"({_from_bits(letter, f"x[{at} * {THREADS} + t]")})')
            at += 1
        out = row.output[0]
        statement = f'asm volatile("{row.text}" : "={out}"(d) : {", ".join(operands)});'
        lines.append(f"  {{ {_CPP[out]} d; {statement} y[{number} * {THREADS} + t] = {_to_bits(out)}; }}")
    return "\n".join([*lines, "}", ""])


def _from_bits(letter: str, word: str) -> str:
    made = {"f": f"__uint_as_float(static_cast<unsigned>({word}))", "d": f"__longlong_as_double({word})"}
    return made.get(letter, f"static_cast<{_CPP[letter]}>({word})")


def _to_bits(letter: str) -> str:
    made = {"f": "__float_as_uint(d)", "d": "static_cast<unsigned long long>(__double_as_longlong(d))"}
    return made.get(letter, "d")


def find_differences(device: CpuDevice, rows: Sequence[Checked], seed: int, check: bool = False) -> list[str]:
    """The rows whose results are not what they mean, with the first inputs that show it."""
    rng = random.Random(seed)  # noqa: S311 -- inputs of a test
    given = [[values(kind, rng) for kind in row.inputs] for row in rows]
    x = np.array([one for row in given for one in row], dtype=np.uint64).reshape(-1)
    text = kernel(rows, "rows")
    job = job_of(text, ("rows",), "rows", {"y": f"f64[{len(rows) * THREADS}]", "x": x.view(np.float64)}, block=THREADS)
    outcome = device.run(job, Probe(check=check, runs=1, timeout=60.0))
    found = [f"{one.kind} at line {one.line}" for one in outcome.findings]
    y = outcome.runs[0].outputs["y"].view(np.uint64).reshape(len(rows), THREADS)
    for row, inputs, got in zip(rows, given, y, strict=True):
        for thread, bits in enumerate(zip(*inputs, strict=True)):
            wanted = row.meaning(*bits)
            if not is_same(int(got[thread]), wanted, row):
                shown = ", ".join(f"{one:#x}" for one in bits)
                want = [wanted] if not isinstance(wanted, tuple) else wanted
                told = ", ".join("NaN" if one is None else f"{one:#x}" for one in want)
                found.append(f"{row.text} of {shown}: {int(got[thread]):#x}, not {told}")
                break
    return found


def is_same(got: int, wanted: Wanted, row: Checked) -> bool:
    """Whether bits are those that are wanted, lane by lane; None wants any NaN."""
    lanes = wanted if isinstance(wanted, tuple) else (wanted,)
    size = SIZES[row.output[0]] // len(lanes)
    for place, lane in enumerate(lanes):
        bits = got >> (place * size) & ((1 << size) - 1)
        if lane is None:
            if not is_nan(bits, row.lanes):
                return False
        elif bits != lane & ((1 << size) - 1):
            return False
    return True


def is_nan(bits: int, form: str) -> bool:
    size, fraction = _FRACTIONS[form]
    sign = 1 << (size - 1)
    return bits & (sign - 1) > sign - (1 << fraction)
