"""Finds the kernel files that a name, a glob, a file or a folder stands for.

Knows the kernels folder and the file system; never the content of a kernel file.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from kfuzz.claims.kernel import KERNELS, kernel_files, name_of
from kfuzz.claims.language.languages import ENDINGS, endings_in_words
from kfuzz.claims.references.formats import unpack
from kfuzz.common.errors import TargetError
from kfuzz.common.text import exhibits
from kfuzz.common.text.exhibits import description_of, name_as_kernel
from kfuzz.ui.targets.project import files_below


def find_files(target: str, folder: Path = KERNELS) -> tuple[Path, ...]:
    """The files that `softmax/online_block`, `softmax/*` or `softmax`, `mine.cu`, `mine.py` or a folder stand for."""
    if not target:
        raise TargetError("'': a name is expected; write . for everything below this folder")
    path = name_as_kernel(Path(target))
    if path.suffix in ENDINGS and (path.is_file() or description_of(path)):
        return (path,)
    if unpacked := unpack(path):
        return (unpacked,)
    if path.is_dir() and (files := files_below(path)):
        return files
    known = {path.relative_to(folder).with_suffix("").as_posix(): path for path in kernel_files(folder)}
    patterns = (target.removesuffix(exhibits.ENDING), f"{target.rstrip('/')}/*")
    files = tuple(path for name, path in known.items() if any(fnmatchcase(name, one) for one in patterns))
    if not files and "/" not in target:
        files = tuple(path for name, path in known.items() if fnmatchcase(name.rpartition("/")[2], target))
    if not files and path.is_dir():
        raise TargetError(
            f"{target}: no {endings_in_words()} file below it has a claim; kfuzz init finds claims for them, and "
            "kfuzz show --template prints a kernel to start from"
        )
    if not files:
        what = f"no kernel, {endings_in_words()} file or folder of that name"
        raise TargetError(f"{target}: {what}{suggest(target, known)}")
    return files


def suggest(target: str, names: Iterable[str]) -> str:
    """The closest name, or how to list all names."""
    tails = {name.rpartition("/")[2]: name for name in names}
    near = get_close_matches(target, [*tails.values(), *tails], 1)
    return f", did you mean {tails.get(near[0], near[0])}?" if near else "; see kfuzz list"


def find_one(target: str, folder: Path = KERNELS) -> Path:
    """The one file that the target stands for."""
    files = find_files(target, folder)
    if len(files) > 1:
        names = ", ".join(name_of(path) for path in files)
        raise TargetError(f"{target}: stands for {len(files)} kernels, name one of {names}")
    return files[0]
