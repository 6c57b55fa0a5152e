"""Which kernel files a person means by a name, a glob, a file or a folder.

Knows the kernels folder and the file system; never what stands in a kernel file.
"""

from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from kfuzz.claims.kernel import KERNELS, kernel_files, name_of
from kfuzz.find.errors import TargetError
from kfuzz.find.project import ENDINGS, files_below
from kfuzz.find.submissions import is_solution, unpack
from kfuzz.sources.exhibits import description_of, name_as_kernel


def find(target: str, folder: Path = KERNELS) -> tuple[Path, ...]:
    """The files that `softmax/online_block`, `softmax/*` or `softmax`, `mine.cu`, `mine.py` or a folder stand for."""
    if not target:
        raise TargetError("'': a name is wanted; of a folder that is . where everything below it is meant")
    path = name_as_kernel(Path(target))
    if is_solution(path):
        return (unpack(path),)
    if path.suffix in ENDINGS and (path.is_file() or description_of(path)):
        return (path,)
    if path.is_dir() and (found := files_below(path)):
        return found
    known = {path.relative_to(folder).with_suffix("").as_posix(): path for path in kernel_files(folder)}
    folder_too = (target.removesuffix(".cu"), f"{target.rstrip('/')}/*")
    found = tuple(path for name, path in known.items() if any(fnmatchcase(name, one) for one in folder_too))
    if not found and "/" not in target:
        found = tuple(path for name, path in known.items() if fnmatchcase(name.rpartition("/")[2], target))
    if not found and path.is_dir():
        raise TargetError(
            f"{target}: no .cu or .py file below it has a claim; kfuzz show --template prints one to start from"
        )
    if not found:
        raise TargetError(f"{target}: no kernel, .cu or .py file or folder of that name{suggest(target, known)}")
    return found


def suggest(target: str, names: dict[str, Path]) -> str:
    """A proposal, where one comes near."""
    tails = {name.rpartition("/")[2]: name for name in names}
    near = get_close_matches(target, [*names, *tails], 1)
    return f", did you mean {tails.get(near[0], near[0])}?" if near else "; see kfuzz list"


def find_one(target: str, folder: Path = KERNELS) -> Path:
    """The one file that the target stands for."""
    found = find(target, folder)
    if len(found) > 1:
        names = ", ".join(name_of(path) for path in found)
        raise TargetError(f"{target}: stands for {len(found)} kernels, name one of {names}")
    return found[0]
