"""How the tensor cores add: python benchmarks/gpu_tensor_cores.py [cpu]

Prints the table of docs/numerics.md#tensor-cores: how many bits below the largest term of a block are kept, whether
what is below them is cut or rounded, how many products are added at once, and how the sum is brought to its format.
"""

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kfuzz.devices import Buffer, Device, Job, Probe, Step
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice

SOURCE = Path(__file__).with_suffix(".cu")
TERMS = 16


@dataclass(frozen=True)
class Unit:
    """One kind of product: its name, its entry, how many products are added in one call, and the bits of its sum."""

    name: str
    entry: str
    k: int
    bits: int


UNITS = (
    Unit("f16, sums in f32", "sums_of_products<__half, __half, 16, float>", 16, 24),
    Unit("bf16, sums in f32", "sums_of_products<__nv_bfloat16, __nv_bfloat16, 16, float>", 16, 24),
    Unit("tf32, sums in f32", "sums_of_products<float, wmma::precision::tf32, 8, float>", 8, 24),
    Unit("f16, sums in f16", "sums_of_products<__half, __half, 16, __half>", 16, 11),
)

Terms = dict[int, float]
"""Products by their places."""


def sums(device: Device, unit: Unit, cases: Sequence[tuple[Terms, float]]) -> list[float]:
    """D for each case: products, each a power of two times a few bits, and C."""
    a, b = np.zeros((len(cases), TERMS), np.float32), np.zeros((len(cases), TERMS), np.float32)
    for row, (terms, _) in enumerate(cases):
        for place, value in terms.items():
            power = int(np.floor(np.log2(abs(value)))) // 2
            a[row, place], b[row, place] = value * 2.0**-power, 2.0**power
    c = np.array([start for _, start in cases], np.float32)
    buffers = (
        Buffer("d", "f32", c.shape, is_output=True), Buffer("a", "f32", a.shape, a), Buffer("b", "f32", b.shape, b),
        Buffer("c", "f32", c.shape, c),
    )  # fmt: skip
    step = Step(unit.entry, (len(cases), 1, 1), (32, 1, 1), 0, ("d", "a", "b", "c"))
    text = SOURCE.read_text(encoding="utf-8")
    entries = tuple(one.entry for one in UNITS)
    outcome = device.run(Job("tensor cores", SOURCE, text, (), 256, buffers, (step,), entries), Probe(runs=2))
    errors = [found.message for found in outcome.findings if found.severity == "error"]
    if errors:
        raise SystemExit(f"{unit.name}: {'; '.join(errors)}")
    return [float(x) for x in outcome.runs[0].outputs["d"]]


def kept_below(device: Device, unit: Unit, in_c: bool) -> int:
    """The least power of two that is not lost beside a term of 1 in the same block, as bits below that term."""
    powers = range(4, 34)
    start = 1.0 if in_c else 0.0
    first: Terms = {} if in_c else {0: 1.0}
    got = sums(device, unit, [({**first, 1: -1.0, 2: 2.0**-power}, start) for power in powers])
    return max((power for power, y in zip(powers, got, strict=True) if y == 2.0**-power), default=0)


def added_at_once(device: Device, unit: Unit) -> int:
    """How many products meet before anything is brought to the sum's format: 1, what is below it, and -1 further on."""
    below = 2.0**-unit.bits
    places = range(2, unit.k)
    got = sums(device, unit, [({0: 1.0, 1: below, place: -1.0}, 0.0) for place in places])
    return max((place + 1 for place, y in zip(places, got, strict=True) if y == below), default=1)


def manner(exact: float, got: float, step: float) -> str:
    """What was done to a number between two of the steps that are kept."""
    down = np.trunc(exact / step) * step
    return "cut" if got == down else "rounded" if got == np.rint(exact / step) * step else f"{got!r} for {exact!r}"


def row(device: Device, unit: Unit) -> str:
    """One line of the table."""
    beside_product, beside_c = kept_below(device, unit, in_c=False), kept_below(device, unit, in_c=True)
    last = 2.0**-beside_product
    terms = [({0: 1.0, 1: -1.0, 2: sign * 1.75 * last}, 0.0) for sign in (1, -1)]
    of_terms = [manner(sign * 1.75 * last, y, last) for sign, y in zip((1, -1), sums(device, unit, terms), strict=True)]
    place = 2.0 ** (1 - unit.bits)
    whole = [({0: sign * 1.0, 1: sign * 0.75 * place}, 0.0) for sign in (1, -1)]
    of_sums = [
        manner(sign * (1 + 0.75 * place), y, place) for sign, y in zip((1, -1), sums(device, unit, whole), strict=True)
    ]
    lost = sums(device, unit, [({0: 1.0} | dict.fromkeys(range(1, unit.k), 0.5 * last), 0.0)])[0] == 1.0
    at_once = added_at_once(device, unit)
    return (
        f"| {unit.name} | {beside_product} | {beside_c} | {' and '.join(dict.fromkeys(of_terms))} | "
        f"{' and '.join(dict.fromkeys(of_sums))} | {at_once} of {unit.k} | {'yes' if lost else 'no'} |"
    )


def main() -> None:
    """Print the table for the device at hand."""
    with closing(CpuDevice() if sys.argv[1:] == ["cpu"] else GpuDevice()) as device:
        print("| product | bits kept below the largest product | below C | a term below is | the sum is | "
              "added at once | all below is lost |\n|---|---|---|---|---|---|---|")  # fmt: skip
        for unit in UNITS:
            print(row(device, unit), flush=True)


if __name__ == "__main__":
    main()
