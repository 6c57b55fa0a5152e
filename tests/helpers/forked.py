"""Runs kfuzz and pytest, each time in a process of its own: a fork of one that has imported both, which takes 0.7 s.

A few tests start them as a user does, from nothing: the sessions, the installation, and those of the program itself.
`python forked.py` is the process that forks. It has no other thread, and nothing of a user has run in it.
"""

import atexit
import gc
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from kfuzz.common.numpy_threads import use_one_thread

IMPORTED = (
    "pytest",
    "kfuzz.ui.commands.fuzz",
    "kfuzz.ui.commands.replay",
    "kfuzz.ui.commands.minimize",
    "kfuzz.ui.pytest.items",
)
MAINS = {"pytest": ("pytest", "console_main"), "kfuzz": ("kfuzz.__main__", "main")}


def run_forked(
    program: str, *words: str, cwd: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `kfuzz` or `pytest` with these words, as subprocess.run does `python -m`."""
    with TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("stdout", "stderr")]
        variables = dict(os.environ if environment is None else environment)
        forker = _start()
        assert forker.stdin
        assert forker.stdout
        forker.stdin.write(json.dumps([program, words, str(cwd), variables, list(map(str, streams))]) + "\n")
        forker.stdin.flush()
        status = int(forker.stdout.readline())
        out, err = (one.read_text(encoding="utf-8") for one in streams)
    return subprocess.CompletedProcess([program, *words], status, out, err)


@cache
def _start() -> subprocess.Popen[str]:
    """The process that forks, one for each process of the tests; it ends when they close its input."""
    command = [sys.executable, str(Path(__file__))]
    forker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(forker.communicate)
    return forker


def serve() -> None:
    """Fork for each request, and answer with the status of the fork, which goes on after this function."""
    with use_one_thread():
        for name in IMPORTED:
            importlib.import_module(name)
    gc.freeze()  # what is imported is no garbage, and pytest looks for some twice
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for line in requests:
        pid = os.fork()
        if not pid:
            sys.exit(_be(*json.loads(line)))
        _, status = os.waitpid(pid, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
        answers.flush()


def _be(program: str, words: Sequence[str], cwd: str, variables: Mapping[str, str], streams: Sequence[str]) -> int:
    """Be that program: its status."""
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(cwd)
    for number, path in enumerate((os.devnull, *streams)):
        handle = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(handle, number)
        os.close(handle)
    sys.path[:1] = [cwd, *filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [program, *words]
    module, function = MAINS[program]
    status: int = getattr(importlib.import_module(module), function)()
    return status


if __name__ == "__main__":
    serve()
