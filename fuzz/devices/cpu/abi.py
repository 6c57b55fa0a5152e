"""The runtime's interface in ctypes, as runtime/abi.h declares it. Only worker processes use it."""

import ctypes
import os
import resource
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_bool, c_int, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path

from kfuzz.devices import DeviceError, cache
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.header import Header, from_json, to_json
from kfuzz.devices.cpu.toolchain import GUARD, HOME

READER = tuple(Path(__file__).with_name(name) for name in ("header.py", "header_text.py"))


def load_header(path: Path) -> Header:
    """Load the declarations of a header from the cache, or read them and keep them by content.

    To import the grammar and to parse abi.h takes 20 to 30 ms, which every worker process would pay at its start.
    """
    name = f"cpu/header-{cache.key(*(one.read_bytes() for one in (path, *READER)))[:32]}.json"
    if raw := cache.fetch(name):
        return from_json(raw)
    from kfuzz.devices.cpu.header_text import read_header  # noqa: PLC0415  only a process that finds nothing in the cache

    header = read_header(path)
    cache.save(name, to_json(header))
    return header


ABI = load_header(HOME / "runtime" / "abi.h")
BufferFlags, Schedule, Status, Place, Refused, RefusedMap, Relation, Traits, Assume, Work = (
    ABI.enumerations[name]
    for name in (
        "BufferFlags", "Schedule", "Status", "Place", "Refused", "RefusedMap", "Relation", "Traits", "Assume", "Work"
    )
)  # fmt: skip
GB = 1e9
OTHER_WORK = (Relation.in_other_work, Relation.in_other_node, Relation.in_launch_before)
"""The other access of a race belongs to other work than this launch."""
MOST_GIVEN, MOST_ALLOCATIONS = ABI.constants["max_given"], ABI.constants["max_buffers"]
USUAL_MULTIPROCESSORS = ABI.constants["usual_multiprocessors"]
"""Those of an H200, the GPU that host functions see unless a run says otherwise."""
TOUCHED_BYTES = ABI.constants["touched_bytes"]
FINDING_CAPACITY = 64
MOST_LAUNCHES = 4096
"""The runtime records this many launches by host functions in one run."""


class RawEntry(Structure):
    """A __global__ function of a library; a linked list."""


class RawModule(Structure):
    """What a kernel library passes to the runtime."""


class RawSharedArray(Structure):
    """A static __shared__ array."""


class RawStaticShared(Structure):
    """A kernel with static __shared__ arrays of its own."""


class RawVariable(Structure):
    """A variable with static storage that is not in shared memory."""


class RawBuffer(Structure):
    """One array of a job."""


class RawLink(Structure):
    """Bytes of a buffer that lead to another."""


class RawArgument(Structure):
    """A buffer by number, or a value."""


class RawStep(Structure):
    """One launch."""


class RawGiven(Structure):
    """A tensor that a host function returns."""


class RawLaunched(Structure):
    """A launch by a host function."""


class RawFinding(Structure):
    """One thing that the runtime saw, in numbers."""


class RawRun(Structure):
    """One run of a job: its input and its result."""


MIRRORS: dict[str, type[Structure]] = {
    one.__name__.removeprefix("Raw"): one
    for one in (
        RawEntry, RawModule, RawSharedArray, RawStaticShared, RawVariable, RawBuffer, RawLink, RawArgument, RawStep,
        RawGiven, RawLaunched, RawFinding, RawRun,
    )
}  # fmt: skip
for _name, _mirror in MIRRORS.items():
    _mirror._fields_ = ABI.fields(_name, MIRRORS)


def limits_of_memory() -> str:
    """The limits of this process's memory, as words after a message that something was refused; empty without any."""
    limits = {"ulimit -v": resource.RLIMIT_AS, "ulimit -d": resource.RLIMIT_DATA}
    given = {name: resource.getrlimit(number)[1] for name, number in limits.items()}
    words = [f"{name} is {most / GB:.1f} GB" for name, most in given.items() if most != resource.RLIM_INFINITY]
    return f"; {' and '.join(words)}: raise it or remove it" if words else ""


class Runtime:
    """The loaded runtime: one per process, for all kernel libraries."""

    def __init__(self, path: Path) -> None:
        # Global: kernel libraries take their symbols from it.
        try:
            self._library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
        except OSError as error:
            raise DeviceError(f"the cpu device cannot load its runtime: {error}{limits_of_memory()}") from None
        self._run = self._library.cuda_on_cpu_run
        self._run.argtypes, self._run.restype = [POINTER(RawRun)], c_bool
        self._forget = self._library.cuda_on_cpu_forget_library
        self._forget.argtypes, self._forget.restype = [POINTER(RawModule)], None
        self._addresses = self._library.cuda_on_cpu_addresses
        self._addresses.argtypes, self._addresses.restype = [], c_uint64
        self._release_vast = self._library.cuda_on_cpu_release_vast
        self._release_vast.argtypes, self._release_vast.restype = [], None

    def run(self, run: RawRun) -> None:
        """Run a job once."""
        if not self._run(ctypes.byref(run)):
            need = f"{self._addresses() / GB:.0f} GB of addresses, of which it uses few"
            raise DeviceError(f"the cpu device cannot reserve {need}{limits_of_memory()}")

    def release_vast(self) -> None:
        """Give back the addresses of vast arrays: they may be all that this process has."""
        self._release_vast()

    def forget(self, kernels: "LoadedLibrary") -> None:
        """Unload a kernel library."""
        self._forget(ctypes.byref(kernels.module))
        kernels.unload()


@dataclass
class LoadedEntry:
    """A kernel that can be launched: one letter of `signature` for each of its parameters."""

    raw: "ctypes._Pointer[RawEntry]"
    signature: str


class LoadedLibrary:
    """A kernel library in this process."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._handle = ctypes.CDLL(str(library.path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self.module = RawModule.in_dll(self._handle, "cuda_on_cpu_module")
        self.shared = (RawSharedArray * max(1, len(library.shared_arrays)))(
            *(RawSharedArray(offset, size, name == GUARD) for name, offset, size in library.shared_arrays)
        )
        self.static_shared = (RawStaticShared * max(1, len(library.static_shared)))(
            *(RawStaticShared(place, size) for place, size in library.static_shared)
        )
        self.variables = (RawVariable * max(1, len(library.variables)))(
            *(RawVariable(offset, size, constant) for _, offset, size, constant in library.variables)
        )
        self.entries: dict[str, LoadedEntry] = {}
        raw = self.module.entries
        while raw:
            self.entries[raw.contents.name.decode()] = LoadedEntry(raw, raw.contents.signature.decode())
            raw = raw.contents.next

    def function(self, name: str, takes: Sequence[type]) -> "ctypes._FuncPointer":
        """A function of the library that returns nothing."""
        function = self._handle[name]
        function.argtypes, function.restype = list(takes), None
        return function

    def unload(self) -> None:
        """Unload the library, which is not used again."""
        self.entries.clear()
        close = ctypes.CDLL(None).dlclose
        close.argtypes = [c_void_p]
        close(self._handle._handle)


_compare = ctypes.CDLL(None).memcmp
_compare.argtypes, _compare.restype = [c_void_p, c_void_p, c_size_t], c_int


def are_equal(left: int, right: int, count: int) -> bool:
    """Whether `count` bytes at two addresses are the same."""
    return bool(_compare(left, right, count) == 0)


def arguments(values: Sequence[tuple[int, int]]) -> "ctypes.Array[RawArgument]":
    """The arguments of a launch from pairs: the number of a buffer or -1, and a value."""
    return (RawArgument * max(1, len(values)))(*(RawArgument(value, buffer) for buffer, value in values))
