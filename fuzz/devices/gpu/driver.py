"""NVIDIA's driver library: whether it is installed, which GPU it has, and memory with unmapped edges.

Knows libcuda through ctypes, for what PyCUDA does not offer: asking without a context, and virtual memory.
It must not import pycuda.
"""

import ctypes
import functools
from dataclasses import dataclass

from kfuzz.devices import DeviceError, OutOfMemory
from kfuzz.kinds import Kind

SUCCESS, OUT_OF_MEMORY, NO_DEVICE = 0, 2, 100
UNSUITABLE_DRIVER = (35, 803, 804)
CAPABILITY_MAJOR, CAPABILITY_MINOR, VIRTUAL_MEMORY = 75, 76, 102

MEBIBYTE, GIBIBYTE = 1 << 20, 1 << 30
OPEN_SIDE = 16 * GIBIBYTE
"""Unmapped addresses on either side of an arena. An int index that wrapped is at most 2^31 elements of 4
bytes away, half of this, so wherever in a small arena it started, it faults; of 8 bytes, from the start of an array."""
LARGEST = 1024 * GIBIBYTE


ENDED: dict[str, Kind] = {
    "illegal memory access": "illegal-address",
    "operation not supported on global/shared address space": "illegal-address",
    "misaligned address": "misaligned",
    "illegal instruction": "trap",
    "device-side assert": "trap",
    "unspecified launch failure": "trap",
    "invalid program counter": "trap",
    "hardware stack error": "trap",
}
"""The driver's words for each error that ends a context, and the kind of finding that it is."""


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _AllocationProp(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("win32", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _AccessDesc(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


PINNED, ON_DEVICE, READ_WRITE = 1, 1, 3


@functools.cache
def library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise DeviceError("no NVIDIA driver (libcuda.so.1 is not found): an NVIDIA GPU needs one") from error


def call_driver(name: str, *arguments: object) -> None:
    code = getattr(library(), name)(*arguments)
    if code == OUT_OF_MEMORY:
        raise OutOfMemory(f"{name}: the GPU is out of memory")
    if code != SUCCESS:
        raise DeviceError(f"{name} failed: {error_text(code)} (CUDA error {code})")


def error_text(code: int) -> str:
    text = ctypes.c_char_p()
    library().cuGetErrorString(code, ctypes.byref(text))
    return text.value.decode() if text.value else "unknown error"


def kind_of(said: str) -> Kind | None:
    """The kind of finding that an error of the driver means; None if it is not one that a kernel causes."""
    return next((kind for words, kind in ENDED.items() if words in said), None)


@dataclass(frozen=True)
class Gpu:
    """The GPU that runs jobs, as far as the driver describes it without a context."""

    name: str
    capability: tuple[int, int]
    driver_cuda: tuple[int, int]

    @property
    def architecture(self) -> str:
        return "sm_{}{}".format(*self.capability)


@functools.cache
def gpu() -> Gpu:
    """The first GPU that the driver shows; a DeviceError in one line if there is none."""
    code = library().cuInit(0)
    if code in UNSUITABLE_DRIVER:
        raise DeviceError(f"the NVIDIA driver does not suit this machine: {error_text(code)}; update the driver")
    if code == NO_DEVICE:
        raise DeviceError("the NVIDIA driver shows no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES")
    if code != SUCCESS:
        raise DeviceError(f"the NVIDIA driver does not start: {error_text(code)} (CUDA error {code}); check nvidia-smi")
    version, device = ctypes.c_int(), ctypes.c_int()
    call_driver("cuDriverGetVersion", ctypes.byref(version))
    call_driver("cuDeviceGet", ctypes.byref(device), 0)
    name = ctypes.create_string_buffer(256)
    call_driver("cuDeviceGetName", name, 256, device)
    capability = (attribute(CAPABILITY_MAJOR, device), attribute(CAPABILITY_MINOR, device))
    number = version.value
    return Gpu(name.value.decode(), capability, (number // 1000, number % 1000 // 10))


def count_gpus() -> int:
    """The number of GPUs that the driver shows."""
    gpu()
    number = ctypes.c_int()
    call_driver("cuDeviceGetCount", ctypes.byref(number))
    return number.value


def place() -> str:
    """The first GPU's address on this machine's PCI bus."""
    name = ctypes.create_string_buffer(64)
    call_driver("cuDeviceGetPCIBusId", name, ctypes.c_int(64), ctypes.c_int(0))
    return name.value.decode()


def free() -> tuple[int, int]:
    """How many bytes of GPU memory are free, and how many there are; it needs a current context."""
    left, total = ctypes.c_size_t(), ctypes.c_size_t()
    call_driver("cuMemGetInfo_v2", ctypes.byref(left), ctypes.byref(total))
    return left.value, total.value


def attribute(which: int, device: ctypes.c_int) -> int:
    value = ctypes.c_int()
    call_driver("cuDeviceGetAttribute", ctypes.byref(value), which, device)
    return value.value


class Arena:
    """One stretch of device memory with nothing mapped before its first byte or after its last.

    It only grows. It needs a current context and is released with the process.
    """

    def __init__(self) -> None:
        if not attribute(VIRTUAL_MEMORY, ctypes.c_int(0)):
            raise DeviceError("this GPU or its driver has no virtual memory management (it needs CUDA 10.2 on Linux)")
        self.base = _reserve(OPEN_SIDE + LARGEST + OPEN_SIDE) + OPEN_SIDE
        self.capacity = 0

    def hold(self, nbytes: int) -> None:
        """Grow to at least this many bytes, or raise OutOfMemory and stay unchanged."""
        if nbytes <= self.capacity:
            return
        wanted = max(nbytes - self.capacity, min(max(self.capacity, 32 * MEBIBYTE), GIBIBYTE))
        size = round_to_pages(wanted)
        if self.capacity + size > LARGEST:
            raise OutOfMemory(f"a job of {nbytes} bytes is beyond the {LARGEST >> 30} GiB that are addressed at once")
        _map(self.base + self.capacity, size)
        self.capacity += size


class OwnMemory:
    """GPU memory for one array, with nothing mapped on either side as far as an int index reaches.

    It needs a current context; `close` gives it back.
    """

    def __init__(self, nbytes: int) -> None:
        self.size = round_to_pages(max(nbytes, 1))
        self._span = OPEN_SIDE + self.size + OPEN_SIDE
        self.base = _reserve(self._span) + OPEN_SIDE
        try:
            self._handle = _map(self.base, self.size)
        except (OutOfMemory, DeviceError):
            self._free()
            raise

    def close(self) -> None:
        """Give the memory back, and its addresses."""
        call_driver("cuMemUnmap", ctypes.c_uint64(self.base), ctypes.c_size_t(self.size))
        call_driver("cuMemRelease", self._handle)
        self._free()

    def _free(self) -> None:
        call_driver("cuMemAddressFree", ctypes.c_uint64(self.base - OPEN_SIDE), ctypes.c_size_t(self._span))


def paint(address: int, words: int, word: int, stream: int) -> None:
    """Fill memory with a word, after the work already in the stream."""
    given = (ctypes.c_uint64(address), ctypes.c_uint(word), ctypes.c_size_t(words), ctypes.c_void_p(stream))
    call_driver("cuMemsetD32Async", *given)


def round_to_pages(nbytes: int) -> int:
    """The bytes of GPU memory that an allocation of this size takes."""
    granularity = ctypes.c_size_t()
    call_driver("cuMemGetAllocationGranularity", ctypes.byref(granularity), ctypes.byref(_device_memory()), 0)
    return -(-nbytes // granularity.value) * granularity.value


def _device_memory() -> _AllocationProp:
    return _AllocationProp(type=PINNED, location=_Location(ON_DEVICE, 0))


def _reserve(span: int) -> int:
    """Reserve a span of addresses with nothing mapped, and return the first."""
    address, none = ctypes.c_uint64(), ctypes.c_uint64(0)
    call_driver("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(span), ctypes.c_size_t(0), none, none)
    return address.value


def _map(address: int, nbytes: int) -> ctypes.c_uint64:
    """Map GPU memory at these addresses and return the handle for cuMemRelease; OutOfMemory if there is none."""
    handle, begin, size = ctypes.c_uint64(), ctypes.c_uint64(address), ctypes.c_size_t(nbytes)
    call_driver("cuMemCreate", ctypes.byref(handle), size, ctypes.byref(_device_memory()), ctypes.c_uint64(0))
    call_driver("cuMemMap", begin, size, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
    access = _AccessDesc(_Location(ON_DEVICE, 0), READ_WRITE)
    call_driver("cuMemSetAccess", begin, size, ctypes.byref(access), ctypes.c_size_t(1))
    return handle
