"""The kernels of a person's own folder, and which of them a kept case is for.

Knows folders and claims; never how a kernel is run.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kfuzz.cases.case import Record
from kfuzz.claims.front_matter import MOST_BYTES, OPENS
from kfuzz.claims.kernel import Kernel, kernel_files, load, name_of

NOT_OURS = frozenset({"site-packages", "node_modules", "build", "dist"})
"""Folders with copies of other people's files. So are those whose name begins with a dot, and environments."""


def kernels_below(folder: Path) -> tuple[Kernel, ...]:
    """Every kernel below the folder, by path: the .cu files that carry a claim; other .cu files are none of ours."""
    return tuple(map(load, files_below(folder)))


def files_below(folder: Path) -> tuple[Path, ...]:
    """The files of these kernels."""
    return tuple(path for path in sorted(_sources(folder)) if has_claim(path))


def has_claim(path: Path) -> bool:
    """Whether the file has a front matter, right or wrong."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:  # a pipe would never be read to its end
            return False
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        return any(line.rstrip() == OPENS for line in text.splitlines())
    except OSError:
        return False


def _sources(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if not name.startswith(".") and name not in NOT_OURS]
        folders[:] = [name for name in folders if not os.path.exists(here / name / "pyvenv.cfg")]
        yield from (here / name for name in names if name.endswith(".cu"))


def kernels_for(record: Record, kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """The kernels that a case is for: those of its op that are not broken on purpose, and the one that it once broke.

    That one is looked for among our own kernels too, by its name.
    """
    chosen = [kernel for kernel in kernels if kernel.op == record.case.op]
    origin = record.origin.kernel if record.origin else ""
    if origin and all(kernel.name != origin for kernel in chosen):
        chosen += [load(path) for path in kernel_files() if name_of(path) == origin]
    return tuple(kernel for kernel in chosen if kernel.broken is None or kernel.name == origin)


def namesakes(kernels: Sequence[Kernel]) -> str:
    """Which of the kernels have one name, in a sentence that says why that cannot be; empty where none have."""
    names = [kernel.name for kernel in kernels]
    twice = next((name for name in names if names.count(name) > 1), None)
    both = " and ".join(str(kernel.path) for kernel in kernels if kernel.name == twice)
    return f"{both} are both named {twice}; findings are kept by name, so fuzz one at a time" if both else ""
