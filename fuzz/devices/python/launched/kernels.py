"""A launch as a job of the cpu device: what a compiler made of a kernel, and how it is launched."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kfuzz.devices import Call, ClaimError, Job, Step
from kfuzz.devices.cpu.ptx.module import read_module
from kfuzz.devices.python.extensions import CALLS, RefusedByExtensionError
from kfuzz.devices.python.launched.arguments import LaunchArguments

Sides = tuple[int, int, int]
LEAST_ALIGNED = 16
"""Bytes: what scratch memory begins at a multiple of at least."""


@dataclass(frozen=True)
class LaunchedKernel:
    """A kernel as its compiler left it, and its launch."""

    name: str
    """That of its module's entry."""
    text: str
    """Its PTX."""
    grid: Sides
    block: Sides
    shared: int
    cluster: Sides | tuple[()] = ()
    is_cooperative: bool = False
    is_tiled: bool = False
    """Its source has programs and no threads."""
    is_fenced: bool = False
    """Its compiler writes the proxy fences."""
    align: int = LEAST_ALIGNED
    """What each array of scratch memory begins at a multiple of."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What its language says for words of CUDA."""
    target: str = ""
    """For which GPUs its compiler has made it; empty if that makes it for one target alone."""
    other_targets: tuple[str, ...] = ()
    """For which others it could have made it."""


def count_parameters(text: str, name: str) -> int:
    """How many arguments a kernel takes; a structure is as many as it has words of eight bytes."""
    function = read_module(text).function(name)
    assert function is not None, "its compiler named it"
    return sum(max(1, one.bytes // 8) if one.is_array else 1 for one in function.parameters)


def run_launch(kernel: LaunchedKernel, made: LaunchArguments) -> None:
    """Run a launch on the cpu device, and leave its results in the arrays."""
    if not all(kernel.grid):  # CUDA refuses it, whatever the program makes of that
        raise RefusedByExtensionError(f"a launch of no blocks: {kernel.name[:40]} with the grid {kernel.grid}")
    if kernel.target:
        CALLS.targets[kernel.target] = tuple(
            one for one in CALLS.targets.get(kernel.target, kernel.other_targets) if one in kernel.other_targets
        )
    try:
        left = CALLS.run(_job_of(kernel, made), kernel.words)
    except ClaimError as error:
        CALLS.trouble = error
        raise
    for held in made.storages.values():
        if held.name in left:
            held.put_back(left[held.name])


def _job_of(kernel: LaunchedKernel, made: LaunchArguments) -> Job:
    entry = Call(kernel.name, tuple(made.texts), tuple(made.declared))
    step = Step(
        entry,
        kernel.grid,
        kernel.block,
        kernel.shared,
        tuple(made.values),
        kernel.cluster,
        kernel.is_cooperative,
    )
    return Job(
        kernel.name,
        CALLS.file.with_name(f"{kernel.name[:40]}.ptx"),
        kernel.text,
        flags=(),
        align=max(LEAST_ALIGNED, kernel.align),
        buffers=tuple(made.buffers.values()),
        steps=(step,),
        entries=(entry,),
        through="ptx",
        is_tiled=kernel.is_tiled,
        is_fenced=kernel.is_fenced,
        links=tuple(made.links),
    )
