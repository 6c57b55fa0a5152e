"""The helper of a process in a sandbox: it compiles what the process may not compile, and starts a second process.

The helper is the nursery from which the process was forked. It hears a few words, and what it does is fixed: the
process can ask for no other work. Knows sockets and files without a name; never what is compiled.
"""

import os
import pickle
import socket
import struct
from collections.abc import Sequence
from typing import Any

from kfuzz.devices.worker.plain import pack_plain

START, HELP = "start", "help"
STARTED = ("kfuzz.devices.cpu.backend",)
"""The modules of processes that a sandboxed process may have started, in a sandbox of the same kind."""
HELPS = ("kfuzz.devices.cpu.outside",)
"""The modules that do work for a sandboxed process, outside of its sandbox."""
NUMBER = struct.Struct("<q")
_connection: list[socket.socket] = []


class HelperError(Exception):
    """The helper has not done its work."""


def be_helped_by(connection: int | None) -> None:
    """This process, which is in a sandbox from now on, has this connection to its helper."""
    _connection[:] = [] if connection is None else [socket.socket(fileno=connection)]
    _state["boxed"] = True


_state = {"boxed": False}


def is_boxed() -> bool:
    """Whether this process is in a sandbox."""
    return _state["boxed"]


def ask_to_start(module: str, files: Sequence[int]) -> tuple[int, int] | None:
    """Have a process started; its number, and the file that says how it ended. None if it was not."""
    if not _connection:
        return None
    socket.send_fds(_connection[0], [f"{START} {module}".encode()], files)
    answer, given, _, _ = socket.recv_fds(_connection[0], NUMBER.size, 1)
    return (NUMBER.unpack(answer)[0], given[0]) if answer and given else None


def ask_for_help(module: str, request: object) -> Any:  # noqa: ANN401  what the module returns
    """What a module of HELPS makes of a request outside of the sandbox; it raises what that raises."""
    if not _connection:
        raise HelperError("this process has no helper")
    reading, writing = os.pipe()
    asked = os.memfd_create("request")
    with os.fdopen(os.dup(asked), "wb") as file:
        file.writelines(pack_plain(request))
    try:
        socket.send_fds(_connection[0], [f"{HELP} {module}".encode()], [asked, writing])
        answer, given, _, _ = socket.recv_fds(_connection[0], NUMBER.size, 1)
    finally:
        os.close(asked)
        os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read() if answer else b""
    for one in given:
        os.close(one)
    if not said:
        raise HelperError("the helper has ended")
    is_right, found = pickle.loads(said)  # noqa: S301  the helper runs kfuzz's own code alone
    if not is_right:
        raise found
    return found


def pack_answer(is_right: bool, found: object) -> bytes:
    """What the helper writes."""
    return pickle.dumps((is_right, found))
