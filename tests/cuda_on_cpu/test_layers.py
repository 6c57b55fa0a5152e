"""The layers of the C++ product: an include points downwards or stays in its layer."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import pytest

from kfuzz.devices.cpu import toolchain

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
SHARED = {
    *("abi.h", "atomic_operations.h", "denormals.h", "launch_answers.h", "mbarrier_operations.h", "sights.h"),
    *("tensor_operands.h", "tensor_sums.h", "warp_operations.h"),
}
"""The headers of the runtime that kernels see too: the ABI, with every .def file."""
BELOW = {
    "abi": {"abi"},
    "include": {"abi", "include"},
    "runtime": {"abi", "runtime"},
    "host headers": {"abi", "include", "host headers"},
    "host": {"abi", "include", "runtime", "host headers", "host"},
}


def layer_of(path: PurePosixPath) -> str:
    """The layer of a file, from its place below the product's folder."""
    if path.is_relative_to("host/include") or path.is_relative_to("host/torch/include"):
        return "host headers"
    if path.parts[0] == "runtime" and (path.name in SHARED or path.suffix == ".def"):
        return "abi"
    return path.parts[0]


def normalise(path: PurePosixPath) -> PurePosixPath:
    """The path without `..`."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def list_includes(files: Mapping[PurePosixPath, str]) -> Iterator[tuple[PurePosixPath, PurePosixPath]]:
    """Each include of one file of the product by another."""
    for path, text in files.items():
        for name in INCLUDE.findall(text):
            folders = (path.parent, *map(PurePosixPath, ("include", "host/include", "host/torch/include")))
            for folder in folders:
                if (target := normalise(folder / name)) in files:
                    yield path, target
                    break


def find_upward_includes(files: Mapping[PurePosixPath, str]) -> list[str]:
    """The includes that point upwards."""
    return [
        f"{path} includes {target}"
        for path, target in list_includes(files)
        if layer_of(target) not in BELOW[layer_of(path)]
    ]


def read_product() -> dict[PurePosixPath, str]:
    """Every C++ file of the product, by its path below the product's folder."""
    folders = ("include", "runtime", "host")
    every = (one for folder in folders for one in (toolchain.HOME / folder).rglob("*") if one.is_file())
    return {PurePosixPath(one.relative_to(toolchain.HOME).as_posix()): one.read_text(encoding="utf-8") for one in every}


def test_includes_point_downwards() -> None:
    files = read_product()
    assert len(list(list_includes(files))) > 300
    assert find_upward_includes(files) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("runtime/checker.cpp", '#include "../host/host.h"'),
        ("runtime/abi.h", '#include "block.h"'),
        ("include/cuda_on_cpu/warp.h", '#include "../../runtime/block.h"'),
        ("include/cuda_on_cpu.h", "#include <cuda_on_cpu_host.h>"),
        ("host/include/cuda_on_cpu_host.h", '#include "../../runtime/work.h"'),
        ("host/torch/include/torch/all.h", '#include "../../../../runtime/work.h"'),
    ],
)
def test_an_include_that_points_upwards_fails(path: str, line: str) -> None:
    files = read_product()
    files[PurePosixPath(path)] += f"\n{line}\n"
    assert len(find_upward_includes(files)) == 1
