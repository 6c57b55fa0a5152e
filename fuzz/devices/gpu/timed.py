"""Kernels and host functions to be timed: compiled for the GPU of a session, and put on its stream.

Knows machine code, graphs and libraries of host functions; never what is timed against what.
"""

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import c_void_p
from pathlib import Path

from kfuzz.devices import Entry, Job, Step
from kfuzz.devices.gpu import graphs, hosting, machine_code
from kfuzz.devices.memory.layout import POISONS
from kfuzz.devices.vendor import GpuMemory, GpuSession


class CompiledKernels:
    """The kernels of a text, in the context of a session."""

    def __init__(
        self, session: GpuSession, path: Path, source: str, flags: tuple[str, ...], entries: tuple[Entry, ...]
    ) -> None:
        self._session = session
        self._code = machine_code.compile_kernel(path, source, flags, entries, session.gpu.architecture)
        self._module = graphs.LoadedFunctions(self._code.image)

    def pack(self, entry: Entry, values: Sequence[int], room: GpuMemory | None = None) -> bytes:
        """The arguments of a launch; if C++ makes them, it does so on the GPU, in this room."""
        there = self._code.entries[entry]
        if there.pack is None:
            return graphs.pack_arguments(values, there.parameters)
        assert room is not None, "C++ makes arguments in GPU memory"
        given = graphs.pack_arguments([room.address, *values], there.pack.parameters)
        stream, function = self._session.stream, self._module.function(there.pack.symbol, 0)
        graphs.launch(function, (1, 1, 1), (1, 1, 1), 0, given, stream)
        self._session.wait()
        return room.read(0, there.packed).tobytes()

    def launch(self, step: Step, arguments: bytes, stream: c_void_p) -> None:
        """Launch one with such arguments."""
        function = self._module.function(self._code.entries[step.entry].symbol, step.shared)
        graphs.launch(function, step.grid, step.block, step.shared, arguments, stream, step.cluster, step.cooperative)


class CompiledFunctions:
    """The host functions of a job in a library of their own."""

    def __init__(self, session: GpuSession, job: Job) -> None:
        self._library = hosting.HostLibrary(job, hosting.compile_library(job, session.gpu.architecture))
        self._library.library.kfuzz_begin(ctypes.c_uint32(POISONS[0]))

    def call(self, job: Job, number: int, addresses: Mapping[str, int]) -> str | None:
        """Call the function of a step on these arrays; its words if it refuses its arguments."""
        if not self._library.call_function(job, number, addresses):
            return None
        words: str = self._library.library.kfuzz_refusal().decode(errors="replace")
        return words
