"""Finds the GPU code of a project: kernel files with and without a claim, PyTorch extensions, and code that kfuzz
cannot judge.

Knows names and texts of files; never whether one compiles.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kfuzz.claims.language.front_matter import MOST_BYTES, has_claim
from kfuzz.claims.language.languages import ENDINGS, language_of
from kfuzz.claims.language.signature import entries_of
from kfuzz.common.text.cuda_text import includes
from kfuzz.ui.targets.project import find_sources

Sort = Literal["claimed", "kernel", "extension", "no kernel", "triton", "inline"]
DESCRIPTIONS: dict[Sort, str] = {
    "claimed": "has a claim",
    "kernel": "CUDA without a claim",
    "extension": "a PyTorch extension without a claim",
    "no kernel": "no __global__ function in it: left alone",
    "triton": "Triton: kfuzz fuzz FILE --op OP, compiled by Triton, run on the cpu device",
    "inline": "CUDA inside of Python, which kfuzz does not read: move it into a .cu file",
}
TRITON = re.compile(r"^[ \t]*@(?:triton\.)?(?:jit|autotune|heuristics)\b", re.MULTILINE)
IMPORTS_TRITON = re.compile(r"^[ \t]*(?:import|from)[ \t]+triton\b", re.MULTILINE)
INLINE = re.compile(r"\bload_inline\s*\(|\bRawKernel\s*\(|\bSourceModule\s*\(")
OF_TORCH = ("torch/", "ATen/", "c10/")


@dataclass(frozen=True)
class GpuCode:
    """A file and its sort."""

    path: Path
    sort: Sort


def find_gpu_code(folder: Path) -> tuple[GpuCode, ...]:
    """Every file below the folder that holds GPU code, in the order of the names."""
    return tuple(GpuCode(path, sort) for path in sorted(find_sources(folder, ENDINGS)) for sort in sorts_of(path))


def sorts_of(path: Path) -> Iterator[Sort]:
    """The sorts of a file; none if it cannot be read or is a Python file without GPU code."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return
    language = language_of(path)
    if has_claim(language.head(text)):
        yield "claimed"
    elif language.name in SORTS:
        yield from SORTS[language.name](text)


def sort_of_cuda(text: str) -> Iterator[Sort]:
    """The sort of a .cu file without a claim."""
    if not entries_of(text):
        yield "no kernel"
    else:
        yield "extension" if any(one.name.startswith(OF_TORCH) for one in includes(text)) else "kernel"


def sort_of_python(text: str) -> Iterator[Sort]:
    """The sorts of kernels in a Python file without a claim."""
    if IMPORTS_TRITON.search(text) and TRITON.search(text):
        yield "triton"
    if INLINE.search(text):
        yield "inline"


SORTS = {"cuda": sort_of_cuda, "python": sort_of_python}
"""How the sorts of a file without a claim are found, by its language."""
