"""Kernel files that change while somebody works on them, headers included.

Knows times and sizes of files; never what stands in one, but for `#include`.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kfuzz.find.changed import included_files

PAUSE = 0.3
"""Seconds between two looks: less than it takes to turn from the editor to the terminal."""
Stamp = frozenset[tuple[Path, int, int]]


def stamp(path: Path) -> Stamp:
    """What differs once the file, or one that it includes, has changed."""
    return frozenset(
        (one, status.st_mtime_ns, status.st_size) for one in included_files(path) for status in (one.stat(),)
    )


def changes(files: Callable[[], Iterable[Path]], wait: Callable[[float], None] = time.sleep) -> Iterator[list[Path]]:
    """All files at first, then those that have changed since they were last given, for as long as one asks.

    The look is taken before a file is given: what changes while it is worked on is given next. `wait` passes the time
    between two looks; a test lets a file change there.
    """
    before: dict[Path, Stamp] = {}
    while True:
        try:
            now = {path: stamp(path) for path in files()}
        except OSError:  # it went between two looks: an editor puts a new file in its place
            now = before
        changed = [path for path, seen in now.items() if seen and seen != before.get(path)]
        before = now
        if changed:
            yield changed
        else:
            wait(PAUSE)
