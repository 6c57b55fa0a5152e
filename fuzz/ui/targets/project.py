"""The kernels of your own folder, and which of them a kept case is for.

Knows folders and claims; never how a kernel is run.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kfuzz.cases.case import Record
from kfuzz.claims.kernel import Kernel, kernel_files, load, name_of
from kfuzz.claims.language import front_matter
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.claims.language.languages import ENDINGS, language_of
from kfuzz.claims.references.formats import is_submission
from kfuzz.common.text import exhibits
from kfuzz.common.text.exhibits import is_exhibit, name_as_kernel
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.guess import Guess

NOT_OURS = frozenset({"site-packages", "node_modules", "build", "dist"})
"""Folders with copies of other people's files, like folders whose name begins with a dot and environments."""


@dataclass(frozen=True)
class Kernels:
    """The kernels of some files, and what is wrong with each file that cannot be used, by path."""

    usable: tuple[Kernel, ...]
    faults: Mapping[Path, ClaimError]
    guesses: Mapping[Path, Guess] = field(default_factory=dict)
    """By path, the guess that gave a kernel its claim."""


def read_all(paths: Iterable[Path], read: Callable[[Path], Kernel] = load) -> Kernels:
    """Read every file once; a file that cannot be used is a fault, and the others are read all the same.

    Kernels with the same name get the names of their folders too, since findings are kept by name.
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
    """Names that are all different: the file's own name and as many of its last folders as that takes."""
    parts = [kernel.path.resolve().with_suffix("").parts for kernel in kernels]
    for depth in range(2, max(map(len, parts), default=0) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    return [kernel.name for kernel in kernels]


def kernels_below(folder: Path) -> Kernels:
    """Every kernel below the folder: the files that have a claim; it ignores all others."""
    return read_all(files_below(folder))


def files_below(folder: Path) -> tuple[Path, ...]:
    """The files of the kernels below the folder."""
    return tuple(path for path in sorted(find_sources(folder, ENDINGS)) if file_has_claim(path))


def sources_below(folder: Path) -> tuple[Path, ...]:
    """Every .cu file below the folder, with or without a claim, and every .py file that has one or is a submission."""
    return tuple(path for path in sorted(find_sources(folder, ENDINGS)) if is_kernel(path))


def others_below(folder: Path) -> tuple[Path, ...]:
    """The .py files below the folder that are no submissions and have no claim."""
    return tuple(path for path in sorted(find_sources(folder, ENDINGS)) if not is_kernel(path))


def is_kernel(path: Path) -> bool:
    """Whether a file has a claim or the form of a kernel, or cannot be read, so that its fault is shown."""
    try:
        text = front_matter.text_of(path)
    except ClaimError:
        return True
    return file_has_claim(path) or language_of(path).is_kernel(text) or is_submission(path, text)


def find_sources(folder: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """The files with these endings below a folder, without other people's copies; an exhibit counts as its .cu file."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if not name.startswith(".") and name not in NOT_OURS]
        folders[:] = [name for name in folders if not os.path.exists(here / name / "pyvenv.cfg")]
        yield from (here / name for name in names if name.endswith(endings))
        if exhibits.ENDING in endings:
            yield from (name_as_kernel(here / name) for name in names if is_exhibit(here / name))


def kernels_of_op(record: Record, kernels: Iterable[Kernel]) -> list[Kernel]:
    """The kernels that compute the op of a case."""
    return [kernel for kernel in kernels if kernel.computes(record.case.op, record.case.dimensions)]


def kernels_for(record: Record, kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """The kernels that a case is for: those of its op that are not broken on purpose, and the one that it once broke.

    The last one may also be one of kfuzz's own kernels, which are searched by name.
    """
    chosen = kernels_of_op(record, kernels)
    origin = record.origin.kernel if record.origin else ""
    if origin and all(kernel.name != origin for kernel in chosen):
        chosen += [load(path) for path in kernel_files() if name_of(path) == origin]
    return tuple(kernel for kernel in chosen if kernel.broken is None or kernel.name == origin)
