"""Processes that have torch and stay up: one of each kind for each process of kfuzz, since torch takes long to import.

A process is asked by the name of a folder, in which it leaves its answer. Knows processes; it knows no torch.
"""

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kfuzz.common.time_limits import time_limits


class NoAnswerError(Exception):
    """The process did not answer: its last words, or that it took too long."""


class TimeOverError(NoAnswerError):
    """The process did not answer before the time of the whole command was over, so nothing is known."""


@dataclass(frozen=True)
class ServingProcess:
    """A process, and the file of what it says when something fails."""

    process: "subprocess.Popen[bytes]"
    errors: IO[bytes]

    def last_words(self) -> str:
        self.process.wait()
        self.errors.seek(0)
        return (self.errors.read().decode(errors="replace").strip().splitlines() or ["it ended"])[-1]

    def end(self) -> None:
        """End it with all that it has started; the next question starts another. Those of other modules go on."""
        for key in [key for key, one in _SERVERS.items() if one is self]:
            del _SERVERS[key]
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(OSError), self.errors, self.process:  # what was not sent is lost
            pass


def ask(module: str, folder: Path, on_gpu: bool = False) -> None:
    """Let the process of a module do what lies in a folder; NoAnswerError if it ends, or takes longer than a
    compilation may; TimeOverError if it takes longer than is left of the time of the whole command.

    `on_gpu`: the process sees the GPUs of this one.
    """
    limits = time_limits()
    left = limits.left
    seconds = min(limits.compile, left)
    if not left:  # the process stays up
        raise TimeOverError("the time is over: give more --max-time")
    server = _server(module, on_gpu)
    assert server.process.stdin is not None
    assert server.process.stdout is not None
    try:
        server.process.stdin.write(f"{folder}\n".encode())
        server.process.stdin.flush()
        is_ready = bool(select.select([server.process.stdout], [], [], seconds)[0])
        if is_ready and server.process.stdout.readline():
            return
    except OSError:  # it has ended
        is_ready = True
    except BaseException:  # Ctrl-C: it would go on, and its answer would be taken for that to the next question
        server.end()
        raise
    is_over = not is_ready and left < limits.compile
    limit = "the time is over: give more --max-time" if is_over else "limit: --compile-time"
    words = server.last_words() if is_ready else f"it took more than {seconds:.0f} s ({limit})"
    server.end()
    raise TimeOverError(words) if is_over else NoAnswerError(words)


_SERVERS: dict[tuple[str, int, bool], ServingProcess] = {}
"""The processes that are up: by their module, the process that they answer, since a fork starts others, and GPUs."""


def _server(module: str, on_gpu: bool) -> ServingProcess:
    """The process of a module for this one."""
    key = (module, os.getpid(), on_gpu)
    if key not in _SERVERS:
        usual = {**os.environ} if on_gpu else {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        errors = tempfile.TemporaryFile()  # noqa: SIM115  open as long as the process
        words = [sys.executable, "-m", module]
        pipe = subprocess.PIPE
        made = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=errors, env=usual, start_new_session=True)
        _SERVERS[key] = ServingProcess(made, errors)
    return _SERVERS[key]


def serve(answer: Callable[[Path], None]) -> None:
    """Answer the folders named on the standard input until it ends. What an answer prints goes to the errors."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        answer(Path(line.strip()))
        print("done", file=answers, flush=True)
