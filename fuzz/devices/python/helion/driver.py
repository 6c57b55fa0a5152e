"""Helion without a GPU: it compiles as for an H200, and takes a configuration where it would measure many.

Installed once, before a file is imported, after Triton's driver. Knows Helion.
"""

import functools
import importlib
import re
import sys
import zlib
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import torch
from helion._compiler import backend
from torch._inductor import codecache

from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.torch import compiling
from kfuzz.devices.python.torch.without_gpu import GPU
from kfuzz.devices.python.triton import driver

HelionValue: TypeAlias = Any
"""A thing of Helion's."""
KERNELS = "helion.runtime.kernel"
"""A function has this name, too."""
PLACE = re.compile(r"^\s*# src\[(.+?):(\d+)")
"""In what Helion writes, before what it has written for a line."""


def install() -> None:
    """Compile for a GPU that is not there, measure nothing, and name the lines of the user's file."""
    driver.install()
    compiling.install()
    importlib.import_module(KERNELS)
    kernels: HelionValue = sys.modules[KERNELS]
    kernels.Kernel._bind = as_for_gpu(kernels.Kernel._bind)
    kernels.BoundKernel.ensure_config_exists = as_for_gpu(kernels.BoundKernel.ensure_config_exists)
    kernels.BoundKernel.autotune = choose_config
    find = kernels._find_device

    def find_gpu(values: HelionValue) -> HelionValue:
        find(values)  # it raises where there is none
        return GPU

    def normalize_on_gpu(self: HelionValue, tensor: HelionValue) -> HelionValue:
        made = tensor
        if tensor.device != GPU:  # a fake tensor, of a mode that is active
            made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=GPU)
        return normalize(self, made)

    kernels._find_device = find_gpu
    normalize = backend.Backend.normalize_input_fake_tensor
    backend.Backend.normalize_input_fake_tensor = normalize_on_gpu
    load = codecache.PyCodeCache.load_by_key_path

    def note_and_load(key: str, path: str, *given: HelionValue, **named: HelionValue) -> HelionValue:
        if places := places_in(Path(path).read_text(encoding="utf-8")):
            line_for = functools.partial(line_before, [one for one, _ in places], [line for _, line in places])
            driver.WRITTEN_FOR[path] = str(CALLS.file.resolve()), line_for
        return load(key, path, *given, **named)

    codecache.PyCodeCache.load_by_key_path = note_and_load


def as_for_gpu(compile_kernel: Callable[..., HelionValue]) -> Callable[..., HelionValue]:
    """A step of a compilation, in which tensors are on a GPU."""

    @functools.wraps(compile_kernel)
    def compiled(self: HelionValue, *given: HelionValue, **named: HelionValue) -> HelionValue:
        with compiling.compiling_for_gpu():
            return compile_kernel(self, *given, **named)

    return compiled


def choose_config(self: HelionValue, *_: HelionValue, **__: HelionValue) -> HelionValue:
    """The usual configuration, or one of those that the kernel names: the same in every process."""
    named = self.kernel.configs
    config = min(named, key=lambda one: zlib.crc32(f"{one}".encode())) if named else self.config_spec.default_config()
    self.set_config(config)
    return config


def places_in(source: str) -> list[tuple[int, int]]:
    """Lines of what Helion has written, and the lines of the user's file that they begin."""
    found = []
    for number, text in enumerate(source.splitlines(), 1):
        place = PLACE.match(text)
        if place and Path(place[1]).name == CALLS.file.name:
            found.append((number, int(place[2])))
    return found


def line_before(starts: list[int], lines: list[int], line: int) -> int:
    """The user's line of a line that Helion has written."""
    return lines[max(bisect_right(starts, line) - 1, 0)]
