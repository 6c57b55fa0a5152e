"""The program `kfuzz`, also `python -m kfuzz`: it handles signals and closed streams.

Ctrl-C ends it silently while it loads, since nothing has begun yet. After that SIGTERM and SIGHUP act like Ctrl-C, so
that kfuzz keeps and reports its findings. Knows signals and streams; never a command.
"""

import importlib
import os
import signal
import sys
import time
from types import FrameType

from kfuzz.common.exit_codes import COULD_NOT, INTERRUPTED
from kfuzz.common.malloc import keep_freed_memory
from kfuzz.common.numpy_threads import use_one_thread

BEGAN = time.monotonic()
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Load the command line and run it."""
    _open_closed_streams()
    handled = [one for one in ENDS if signal.getsignal(one) is not signal.SIG_IGN]  # nohup ignores SIGHUP
    for one in handled:
        signal.signal(one, _leave)
    try:
        with use_one_thread():
            command = importlib.import_module("kfuzz.ui.commands.group").main
    except ImportError as error:
        sys.stderr.write(f"kfuzz cannot be loaded: {error}; install it again\n")
        sys.exit(COULD_NOT)
    for one in handled:
        signal.signal(one, _interrupt)
    keep_freed_memory()
    command(obj=BEGAN)


def _open_closed_streams() -> None:
    """Put /dev/null where a caller has closed a standard stream (`>&-`), so that no other file gets its number."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    if sys.stdout is None or sys.stderr is None:
        sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115  open as long as the process runs
        sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
