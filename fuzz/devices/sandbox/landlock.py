"""Landlock: which files this process, and all that it starts, may reach from now on.

Nothing takes it back. Knows paths and rights; never whose they are.
"""

import contextlib
import ctypes
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kfuzz.devices.sandbox.kernel import RefusedCallError, call

CREATE, ADD, RESTRICT = 444, 445, 446
"""The numbers of the calls, the same on every machine."""
OF_VERSION = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REFER, TRUNCATE, IOCTL_DEV = 1, 2, 4, 8, 1 << 13, 1 << 14, 1 << 15
MAKING = 0b1_1111_1111_0000
"""To remove and to make files, folders, links, pipes, sockets and devices."""
FIRST = EXECUTE | WRITE_FILE | READ_FILE | READ_DIR | MAKING
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""What a rule for a single file may allow."""
TCP, SCOPES = 0b11, 0b11
"""To bind and to connect; sockets without a file, and signals, that leave the sandbox."""
SINCE = {REFER: 2, TRUNCATE: 3, IOCTL_DEV: 5}
TCP_SINCE, SCOPES_SINCE = 4, 6


@dataclass(frozen=True)
class Reach:
    """The paths that stay within reach: to read, with all below them; to list, with all below; to write; to execute."""

    read: tuple[str, ...]
    listed: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    executed: tuple[str, ...] = ()


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The version of Landlock that this kernel offers; 0 if it has none."""
    try:
        return call("landlock_create_ruleset", CREATE, 0, 0, OF_VERSION)
    except RefusedCallError:
        return 0


def restrict(reach: Reach, known: int) -> None:
    """Leave this process only what is within reach, as far as this version of Landlock knows it.

    `no_new_privs` must be set.
    """
    handled = FIRST | sum(right for right, since in SINCE.items() if known >= since)
    attributes = _Ruleset(handled, TCP if known >= TCP_SINCE else 0, SCOPES if known >= SCOPES_SINCE else 0)
    size = 24 if known >= SCOPES_SINCE else 16 if known >= TCP_SINCE else 8
    ruleset = call("landlock_create_ruleset", CREATE, ctypes.byref(attributes), size, 0)
    try:
        _allow(ruleset, reach.read, (READ_FILE | READ_DIR) & handled)
        _allow(ruleset, reach.listed, READ_DIR)
        _allow(ruleset, reach.executed, EXECUTE | READ_FILE | READ_DIR)
        _allow(ruleset, reach.written, handled & ~EXECUTE & ~IOCTL_DEV)
        call("landlock_restrict_self", RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, paths: Iterable[str], rights: int) -> None:
    for path in paths:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                allowed = rights if Path(path).is_dir() else rights & OF_FILES
                if allowed:
                    call("landlock_add_rule", ADD, ruleset, 1, ctypes.byref(_PathRule(allowed, opened)), 0)
            finally:
                os.close(opened)
