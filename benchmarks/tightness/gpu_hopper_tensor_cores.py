"""How Hopper's tensor cores add products: python -m benchmarks.tightness.gpu_hopper_tensor_cores [--into FILE]

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
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.page import head, row
from benchmarks.tightness.tensor_core_models import BYTES, UNITS, Codes, Unit, Words, fit, random_blocks
from kfuzz.oracle.numbers.elements import F16, F32, I8, TF32, Element, Reals, codes_of, encode, store

SOURCE = Path(__file__).with_suffix(".cu")
BLOCKS = 100_000


INTEGER_UNITS = ("mma i8 i8 i32", "wgmma i8 i8 i32")


class Gpu:
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


def ask(gpu: Gpu, unit: Unit, cases: Sequence[tuple[Mapping[int, tuple[float, float]], float]]) -> Reals:
    """D for each case: factors by their places, and C."""
    a, b = np.zeros((len(cases), unit.k)), np.zeros((len(cases), unit.k))
    for case, (terms, _) in enumerate(cases):
        for place, (left, right) in terms.items():
            a[case, place], b[case, place] = left, right
    got = gpu.sums(unit, a, b, np.array([start for _, start in cases]))
    return np.full(len(cases), np.nan) if got is None else got


def power(exponent: int) -> tuple[float, float]:
    """Two normal factors whose product is this power of two: of e4m3 from 2^-12 to 2^16, of halves from 2^-28."""
    left = min(max(exponent // 2, -14), 8)
    return 2.0**left, 2.0 ** (exponent - left)


def negated(factors: tuple[float, float], times: float = 1.0) -> tuple[float, float]:
    """The negative product, of which the first factor may be multiplied by an exact number."""
    return -factors[0] * times, factors[1]


def kept_below(gpu: Gpu, unit: Unit, in_c: bool, low: int = 30) -> str:
    """The bits that are kept below a term of 2^14 (a sum in f16: 2^8), which another one cancels."""
    top = 8 if unit.sum is F16 else 14
    below = range(3, min(low, top - unit.deepest) + 1)
    start = 2.0**top if in_c else 0.0
    first = {} if in_c else {0: power(top)}
    got = ask(gpu, unit, [({**first, 1: negated(power(top)), unit.third: power(top - one)}, start) for one in below])
    kept = [one for one, y in zip(below, got, strict=True) if y == 2.0 ** (top - one)]
    return f"{max(kept, default=0)}{' or more' if kept and max(kept) == below[-1] else ''}"


def digits_of_sum(gpu: Gpu, unit: Unit) -> str:
    """The bits of 1 + 2^-j that are kept, by two products, and by C and a product."""
    found = []
    tried = range(1, 8 - max(unit.deepest, -16) + 1)
    for in_c in (False, True):
        got = ask(gpu, unit, [
            ({1: power(8 - one)} | ({} if in_c else {0: power(8)}), 256.0 if in_c else 0.0) for one in tried
        ])  # fmt: skip
        found.append(max((one for one, y in enumerate(got, 1) if y == 2.0**8 + 2.0 ** (8 - one)), default=0))
    return " and ".join(f"{one}{' or more' if one == tried[-1] else ''}" for one in found)


def manner(gpu: Gpu, unit: Unit) -> str:
    """What becomes of a term between two of the steps that are kept: of 7 quarters of the last one, of each sign."""
    top = 8 if unit.sum is F16 else 14
    kept = int(kept_below(gpu, unit, in_c=False).split()[0])
    if top - kept < unit.deepest + 2:
        return "-"
    last = 2.0 ** (top - kept)
    left, right = power(top - kept)
    cases = [
        ({0: power(top), 1: negated(power(top)), unit.third: (sign * 1.75 * left, right)}, 0.0) for sign in (1, -1)
    ]
    words = {last: "cut", 2 * last: "rounded", 0.0: "lost", 1.75 * last: "exact"}
    got = ask(gpu, unit, cases)
    return ", ".join(dict.fromkeys(words.get(abs(float(y)), repr(float(y))) for y in got))


def denormal(gpu: Gpu, unit: Unit) -> str:
    """The least power of two that is kept beside (least denormal) x large and its negative.

    `large` is 128, or, for factors of 16 bits or more, what makes 2 of the least normal number.
    """
    small, large = 2 * unit.a.tiny, 128.0 if unit.a.is_narrow else 2 / unit.a.min_normal
    powers = range(1, unit.deepest - 1, -1)
    got = ask(gpu, unit, [({0: (small, large), 1: (-small, large), unit.third: power(one)}, 0.0) for one in powers])
    kept = [one for one, y in zip(powers, got, strict=True) if y == 2.0**one]
    return f"2^{min(kept, default=0)}"


def integers(gpu: Gpu, name: str) -> str:
    """Whether sums of int8 products are exact, and wrap around."""
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-128, 128, (BLOCKS, BYTES)).astype(np.int8) for _ in range(2))
    c = rng.integers(-(1 << 31), 1 << 31, BLOCKS).astype(np.int32)
    words = gpu.words(name, a.view(np.uint8), b.view(np.uint8), c.view(np.uint32))
    assert words is not None
    want = (a.astype(np.int64) * b).sum(axis=1) + c
    return row(
        (name, f"{int((words.view(np.int32) == want.astype(np.int32)).sum())} of {BLOCKS}, modulo 2^{4 * I8.bits}")
    )


def last_bits_of_tf32(gpu: Gpu, name: str) -> str:
    """What becomes of the 13 bits that tf32 has less than a float: 1 and all of them, as A and as B, times 1."""
    found = []
    more = np.float32(1 + (2**13 - 1) * 2.0**-23)
    for left, right in ((more, 1.0), (1.0, more)):
        a, b = (np.array([[one] + 7 * [0.0]], np.float32).view(np.uint8) for one in (left, right))
        words = gpu.words(name, a, b, np.zeros(1, np.uint32))
        assert words is not None
        made = float(words.view(np.float32)[0])
        found.append({1.0: "ignored", 1 + 2.0**-10: "rounded"}.get(made, repr(made)))
    return row((name, *found))


def print_head(*names: str) -> None:
    """Print the first two lines of a table."""
    print("", *head("l" * len(names), names), sep="\n")


def gpu_name() -> str:
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
        gpu = Gpu(Path(folder))
        print(gpu_name())
        print_head(
            "instruction", "bits kept below a product", "below C", "bits of a sum", "a term below is", "denormal"
        )
        for unit in UNITS:
            found = [kept_below(gpu, unit, in_c) for in_c in (False, True)]
            rest = (digits_of_sum(gpu, unit), manner(gpu, unit), denormal(gpu, unit))
            print(row((unit.name, *found, *rest)), flush=True)
        print_head("instruction", "bits kept", "digits of a sum", "added at once", "C is", "equal blocks")
        for unit in UNITS:
            a, b, c = random_blocks(unit, np.random.default_rng(1), BLOCKS)
            got = gpu.sums(unit, a, b, c)
            if got is None:
                print(row((unit.name, "this nvcc has no such instruction", *[""] * 4)))
                continue
            print(row(fit(unit, a, b, c, got)), flush=True)
            raw[unit.name] = np.column_stack([a, b, c, got])[:2000].tolist()
        print_head("instruction", "the last 13 bits of A are", "of B")
        for name in ("mma tf32 tf32 f32", "wgmma tf32 tf32 f32"):
            print(last_bits_of_tf32(gpu, name), flush=True)
        print_head("instruction", "exact sums")
        for name in INTEGER_UNITS:
            print(integers(gpu, name), flush=True)
    if asked.into:
        asked.into.write_text(json.dumps(raw), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
