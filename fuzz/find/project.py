"""The kernels of a person's own folder, and which of them a kept case is for.

Knows folders and claims; never how a kernel is run.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kfuzz.cases.case import Record
from kfuzz.claims import front_matter
from kfuzz.claims.front_matter import MOST_BYTES
from kfuzz.claims.kernel import Kernel, kernel_files, load, name_of
from kfuzz.claims.python_text import is_submission
from kfuzz.devices import ClaimError
from kfuzz.sources.exhibits import description_of, is_exhibit, name_as_kernel

ENDINGS = (".cu", ".py")
"""Of files that may carry a claim."""
NOT_OURS = frozenset({"site-packages", "node_modules", "build", "dist"})
"""Folders with copies of other people's files. So are those whose name begins with a dot, and environments."""


@dataclass(frozen=True)
class Kernels:
    """The kernels of some files, by path, and what is wrong with each file that holds none."""

    usable: tuple[Kernel, ...]
    faults: Mapping[Path, ClaimError]


def read_all(paths: Iterable[Path], read: Callable[[Path], Kernel] = load) -> Kernels:
    """Read every file once; one that cannot be used does not keep the others from it.

    Kernels of one name are told apart by the folders that they lie in, since findings are kept by name.
    """
    usable: list[Kernel] = []
    faults: dict[Path, ClaimError] = {}
    for path in {path.resolve(): path for path in paths}.values():
        try:
            usable.append(read(path))
        except ClaimError as error:
            faults[path] = error
    names = Counter(kernel.name for kernel in usable)
    twins = [kernel for kernel in usable if names[kernel.name] > 1]
    apart = {kernel.path: name for kernel, name in zip(twins, names_by_folder(twins), strict=True)}
    return Kernels(tuple(replace(kernel, name=apart.get(kernel.path, kernel.name)) for kernel in usable), faults)


def names_by_folder(kernels: Sequence[Kernel]) -> list[str]:
    """Names that are all different: the last folders of each path, as many as it takes, and the file's own name."""
    parts = [kernel.path.resolve().with_suffix("").parts for kernel in kernels]
    for depth in range(2, max(map(len, parts), default=0) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    return [kernel.name for kernel in kernels]


def kernels_below(folder: Path) -> Kernels:
    """Every kernel below the folder: the .cu and .py files that carry a claim; others are none of ours."""
    return read_all(files_below(folder))


def files_below(folder: Path) -> tuple[Path, ...]:
    """The files of these kernels."""
    return tuple(path for path in sorted(sources(folder, ENDINGS)) if has_claim(path))


def sources_below(folder: Path) -> tuple[Path, ...]:
    """Every .cu file below the folder, with a claim or without, and every .py file that has one or is a submission."""
    return tuple(
        path for path in sorted(sources(folder, ENDINGS)) if path.suffix == ".cu" or is_claimed_or_submission(path)
    )


def is_claimed_or_submission(path: Path) -> bool:
    """Whether a Python file has a claim, or is told to be a submission by its shape."""
    try:
        return has_claim(path) or is_submission(front_matter.text_of(path))
    except ClaimError:
        return False


def has_claim(path: Path) -> bool:
    """Whether the file has a front matter, right or wrong."""
    if description_of(path):
        return front_matter.has_claim(front_matter.text_of(path))
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:  # a pipe would never be read to its end
            return False
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        return front_matter.has_claim(text if path.suffix != ".py" else front_matter.head_of(text))
    except OSError:
        return False


def sources(folder: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """The files of these endings below a folder, exhibits as the .cu that they read as; not other people's copies."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if not name.startswith(".") and name not in NOT_OURS]
        folders[:] = [name for name in folders if not os.path.exists(here / name / "pyvenv.cfg")]
        yield from (here / name for name in names if name.endswith(endings))
        if ".cu" in endings:
            yield from (name_as_kernel(here / name) for name in names if is_exhibit(here / name))


def kernels_of_op(record: Record, kernels: Iterable[Kernel]) -> list[Kernel]:
    """The kernels that compute what a case is an input of."""
    return [kernel for kernel in kernels if kernel.computes(record.case.op, record.case.dimensions)]


def kernels_for(record: Record, kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """The kernels that a case is for: those of its op that are not broken on purpose, and the one that it once broke.

    That one is looked for among our own kernels too, by its name.
    """
    chosen = kernels_of_op(record, kernels)
    origin = record.origin.kernel if record.origin else ""
    if origin and all(kernel.name != origin for kernel in chosen):
        chosen += [load(path) for path in kernel_files() if name_of(path) == origin]
    return tuple(kernel for kernel in chosen if kernel.broken is None or kernel.name == origin)
