"""A launch of Triton on the cpu device. Knows what a launch gives; it knows no version of Triton."""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import SupportsIndex

import torch

from kfuzz.devices import ClaimError, UnsupportedError
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.imitated_gpu import BY_TARGET, H200
from kfuzz.devices.python.launched.arguments import LaunchArguments
from kfuzz.devices.python.launched.kernels import LaunchedKernel, count_parameters, run_launch
from kfuzz.devices.python.triton.arguments import PassedValue, TritonArguments

LANES = 32
OF_ONE_GENERATION = re.compile(r"\b(?:wgmma|tcgen05)\.")
"""In PTX: instructions of one generation of GPUs alone."""
SINCE_HOPPER = re.compile(r"\b(?:mbarrier|cp\.async\.bulk)\.|\.cluster\b|\bfence\.proxy\b")
"""Those that an A100 lacks."""


@dataclass(frozen=True)
class Compiled:
    """A kernel as Triton compiled it."""

    name: str
    text: str
    """Its PTX."""
    warps: int
    shared: int
    blocks: int
    """Of a cluster that run one program."""
    is_cooperative: bool
    scratch: tuple[int, ...]
    """Bytes of each block for the parameters after the program's own."""
    align: int
    """What each array of scratch memory begins at a multiple of."""
    makes_pointers: bool
    is_gluon: bool = False
    target: str = ""
    """For which GPUs, as in `sm_90`."""

    @property
    def other_targets(self) -> tuple[str, ...]:
        """For which others it could have been made: Triton replaces what a GPU lacks, and Gluon ends the process."""
        others = [one for one in BY_TARGET if one != self.target]
        if not self.is_gluon:
            return tuple(others)
        if OF_ONE_GENERATION.search(self.text):
            return ()
        is_new = SINCE_HOPPER.search(self.text) is not None
        return tuple(one for one in others if not is_new or BY_TARGET[one] >= H200)


def launch(kernel: Compiled, grid: Sequence[SupportsIndex], given: Sequence[PassedValue]) -> None:
    """Run a launch on the cpu device, and leave its results in the tensors. A side of the grid may be a tensor."""
    with torch._C.DisableTorchFunction():
        sides = [operator.index(one) for one in grid]
        try:
            arguments = TritonArguments(kernel.makes_pointers)
            for one in given:
                arguments.add(one)
            arguments.follow_addresses()
            if kernel.makes_pointers and not arguments.has_address:
                what = "makes pointers of integers, none of which is an address that a tensor's data_ptr() has given"
                raise UnsupportedError(f"{kernel.name} {what}; use --device gpu")
        except ClaimError as error:
            CALLS.trouble = error
            raise
        add_scratch(arguments.made, kernel, sides)
        run_launch(as_launched(kernel, sides), arguments.made)


def add_scratch(made: LaunchArguments, kernel: Compiled, sides: Sequence[int]) -> None:
    """Add the memory that a kernel's last parameters stand for, after the program's own."""
    more = count_parameters(kernel.text, kernel.name) - len(made.texts)
    for nbytes in (*kernel.scratch, *(0 for _ in range(more)))[:more]:
        made.add_scratch(nbytes * prod(sides) * kernel.blocks)


def as_launched(kernel: Compiled, sides: Sequence[int]) -> LaunchedKernel:
    """A launch of so many programs."""
    return LaunchedKernel(
        kernel.name,
        kernel.text,
        grid=(sides[0] * kernel.blocks, sides[1], sides[2]),
        block=(LANES * kernel.warps, 1, 1),
        shared=kernel.shared,
        cluster=(kernel.blocks, 1, 1) if kernel.blocks > 1 else (),
        is_cooperative=kernel.is_cooperative,
        is_tiled=True,
        is_fenced=not kernel.is_gluon,
        align=kernel.align,
        target=kernel.target,
        other_targets=kernel.other_targets,
    )
