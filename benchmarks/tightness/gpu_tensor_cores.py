"""Measure how the tensor cores add: python -m benchmarks.tightness.gpu_tensor_cores [cpu]

Prints the tables of docs/numerics.md#tensor-cores: how many bits below the largest term of a block are kept, whether
the lower bits are cut or rounded, how many products are added at once, and how the sum is brought to its format; the
exponent of a product whose factors are denormal or 0; and, on a GPU, how many blocks of all kinds of numbers the
cpu device adds up in another way.
"""

import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.page import table
from kfuzz.devices import Buffer, Device, Job, Probe, Step
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.oracle.numbers.elements import BF16, F16, F32, TF32, Element, Reals

SOURCE = Path(__file__).with_suffix(".cu")
TERMS = 16
TOP = 2.0**8
"""The largest term: a half has digits further below it than below 1."""


@dataclass(frozen=True)
class Unit:
    """One kind of product: its name, its entry, how many products are added in one call, and the bits of its sum."""

    name: str
    entry: str
    k: int
    operand: Element
    sum: Element

    @property
    def bits(self) -> int:
        return self.sum.p


UNITS = (
    Unit("f16, sums in f32", "sums_of_products<__half, __half, 16, float>", 16, F16, F32),
    Unit("bf16, sums in f32", "sums_of_products<__nv_bfloat16, __nv_bfloat16, 16, float>", 16, BF16, F32),
    Unit("tf32, sums in f32", "sums_of_products<float, wmma::precision::tf32, 8, float>", 8, TF32, F32),
    Unit("f16, sums in f16", "sums_of_products<__half, __half, 16, __half>", 16, F16, F16),
)

COLUMNS = (
    "product", "bits kept below the largest product", "below C", "a term below is", "the sum is", "added at once",
    "all below is lost",
)  # fmt: skip
Factors = tuple[float, float]
Terms = dict[int, float | Factors]
"""Products by their places; of a number alone the factors do not matter."""


def factors(value: float) -> Factors:
    """Two normal numbers that make a power of two times a few bits."""
    power = int(np.floor(np.log2(abs(value)))) // 2
    return value * 2.0**-power, 2.0**power


def sums(device: Device, unit: Unit, cases: Sequence[tuple[Terms, float]]) -> list[float]:
    """D for each case: products, and C."""
    a, b = np.zeros((len(cases), TERMS)), np.zeros((len(cases), TERMS))
    for row, (terms, _) in enumerate(cases):
        for place, value in terms.items():
            a[row, place], b[row, place] = value if isinstance(value, tuple) else factors(value)
    return [float(x) for x in blocks(device, unit, a, b, np.array([start for _, start in cases]))]


def blocks(device: Device, unit: Unit, a: Reals, b: Reals, c: Reals) -> Reals:
    """D for each row of factors a and b, and its C."""
    a, b, c = (x.astype(np.float32) for x in (a, b, c))
    buffers = (
        Buffer("d", F32, c.shape, is_output=True), Buffer("a", F32, a.shape, a), Buffer("b", F32, b.shape, b),
        Buffer("c", F32, c.shape, c),
    )  # fmt: skip
    step = Step(unit.entry, (len(c), 1, 1), (32, 1, 1), 0, ("d", "a", "b", "c"))
    text = SOURCE.read_text(encoding="utf-8")
    entries = tuple(one.entry for one in UNITS)
    outcome = device.run(Job("tensor cores", SOURCE, text, (), 256, buffers, (step,), entries), Probe(runs=2))
    errors = [found.message for found in outcome.findings if found.severity == "error"]
    if errors:
        raise SystemExit(f"{unit.name}: {'; '.join(errors)}")
    return outcome.runs[0].outputs["d"].astype(np.float64)


def kept_below(device: Device, unit: Unit, in_c: bool) -> int:
    """The least power of two that is not lost beside a term of `TOP` in the same block, as bits below that term."""
    powers = range(4, 34)
    start = TOP if in_c else 0.0
    first: Terms = {} if in_c else {0: TOP}
    got = sums(device, unit, [({**first, 1: -TOP, 2: TOP * 2.0**-power}, start) for power in powers])
    return max((power for power, y in zip(powers, got, strict=True) if y == TOP * 2.0**-power), default=0)


def added_at_once(device: Device, unit: Unit) -> int:
    """How many products meet before anything is brought to the sum's format: 1, what is below it, and -1 further on."""
    below = 2.0**-unit.bits
    places = range(2, unit.k)
    got = sums(device, unit, [({0: 1.0, 1: below, place: -1.0}, 0.0) for place in places])
    return max((place + 1 for place, y in zip(places, got, strict=True) if y == below), default=1)


def manner(exact: float, got: float, step: float) -> str:
    """The treatment of a number between two of the steps that are kept."""
    down = np.trunc(exact / step) * step
    return "cut" if got == down else "rounded" if got == np.rint(exact / step) * step else f"{got!r} for {exact!r}"


def cells_of(device: Device, unit: Unit) -> tuple[object, ...]:
    """One row of the table."""
    beside_product, beside_c = kept_below(device, unit, in_c=False), kept_below(device, unit, in_c=True)
    last = TOP * 2.0**-beside_product
    terms = [({0: TOP, 1: -TOP, 2: sign * 1.75 * last}, 0.0) for sign in (1, -1)]
    of_terms = [manner(sign * 1.75 * last, y, last) for sign, y in zip((1, -1), sums(device, unit, terms), strict=True)]
    place = 2.0 ** (1 - unit.bits)
    whole = [({0: sign * 1.0, 1: sign * 0.75 * place}, 0.0) for sign in (1, -1)]
    of_sums = [
        manner(sign * (1 + 0.75 * place), y, place) for sign, y in zip((1, -1), sums(device, unit, whole), strict=True)
    ]
    lost = sums(device, unit, [({0: TOP} | dict.fromkeys(range(1, unit.k), 0.5 * last), 0.0)])[0] == TOP
    at_once = added_at_once(device, unit)
    return (
        unit.name, beside_product, beside_c, " and ".join(dict.fromkeys(of_terms)),
        " and ".join(dict.fromkeys(of_sums)), f"{at_once} of {unit.k}", "yes" if lost else "no",
    )  # fmt: skip


def pairs_of(form: Element) -> dict[str, Factors]:
    """Products whose exponent is in question; 2 to the exponents of the factors, where "large" is, is 2."""
    least, large = form.min_normal, 2 / form.min_normal
    denormal = 2 * form.tiny
    return {
        "1 x 2": (1.0, 2.0), "1.5 x 3": (1.5, 3.0), "least normal x large": (least, large),
        "least denormal x large": (denormal, large), "large x least denormal": (large, denormal),
        "greatest denormal x large": (least - denormal, large),
        "0 x large": (0.0, large), "large x 0": (large, 0.0), "-0 x large": (-0.0, large), "0 x 1": (0.0, 1.0),
        "least denormal x least denormal": (denormal, denormal), "0 x 0": (0.0, 0.0),
    }  # fmt: skip


def kept_beside(device: Device, unit: Unit, name: str) -> str:
    """The least product and the least C that are kept."""
    pair = pairs_of(unit.operand)[name]
    return ", ".join(least_kept(device, unit, pair, in_c) for in_c in (False, True))


def least_kept(device: Device, unit: Unit, pair: Factors, in_c: bool) -> str:
    """The least power of two that is not lost beside a product and its negative, of those that the format has."""
    beside: Terms = {0: pair, 1: (-pair[0], pair[1])}
    lowest = 2 * unit.sum.tiny if in_c else max(unit.operand.min_normal**2, 2 * unit.sum.tiny)
    powers = range(0, int(np.log2(lowest)) - 1, -1)
    got = sums(device, unit, [
        (beside, 2.0**power) if in_c else ({**beside, 2: 2.0**power}, 0.0) for power in powers
    ])  # fmt: skip
    kept = [power for power, y in zip(powers, got, strict=True) if y == 2.0**power]
    return "all" if len(kept) == len(powers) else f"2^{min(kept, default=0)}"


def of_all_kinds(unit: Unit, rng: np.random.Generator, count: int) -> tuple[Reals, Reals, Reals]:
    """Blocks of factors: normal ones, denormal and 0 by large, some of the others' own negatives, tiny ones; and C."""
    low, span = np.log2(unit.operand.min_normal), unit.operand.p - 1
    high = min(-low, 12.0)

    def draw_reals(least: float, most: float) -> Reals:
        sign = rng.choice([-1.0, 1.0], (count, TERMS))
        return sign * rng.uniform(1, 2, (count, TERMS)) * 2.0 ** rng.integers(int(least), int(most) + 1, (count, TERMS))

    kind = rng.integers(0, 8, (count, TERMS)) * (rng.random((count, 1)) < 0.8)
    a, b = draw_reals(-6, 5), draw_reals(-6, 5)
    large = draw_reals(-low - 8 if unit.operand is not F16 else 4, -low - 1 if unit.operand is not F16 else high)
    tiny = np.where(kind == 1, draw_reals(low - span, low - 1), np.where(kind == 2, 0.0, draw_reals(low, low + 6)))
    a, b = np.where(kind == 1, tiny, a), np.where(kind == 1, large, b)
    a, b = np.where(kind == 2, large, a), np.where(kind == 2, 0.0, b)
    a, b = np.where(kind == 3, large, a), np.where(kind == 3, tiny, b)
    a, b = (
        np.where(kind == 4, draw_reals(low - span, low + 3), a),
        np.where(kind == 4, draw_reals(low - span, low + 3), b),
    )
    a, b = np.where(kind == 5, 0.0, a), np.where(kind == 5, draw_reals(-6, 5), b)
    for later in range(1, TERMS, 2):  # the largest may cancel, so that the bits that it cut show
        back = rng.random(count) < 0.5
        a[back, later], b[back, later] = -a[back, later - 1], b[back, later - 1]
    c = rng.choice([0.0, 1.0], count) * draw_reals(-34, 6)[:, 0]
    if unit.operand is not F16:  # an eighth of the blocks add up to denormal floats
        deep = rng.random(count) < 0.125
        a[deep], b[deep], c[deep] = (
            draw_reals(-80, -71)[deep],
            draw_reals(-77, -61)[deep],
            draw_reals(-151, -126)[deep, 0],
        )
        c[deep] *= rng.choice([0.0, 1.0], deep.sum())
    return unit.operand.round(a), unit.operand.round(b), unit.sum.round(c)


def apart(one: Device, other: Device, unit: Unit) -> tuple[object, ...]:
    """How many blocks two devices add up in different ways."""
    a, b, c = of_all_kinds(unit, np.random.default_rng(1), 4096)
    a[:, unit.k :], b[:, unit.k :] = 0.0, 0.0
    got, wanted = (blocks(device, unit, a, b, c) for device in (one, other))
    differ = got.astype(np.float32).view(np.uint32) != wanted.astype(np.float32).view(np.uint32)
    return unit.name, len(c), f"{(got == wanted).mean():.1%}", differ.sum()


def main() -> None:
    """Print the tables for the device at hand."""
    with closing(CpuDevice() if sys.argv[1:] == ["cpu"] else GpuDevice()) as device:
        print_table("lrrllll", COLUMNS, (cells_of(device, unit) for unit in UNITS))
        print_table("l" * (1 + len(UNITS)), ("beside", *(unit.name for unit in UNITS)), (
            (name, *(kept_beside(device, unit, name) for unit in UNITS)) for name in pairs_of(F16)
        ))  # fmt: skip
        if not isinstance(device, CpuDevice):
            with closing(CpuDevice()) as other:
                columns = ("product", "blocks", "equal", "the cpu device differs in")
                print_table("lrrr", columns, (apart(device, other, unit) for unit in UNITS))


def print_table(align: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print each line as soon as it is known."""
    for line in table(align, columns, rows):
        print(line, flush=True)


if __name__ == "__main__":
    main()
