"""Every conversion of cuda_fp8.h, cuda_fp6.h and cuda_fp4.h gives what those of an installed CUDA toolkit give."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.devices import host_compiler
from kfuzz.devices.cpu import toolchain
from kfuzz.devices.nvcc import TOOLKIT

pytestmark = pytest.mark.soak
DRIVER = Path(__file__).parent.parent / "data" / "small_conversions.cpp"
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-fno-strict-aliasing", "-fwrapv")
PART = 1 << 22
Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class Conversions:
    """The driver, compiled with one of the two sets of headers."""

    library: ctypes.CDLL

    def names(self) -> Iterator[str]:
        self.library.name_of.restype = ctypes.c_char_p
        which = 0
        while name := self.library.name_of(which):
            yield name.decode()
            which += 1

    def convert(self, which: int, bits: Bits) -> Bits:
        made = np.empty_like(bits)
        self.library.convert(which, ctypes.c_void_p(bits.ctypes.data), ctypes.c_void_p(made.ctypes.data), len(bits))
        return made

    def convert_range(self, which: int, first: int, codes: NDArray[np.uint16], fills: bool) -> int:
        place = ctypes.c_void_p(codes.ctypes.data)
        self.library.convert_range.restype = ctypes.c_long
        return int(self.library.convert_range(which, ctypes.c_uint64(first), place, ctypes.c_long(len(codes)), fills))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Conversions, Conversions]:
    """kfuzz's headers, and the toolkit's on their host path."""
    homes = [*(Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ), TOOLKIT]
    folder = next((home / "include" for home in homes if (home / "include" / "cuda_fp4.h").is_file()), None)
    if folder is None:
        pytest.skip(f"no include/cuda_fp4.h under {', '.join(map(str, homes))}: it needs a CUDA toolkit from 13.0 on")
    ours = ("-Wl,--unresolved-symbols=ignore-all", *(f"-I{one}" for one in toolchain.HEADERS))
    theirs = ("-DTOOLKIT", f"-I{folder}", f"-I{folder / 'cccl'}")
    made = []
    for number, flags in enumerate((ours, theirs)):
        library = tmp_path_factory.mktemp("conversions") / f"{number}.so"
        subprocess.run([host_compiler.find_compiler(), *FLAGS, *flags, str(DRIVER), "-o", str(library)], check=True)
        made.append(Conversions(ctypes.CDLL(str(library), mode=1)))  # 1: lazily, for what a driver does not call
    return made[0], made[1]


def every_head(exponent: int, fraction: int, digits: int) -> Bits:
    """All signs, exponents and first digits of a fraction, each with tails around 0, the half and the end.

    A format keeps four digits at most, so each of its numbers and ties has a tail of 0: between a tail of 1 and the
    last one nothing changes if a conversion is monotone.
    """
    tail = fraction - digits
    heads = np.arange(1 << (1 + exponent + digits), dtype=np.uint64) << np.uint64(tail)
    half = 1 << (tail - 1)
    return np.concatenate([heads | np.uint64(one) for one in (0, 1, half - 1, half, half + 1, 2 * half - 1)])


def inputs_of(name: str) -> Bits:
    """What a conversion is tried on: all codes and halves, doubles and floats at all ties, integers of all sizes."""
    rng = np.random.default_rng(1)
    if name.startswith("read"):
        return np.concatenate([np.arange(1 << 16, dtype=np.uint64), rng.integers(0, 1 << 32, 1 << 16, np.uint64)])
    if "double" in name:
        return every_head(11, 52, 5)
    if "float" in name and "bfloat" not in name:
        return every_head(8, 23, 7)
    if "half" in name or "bf" in name or "raw" in name:
        return np.arange(1 << 16, dtype=np.uint64)
    sizes = rng.integers(0, 1 << 63, 1 << 16, np.uint64) >> rng.integers(0, 63, 1 << 16, np.uint64)
    edges = np.array([1 << 63, (1 << 64) - 1, (1 << 63) - 1], np.uint64)
    return np.concatenate([np.arange(1 << 16, dtype=np.uint64), sizes, ~sizes, edges])


def test_every_conversion_gives_what_the_toolkit_gives(both: tuple[Conversions, Conversions]) -> None:
    ours, theirs = both
    names = tuple(theirs.names())
    assert tuple(ours.names()) == names
    assert len(names) > 300
    differ = {}
    for which, name in enumerate(names):
        bits = inputs_of(name)
        if places := np.flatnonzero(ours.convert(which, bits) != theirs.convert(which, bits)).tolist():
            differ[name] = hex(bits[places[0]])
    assert differ == {}


def test_all_floats_give_the_same_code(both: tuple[Conversions, Conversions]) -> None:
    ours, theirs = both
    names = tuple(theirs.names())
    codes = np.empty(PART, np.uint16)
    for which in (which for which, name in enumerate(names) if name.startswith("float to")):
        for first in range(0, 1 << 32, PART):
            theirs.convert_range(which, first, codes, fills=True)
            assert ours.convert_range(which, first, codes, fills=False) == 0, (names[which], hex(first))
    codes += np.uint16(1)
    assert ours.convert_range(0, (1 << 32) - PART, codes, fills=False) == PART  # a difference counts
