"""CUDA's libraries by the names of their functions and types: which of them a text needs that the cpu device lacks.

Knows names only, and the headers of the cpu device.
"""

import functools
import re

from kfuzz.devices.cpu.toolchain import HEADERS

LIBRARIES = {
    "cublas": "cuBLAS", "cufft": "cuFFT", "cusparse": "cuSPARSE", "cusolver": "cuSOLVER", "cudnn": "cuDNN",
    "nccl": "NCCL", "curand": "cuRAND", "npp": "NPP", "nvjpeg": "nvJPEG", "nvrtc": "NVRTC", "cu": "CUDA's driver API",
}  # fmt: skip
NAME = (
    r"(?P<name>(?P<library>cublas|cufft|cusparse|cusolver|cudnn|nccl|curand|npp|nvjpeg|nvrtc|"
    r"cu(?=Init\b|Device|Ctx|Module|Launch|Mem|Stream|Event|Func|Link|Library|Occupancy|Graph|TensorMap|Pointer))[A-Z]\w*)"
)
LIBRARY_NAME = re.compile(rf"(?<![\w.:])(?<!->){NAME}")
LIBRARY_CALL = re.compile(rf"{LIBRARY_NAME.pattern}\s*\(")
UNDECLARED = re.compile(
    rf"^(?P<place>[^\s:]+:\d+):\d+: error: '{NAME}' (?:was not declared|does not name a type|has not been declared)"
)
"""The compiler's words for a function or type that is not there."""
OUR_HEADER = re.compile(r"(?:cu|nccl|npp|nv)\w*")


def name_with_library(name: str) -> str:
    """The name with its library."""
    library = re.match(NAME, name)
    assert library, name
    return f"{name}, a part of {LIBRARIES[library['library']]}"


@functools.cache
def _ours() -> frozenset[str]:
    every = ((path, path.relative_to(room)) for room in HEADERS for path in room.rglob("*"))
    headers = (path for path, inside in every if any(map(OUR_HEADER.match, inside.parts)))  # also in cuda_on_cpu_host/
    texts = (path.read_text(encoding="utf-8") for path in headers if path.is_file())
    return frozenset(one["name"] for text in texts for one in LIBRARY_NAME.finditer(text))


def is_declared_by_us(function: str) -> bool:
    """Whether the headers of the cpu device declare this function of a library."""
    return function in _ours()


def find_missing(complaint: str) -> str:
    """The part of a library that a compiler misses, with its place; empty if its first error is another."""
    missing = UNDECLARED.match(complaint)
    return f"{missing['place']}: the cpu device does not have {name_with_library(missing['name'])}" if missing else ""
