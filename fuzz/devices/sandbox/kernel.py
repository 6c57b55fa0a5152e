"""Calls of the kernel that Python has no names for. Knows numbers and structures; never what they are for."""

import ctypes
import os
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
PR_SET_DUMPABLE, PR_GET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 4, 3, 38
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 1 << 14, 1 << 18
CAPABILITIES = 0x20080522
"""The version of the structures of capset, of two words each."""
MACHINES = {"x86_64": 0, "aarch64": 1}
"""The column of a machine in the table of call numbers."""


class RefusedCallError(OSError):
    """The kernel does not offer a call, or does not allow it."""


def machine() -> int | None:
    """The column of this machine; None if kfuzz does not know its calls."""
    return MACHINES.get(platform.machine())


def call(name: str, number: int, *given: object) -> int:
    """Make a call of the system by its number; RefusedCallError, with the kernel's word, if that fails."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in given]
    result = int(LIBC.syscall(ctypes.c_long(number), *words))
    if result < 0:
        raise RefusedCallError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def control_process(option: int, value: int) -> int:
    """prctl of one value."""
    result = int(LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0))
    if result < 0:
        raise RefusedCallError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")
    return result


def leave_namespaces(flags: int) -> None:
    """unshare."""
    if LIBC.unshare(flags):
        raise RefusedCallError(ctypes.get_errno(), f"unshare: {os.strerror(ctypes.get_errno())}")


def mount(source: str, target: str, kind: str, flags: int, words: str) -> None:
    """Mount a file system."""
    if LIBC.mount(source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), words.encode()):
        raise RefusedCallError(ctypes.get_errno(), f"mount: {os.strerror(ctypes.get_errno())}")


def drop_capabilities() -> None:
    """Have no right of an administrator from now on."""
    header = (ctypes.c_uint32 * 2)(CAPABILITIES, 0)
    call("capset", (126, 91)[machine() or 0], header, (ctypes.c_uint32 * 6)())
