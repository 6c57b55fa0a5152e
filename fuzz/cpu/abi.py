"""The runtime's interface in ctypes, field by field as runtime/abi.h has it, which a test holds it to.

Knows structs and libraries; what a run means, it leaves to backend.py. Lives in worker processes alone.
"""

import ctypes
import os
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path

from kfuzz.cpu.compiler import Library
from kfuzz.cpu.toolchain import GUARD
from kfuzz.devices import DeviceError

FORWARD, REVERSE, SHUFFLED = range(3)
HAS_CONTENT, IS_OUTPUT, IS_INITIALISED = 1, 2, 4
BY_HOST, HOST_VISIBLE, FREED, OF_EARLIER_CALL = 8, 16, 32, 64
TAKEN_AS_UNWRITTEN, IS_WRITTEN = 128, 256
FINISHED, STOPPED, TIMED_OUT, TOO_LARGE, REFUSED, CROWDED = range(6)
NOWHERE, IN_BUFFER, IN_STATIC_SHARED, IN_DYNAMIC_SHARED, IN_GLOBAL_VARIABLE, ON_HEAP = range(6)
IN_ONE_BLOCK, IN_OTHER_BLOCKS, IN_ONE_WARP, IN_OTHER_WORK, IN_OTHER_NODE = range(5)
OF_KERNEL, OF_COPY, OF_SET, OF_THE_HOST, OF_CALLBACK, OF_ALLOCATION, OF_FREEING, OF_OPERATION = range(8)
IS_ATOMIC, IS_VOLATILE, IS_OF_BLOCK_SCOPE = 1, 2, 4
SCOPES_REACH, ATOMICS_RELEASE, ATOMICS_ACQUIRE, VOLATILE_IS_ATOMIC, WARPS_IN_STEP = 1, 2, 4, 8, 16
FINDING_CAPACITY = 64
MOST_GIVEN, MOST_RANK, MOST_CALLS = 32, 8, 16
MOST_ALLOCATIONS, MOST_LAUNCHES = 1024, 4096
"""Of host functions, in one run: abi.h's max_buffers, and how many launches are written down."""


class RawEntry(Structure):
    """A __global__ function of a library; a linked list."""


RawEntry._fields_ = [
    ("name", c_char_p),
    ("invoke", c_void_p),
    ("signature", c_char_p),
    ("next", POINTER(RawEntry)),
]


class RawModule(Structure):
    """What a kernel library hands to the runtime."""

    _fields_ = [
        ("thread", c_void_p),
        ("block", c_void_p),
        ("block_dim", c_void_p),
        ("grid_dim", c_void_p),
        ("thread_local_anchor", c_void_p),
        ("entries", POINTER(RawEntry)),
    ]


class RawSharedArray(Structure):
    """A static __shared__ array."""

    _fields_ = [("offset", c_uint64), ("bytes", c_uint64), ("is_guard", c_uint64)]


class RawVariable(Structure):
    """A variable with static storage that is not in shared memory."""

    _fields_ = [("offset", c_uint64), ("bytes", c_uint64), ("is_constant", c_uint64)]


class RawBuffer(Structure):
    """One array of a job."""

    _fields_ = [
        ("content", c_void_p),
        ("earlier_content", c_void_p),
        ("bytes", c_uint64),
        ("fill", c_uint64),
        ("element_bytes", c_uint32),
        ("flags", c_uint32),
        ("distance", c_uint32),
        ("address", c_void_p),
        ("line", c_uint32),
        ("freed_line", c_uint32),
    ]


class RawArgument(Structure):
    """A buffer by number, or a value."""

    _fields_ = [("value", c_int64), ("buffer", c_int32)]


class RawStep(Structure):
    """One launch."""

    _fields_ = [
        ("entry", POINTER(RawEntry)),
        ("args", POINTER(RawArgument)),
        ("arg_count", c_uint32),
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("cluster", c_uint32 * 3),
        ("shared", c_uint32),
        ("on_host", c_uint32),
        ("cooperative", c_uint32),
        ("context", c_void_p),
    ]


class RawGiven(Structure):
    """A tensor that a host function returns."""

    _fields_ = [("data", c_void_p), ("type", c_uint32), ("rank", c_uint32), ("sizes", c_int64 * MOST_RANK)]


class RawLaunched(Structure):
    """A launch by a host function."""

    _fields_ = [
        ("line", c_uint32),
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("shared", c_uint64),
        ("refused", c_uint32),
        ("is_seen", c_uint32),
        ("calls", c_uint32 * MOST_CALLS),
    ]


class RawFinding(Structure):
    """What the runtime saw, in numbers."""

    _fields_ = [
        ("kind", c_uint32),
        ("place", c_uint32),
        ("place_number", c_uint32),
        ("step", c_uint32),
        ("offset", c_int64),
        ("address", c_uint64),
        ("pc", c_uint64),
        ("other_pc", c_uint64),
        ("line", c_uint32),
        ("other_line", c_uint32),
        ("thread", c_uint32),
        ("other_thread", c_uint32),
        ("block", c_uint64),
        ("bytes", c_uint32),
        ("writes", c_uint32),
        ("other_writes", c_uint32),
        ("relation", c_uint32),
        ("traits", c_uint32),
        ("other_traits", c_uint32),
        ("other_block", c_uint64),
        ("count", c_uint64),
        ("detail", c_uint64),
        ("launched", c_uint32),
        ("work", c_uint32),
        ("other_work", c_uint32),
        ("other_launched", c_uint32),
        ("other_block_known", c_uint32),
        ("owner", c_uint64),
    ]


class RawRun(Structure):
    """One run of a job: what is asked, and what came of it."""

    _fields_ = [
        ("module", POINTER(RawModule)),
        ("buffers", POINTER(RawBuffer)),
        ("steps", POINTER(RawStep)),
        ("shared_arrays", POINTER(RawSharedArray)),
        ("variables", POINTER(RawVariable)),
        ("thread_local_anchor_offset", c_uint64),
        ("buffer_count", c_uint32),
        ("step_count", c_uint32),
        ("shared_array_count", c_uint32),
        ("variable_count", c_uint32),
        ("schedule", c_uint32),
        ("poison", c_uint32),
        ("seed", c_uint64),
        ("check", c_uint32),
        ("preempt_one_in", c_uint32),
        ("late_writes", c_uint32),
        ("assume", c_uint32),
        ("missing_lane", c_uint32),
        ("flush_denormals", c_uint32),
        ("timeout_ms", c_uint32),
        ("watched_buffer", c_int32),
        ("watched_offset", c_uint64),
        ("only_blocks", POINTER(c_uint64)),
        ("only_block_count", c_uint32),
        ("findings", POINTER(RawFinding)),
        ("finding_capacity", c_uint32),
        ("finding_count", c_uint32),
        ("status", c_uint32),
        ("step", c_uint32),
        ("blocks_done", c_uint64),
        ("block_ms", c_uint64),
        ("thread_steps", c_uint64),
        ("accesses", c_uint64),
        ("watched_pc", c_uint64),
        ("printed", c_char_p),
        ("job_buffer_count", c_uint32),
        ("buffer_capacity", c_uint32),
        ("launched", POINTER(RawLaunched)),
        ("launched_capacity", c_uint32),
        ("launched_count", c_uint32),
        ("launched_now", c_uint32),
        ("refusal", c_char_p),
        ("given", POINTER(RawGiven)),
        ("given_count", c_uint32),
        ("first_counted", c_uint32),
        ("is_program", c_uint32),
        ("exit_code", c_int32),
    ]


class Runtime:
    """The loaded runtime: one a process, for all kernel libraries."""

    def __init__(self, path: Path) -> None:
        # Global: kernel libraries take their symbols from it.
        self._library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
        self._run = self._library.cuda_on_cpu_run
        self._run.argtypes, self._run.restype = [POINTER(RawRun)], c_bool
        self._forget = self._library.cuda_on_cpu_forget_library
        self._forget.argtypes, self._forget.restype = [POINTER(RawModule)], None

    def run(self, run: RawRun) -> None:
        """Run a job once."""
        if not self._run(ctypes.byref(run)):
            raise DeviceError("the system gives the cpu device no memory for stacks and arrays (2 GB of addresses)")

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
        self.variables = (RawVariable * max(1, len(library.variables)))(
            *(RawVariable(offset, size, constant) for _, offset, size, constant in library.variables)
        )
        self.entries: dict[str, LoadedEntry] = {}
        raw = self.module.entries
        while raw:
            self.entries[raw.contents.name.decode()] = LoadedEntry(raw, raw.contents.signature.decode())
            raw = raw.contents.next

    def function(self, name: str, takes: Sequence[type]) -> "ctypes._FuncPointer":
        """A function of the library that gives nothing back."""
        found = self._handle[name]
        found.argtypes, found.restype = list(takes), None
        return found

    def unload(self) -> None:
        """Give the library's memory back; it is not used again."""
        self.entries.clear()
        close = ctypes.CDLL(None).dlclose
        close.argtypes = [c_void_p]
        close(self._handle._handle)


_compare = ctypes.CDLL(None).memcmp
_compare.argtypes, _compare.restype = [c_void_p, c_void_p, c_size_t], c_int


def are_equal(left: int, right: int, count: int) -> bool:
    """Whether so many bytes at two addresses are the same."""
    return bool(_compare(left, right, count) == 0)


def arguments(values: Sequence[tuple[int, int]]) -> "ctypes.Array[RawArgument]":
    """The arguments of a launch, each (number of a buffer or -1, value)."""
    return (RawArgument * max(1, len(values)))(*(RawArgument(value, buffer) for buffer, value in values))
