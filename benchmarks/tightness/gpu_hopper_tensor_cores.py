"""How Hopper's tensor cores add products: python benchmarks/tightness/gpu_hopper_tensor_cores.py [--into FILE]

Compiles gpu_hopper_tensor_cores.cu with nvcc and runs it on the first GPU: mma.sync m16n8 and wgmma m64n8 of f16, bf16,
tf32, e4m3, e5m2, the last two mixed, and int8. On sm_90 nvcc makes two mma.sync of 16 halves of one of 32 e4m3, and
adds C to their sum; only wgmma multiplies 8 bits there. Prints how many bits below the largest term are kept, what
becomes of the others, and which model of an addition gives the bits of 100,000 random blocks. About two minutes; --into
keeps raw sums as JSON.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.elements import BF16, E4M3, E5M2, F16, F32, I8, TF32, Element, Reals, codes_of, encode, store

SOURCE = Path(__file__).with_suffix(".cu")
BYTES = 32
"""Of each factor's row, in one instruction of any type."""
BLOCKS = 100_000
TRIED = 4_000
"""Blocks by which a model is chosen; the chosen one is then held against all."""
Codes = NDArray[np.uint8]
Words = NDArray[np.uint32]


@dataclass(frozen=True)
class Unit:
    """One instruction: how the program calls it, the types of its factors and of its sum."""

    name: str
    a: Element
    b: Element
    sum: Element

    @property
    def k(self) -> int:
        """How many products one instruction adds."""
        return 8 * BYTES // (32 if self.a is TF32 else self.a.bits)

    @property
    def third(self) -> int:
        """A place that is added with the first two: tf32 has four at once, mma.sync of 8 bits takes pairs apart."""
        return 2 if self.a is TF32 else 4

    @property
    def deepest(self) -> int:
        """The least exponent of a product that `power` makes."""
        return -12 if self.a.is_narrow else -28


UNITS = tuple(
    Unit(f"{way} {a} {b} {total}", a, b, total)
    for way in ("mma", "wgmma")
    for a, b, total in (
        (F16, F16, F32), (BF16, BF16, F32), (TF32, TF32, F32), *([(F16, F16, F16)] if way == "wgmma" else []),
        (E4M3, E4M3, F32), (E5M2, E5M2, F32), (E4M3, E5M2, F32), (E5M2, E4M3, F32), (E4M3, E4M3, F16),
    )
)  # fmt: skip
INTEGER_UNITS = ("mma i8 i8 i32", "wgmma i8 i8 i32")


@dataclass(frozen=True)
class Model:
    """How a block may be added: `kept` bits below the largest term of `together` terms, `digits` of each sum.

    `order`: as the terms lie, or the first two of every four before the other two. `start`: C is one of the terms, or
    is added at last, rounded to the nearest or cut to the same bits.
    """

    kept: int
    digits: int
    together: int
    order: Literal["as they lie", "by halves of four"] = "as they lie"
    start: Literal["a term", "added last", "cut last"] = "a term"

    def add(self, unit: Unit, a: Reals, b: Reals, c: Reals) -> Reals:
        """The sums of rows of factors, and c."""
        places = np.arange(unit.k)
        if self.order == "by halves of four":
            places = np.concatenate([places[places % 4 < 2], places[places % 4 >= 2]])
        a, b = a[:, places], b[:, places]
        exponents = exponents_of(a, unit.a) + exponents_of(b, unit.b)
        exponents = np.where((a == 0) | (b == 0), -1000, exponents)
        total = c if self.start == "a term" else np.zeros_like(c)
        for first in range(0, unit.k, self.together):
            at = slice(first, first + self.together)
            total = self._step(unit, a[:, at] * b[:, at], exponents[:, at].max(axis=1), total)
        if self.start == "added last":
            return unit.sum.round(total + c)
        if self.start == "cut last":
            return self._step(unit, c[:, None], np.where(c == 0, -1000, exponents_of(c, F32)), total)
        return total

    def _step(self, unit: Unit, terms: Reals, exponents: Reals, total: Reals) -> Reals:
        top = np.maximum(exponents, np.where(total == 0, -1000, exponents_of(total, unit.sum)))
        step = np.ldexp(1.0, np.maximum(top, -133).astype(int) - self.kept)
        exact = np.trunc(terms / step[:, None]).sum(axis=1) + np.trunc(total / step)
        made = exact * step
        if unit.sum is F16:
            return F16.round(made)
        place = np.ldexp(1.0, np.maximum(np.frexp(made)[1] - self.digits, -149))
        return np.trunc(made / place) * place


def exponents_of(x: Reals, form: Element) -> Reals:
    """The stored exponent of each number, that of the least normal one for a denormal."""
    return np.maximum(np.frexp(x)[1] - 1, form.least)


def models(unit: Unit) -> Iterator[Model]:
    """The models that are tried."""
    at_once = [one for one in (4, 8, 16, 32) if one <= unit.k]
    for kept, digits, together in product(range(9, 29), (12, 13, 14, 15, 16, 22, 23, 24), at_once):
        for start in ("a term", "added last", "cut last"):
            yield Model(kept, digits, together, "as they lie", start)
        if together == 16 < unit.k and kept >= 22:
            for start in ("a term", "added last"):
                yield Model(kept, digits, together, "by halves of four", start)


class Card:
    """The compiled program."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        self.program = folder / "sums"
        command = [compiler, "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-o", str(self.program)]
        for options in (["-DWITH_F16_SUMS"], []):  # an older ptxas has no mma of e4m3 with sums in f16
            done = subprocess.run([*command, *options, str(SOURCE)], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return
        raise SystemExit(f"nvcc could not compile {SOURCE.name}:\n{done.stderr}")

    def words(self, name: str, a: Codes, b: Codes, c: Words) -> Words | None:
        """The words of the sums of rows of bytes; None where this nvcc has no such instruction."""
        given = np.uint32(len(c)).tobytes() + a.tobytes() + b.tobytes() + c.tobytes()
        done = subprocess.run([str(self.program), name], input=given, capture_output=True, check=False, timeout=120)
        if done.returncode == 2:
            return None
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr.decode()}")
        return np.frombuffer(done.stdout, np.uint32)

    def sums(self, unit: Unit, a: Reals, b: Reals, c: Reals) -> Reals | None:
        """The sums of rows of factors that their types hold, and c."""
        starts = c.astype(np.float32).view(np.uint32) if unit.sum is F32 else halves(c)
        words = self.words(unit.name, bytes_of(a, unit.a), bytes_of(b, unit.b), starts)
        if words is None:
            return None
        return np.asarray(words.view(np.float32) if unit.sum is F32 else words.astype(np.uint16).view(np.float16), "f8")


def bytes_of(factors: Reals, form: Element) -> Codes:
    """Rows of factors as the registers and shared memory hold them."""
    if form.is_narrow:
        return codes_of(encode(factors, form))
    return np.ascontiguousarray(store(factors, F32 if form is TF32 else form)).view(np.uint8)


def halves(c: Reals) -> Words:
    """The words whose low half is an f16."""
    return c.astype(np.float16).view(np.uint16).astype(np.uint32)


def ask(card: Card, unit: Unit, cases: Sequence[tuple[Mapping[int, tuple[float, float]], float]]) -> Reals:
    """D for each case: factors by their places, and C."""
    a, b = np.zeros((len(cases), unit.k)), np.zeros((len(cases), unit.k))
    for row, (terms, _) in enumerate(cases):
        for place, (left, right) in terms.items():
            a[row, place], b[row, place] = left, right
    got = card.sums(unit, a, b, np.array([start for _, start in cases]))
    return np.full(len(cases), np.nan) if got is None else got


def power(exponent: int) -> tuple[float, float]:
    """Two normal factors whose product is this power of two: of e4m3 from 2^-12 to 2^16, of halves from 2^-28."""
    left = min(max(exponent // 2, -14), 8)
    return 2.0**left, 2.0 ** (exponent - left)


def negated(factors: tuple[float, float], times: float = 1.0) -> tuple[float, float]:
    """The negative product, of which the first factor may be multiplied by an exact number."""
    return -factors[0] * times, factors[1]


def kept_below(card: Card, unit: Unit, in_c: bool, low: int = 30) -> str:
    """The bits that are kept below a term of 2^14 (a sum in f16: 2^8), which another one cancels."""
    top = 8 if unit.sum is F16 else 14
    below = range(3, min(low, top - unit.deepest) + 1)
    start = 2.0**top if in_c else 0.0
    first = {} if in_c else {0: power(top)}
    got = ask(card, unit, [({**first, 1: negated(power(top)), unit.third: power(top - one)}, start) for one in below])
    kept = [one for one, y in zip(below, got, strict=True) if y == 2.0 ** (top - one)]
    return f"{max(kept, default=0)}{' or more' if kept and max(kept) == below[-1] else ''}"


def digits_of_sum(card: Card, unit: Unit) -> str:
    """The bits of 1 + 2^-j that are kept, by two products, and by C and a product."""
    found = []
    tried = range(1, 8 - max(unit.deepest, -16) + 1)
    for in_c in (False, True):
        got = ask(card, unit, [
            ({1: power(8 - one)} | ({} if in_c else {0: power(8)}), 256.0 if in_c else 0.0) for one in tried
        ])  # fmt: skip
        found.append(max((one for one, y in enumerate(got, 1) if y == 2.0**8 + 2.0 ** (8 - one)), default=0))
    return " and ".join(f"{one}{' or more' if one == tried[-1] else ''}" for one in found)


def manner(card: Card, unit: Unit) -> str:
    """What becomes of a term between two of the steps that are kept: of 7 quarters of the last one, of each sign."""
    top = 8 if unit.sum is F16 else 14
    kept = int(kept_below(card, unit, in_c=False).split()[0])
    if top - kept < unit.deepest + 2:
        return "-"
    last = 2.0 ** (top - kept)
    left, right = power(top - kept)
    cases = [
        ({0: power(top), 1: negated(power(top)), unit.third: (sign * 1.75 * left, right)}, 0.0) for sign in (1, -1)
    ]
    words = {last: "cut", 2 * last: "rounded", 0.0: "lost", 1.75 * last: "exact"}
    got = ask(card, unit, cases)
    return ", ".join(dict.fromkeys(words.get(abs(float(y)), repr(float(y))) for y in got))


def denormal(card: Card, unit: Unit) -> str:
    """The least power of two that is kept beside (least denormal) x large and its negative.

    `large` is 128, or, for factors of 16 bits or more, what makes 2 of the least normal number.
    """
    small, large = 2 * unit.a.tiny, 128.0 if unit.a.is_narrow else 2 / unit.a.min_normal
    powers = range(1, unit.deepest - 1, -1)
    got = ask(card, unit, [({0: (small, large), 1: (-small, large), unit.third: power(one)}, 0.0) for one in powers])
    kept = [one for one, y in zip(powers, got, strict=True) if y == 2.0**one]
    return f"2^{min(kept, default=0)}"


def random_blocks(unit: Unit, rng: np.random.Generator, count: int) -> tuple[Reals, Reals, Reals]:
    """Blocks of all codes, of near exponents, of few terms, and with terms that cancel; and C."""

    def drawn(form: Element) -> Reals:
        finite = form.numbers[np.isfinite(form.numbers)]
        near = rng.standard_normal((count, unit.k)) * 2.0 ** rng.integers(-2, 3, (count, 1))
        any_ = finite[rng.integers(0, len(finite), (count, unit.k))]
        return np.where(rng.random((count, 1)) < 0.5, any_, form.round(near))

    a, b = (drawn(unit.a), drawn(unit.b)) if unit.a.is_narrow else wide_factors(unit, rng, count)
    a[rng.random((count, unit.k)) < rng.choice([0.0, 0.5, 0.9], (count, 1))] = 0.0
    for later in range(1, unit.k, 2):  # the largest may cancel, so that the bits that it cut show
        back = rng.random(count) < 0.3
        a[back, later], b[back, later] = -a[back, later - 1], b[back, later - 1]
    size = np.abs(a * b).max(axis=1)
    size += np.where(size < 2.0**-100, 2.0**-149, 2.0**-20)
    c = rng.standard_normal(count) * size * 2.0 ** rng.integers(-12, 9, count) * rng.choice([0.0, 1.0], count)
    if unit.sum is F16:
        a, c = a * (size < 2.0**8)[:, None], np.clip(c, -(2.0**14), 2.0**14)
    return a, b, unit.sum.round(c)


def wide_factors(unit: Unit, rng: np.random.Generator, count: int) -> tuple[Reals, Reals]:
    """Factors of 16 bits or more: near ones, denormal and 0 by large, and some whose sums are denormal floats."""
    shape, form = (count, unit.k), unit.a
    exponent = rng.integers(-14, 7, shape) - np.where((rng.random((count, 1)) < 0.125) & (form is not F16), 138, 0)
    apart = rng.random(shape) < rng.choice([0.0, 0.3], (count, 1))
    left = np.where(apart, form.least + rng.integers(1 - form.p, 4, shape), exponent // 2)
    left = np.where(rng.random(shape) < 0.5, left, exponent - left)
    left = np.clip(left, form.least - form.p + 1, -form.least)
    right = np.clip(exponent - left, form.least - form.p + 1, -form.least)
    a, b = (form.round(rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape) * 2.0**one) for one in (left, right))
    return np.where(apart & (rng.random(shape) < 0.3), 0.0, a), b


def fit(unit: Unit, a: Reals, b: Reals, c: Reals, got: Reals) -> str:
    """The model that gives most of the blocks, and how many of all."""

    def best_of(tried: Iterable[Model], count: int) -> list[Model]:
        some = slice(0, count)
        return sorted(tried, key=lambda one: -int((one.add(unit, a[some], b[some], c[some]) == got[some]).sum()))

    some = slice(0, TRIED)
    found = best_of(models(unit), 200)
    found = best_of(found[:40], TRIED)[0]
    equal = found.add(unit, a, b, c) == got
    alike = [
        one.kept
        for one in (replace(found, kept=k) for k in range(9, 29))
        if np.array_equal(one.add(unit, a[some], b[some], c[some]), found.add(unit, a[some], b[some], c[some]))
    ]
    kept = f"{alike[0]}" if len(alike) == 1 else f"{alike[0]} to {alike[-1]}"
    return (
        f"| {unit.name} | {kept} | {found.digits} | {found.together} of {unit.k}, {found.order} | {found.start} | "
        f"{int(equal.sum())} of {len(got)} |"
    )


def integers(card: Card, name: str) -> str:
    """Whether sums of int8 products are exact, and wrap around."""
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-128, 128, (BLOCKS, BYTES)).astype(np.int8) for _ in range(2))
    c = rng.integers(-(1 << 31), 1 << 31, BLOCKS).astype(np.int32)
    words = card.words(name, a.view(np.uint8), b.view(np.uint8), c.view(np.uint32))
    assert words is not None
    want = (a.astype(np.int64) * b).sum(axis=1) + c
    return (
        f"| {name} | {int((words.view(np.int32) == want.astype(np.int32)).sum())} of {BLOCKS}, modulo 2^{4 * I8.bits} |"
    )


def last_bits_of_tf32(card: Card, name: str) -> str:
    """What becomes of the 13 bits that tf32 has less than a float: 1 and all of them, as A and as B, times 1."""
    found = []
    more = np.float32(1 + (2**13 - 1) * 2.0**-23)
    for left, right in ((more, 1.0), (1.0, more)):
        a, b = (np.array([[one] + 7 * [0.0]], np.float32).view(np.uint8) for one in (left, right))
        words = card.words(name, a, b, np.zeros(1, np.uint32))
        assert words is not None
        made = float(words.view(np.float32)[0])
        found.append({1.0: "ignored", 1 + 2.0**-10: "rounded"}.get(made, repr(made)))
    return row(name, *found)


def row(*cells: object) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def table_head(*names: str) -> str:
    """The first two lines of a table."""
    return f"\n{row(*names)}\n|{'---|' * len(names)}"


def card_name() -> str:
    """The GPU and its driver, as nvidia-smi has them."""
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, help="write the raw words of the first 2,000 blocks of each unit there")
    asked = parser.parse_args()
    raw: dict[str, list[list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        card = Card(Path(folder))
        print(card_name())
        head = ("instruction", "bits kept below a product", "below C", "bits of a sum", "a term below is", "denormal")
        print(table_head(*head))
        for unit in UNITS:
            found = [kept_below(card, unit, in_c) for in_c in (False, True)]
            print(
                row(unit.name, *found, digits_of_sum(card, unit), manner(card, unit), denormal(card, unit)), flush=True
            )
        print(table_head("instruction", "bits kept", "digits of a sum", "added at once", "C is", "equal blocks"))
        for unit in UNITS:
            a, b, c = random_blocks(unit, np.random.default_rng(1), BLOCKS)
            got = card.sums(unit, a, b, c)
            if got is None:
                print(f"| {unit.name} | this nvcc has no such instruction | | | | |")
                continue
            print(fit(unit, a, b, c, got), flush=True)
            raw[unit.name] = np.column_stack([a, b, c, got])[:2000].tolist()
        print(table_head("instruction", "the last 13 bits of A are", "of B"))
        for name in ("mma tf32 tf32 f32", "wgmma tf32 tf32 f32"):
            print(last_bits_of_tf32(card, name), flush=True)
        print(table_head("instruction", "exact sums"))
        for name in INTEGER_UNITS:
            print(integers(card, name), flush=True)
    if asked.into:
        asked.into.write_text(json.dumps(raw), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
