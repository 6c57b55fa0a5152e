"""Kernel files that change while you work on them, with their headers.

Knows times and sizes of files; never their content, except for `#include`.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kfuzz.ui.targets.changed import included_files

PAUSE = 0.3
"""Seconds between two looks: less than you need to turn from the editor to the terminal."""
Stamp = frozenset[tuple[Path, int, int]]


def stamp(path: Path) -> Stamp:
    """Times and sizes of the file and of all that it includes: they differ after a change."""
    return frozenset(
        (one, status.st_mtime_ns, status.st_size) for one in included_files(path) for status in (one.stat(),)
    )


def changes(files: Callable[[], Iterable[Path]], wait: Callable[[float], None] = time.sleep) -> Iterator[list[Path]]:
    """Yield all files first, then again and again the files that have changed since the last time.

    It looks before it yields: a change during the work on a file is yielded next. `wait` passes the time between two
    looks; a test changes a file there.
    """
    before: dict[Path, Stamp] = {}
    while True:
        try:
            now = {path: stamp(path) for path in files()}
        except OSError:  # a file is gone for a moment: an editor puts a new one in its place
            now = before
        changed = [path for path, state in now.items() if state and state != before.get(path)]
        before = now
        if changed:
            yield changed
        else:
            wait(PAUSE)
