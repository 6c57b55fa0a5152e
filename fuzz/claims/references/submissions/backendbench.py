"""BackendBench: folders that are named by an operation of torch, with files of implementations.

`relu__default/relu__default_implementation_v1.py` has the function `relu__default_kernel_impl`, and the operation is
the reference. Knows names of files and folders; it imports no torch.
"""

import os
import re
from pathlib import Path

from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.references.format import Format, FormatNames, Placed
from kfuzz.devices import cache

PATTERN, MARK = "*_implementation*.py", "_implementation"
ENDING = "_kernel_impl"
ATEN = "aten"
OPERATION = re.compile(rf"{ATEN}(?::([\w.]+))?")
"""An operation of torch by its name, `aten:addmm.default`, or by that of the folder of a submission."""
OVERLOAD, USUAL_OVERLOAD = "__", "default"
"""What stands before the overload in such a folder's name, `addmm__default`, and the overload of one without it."""
OPERATIONS = "operations"


def recognises(path: Path, text: str) -> bool:
    """Whether a file has a function of a submission."""
    known = read_text(text)
    return any(name.endswith(ENDING) for name in (*known.functions, *known.assigned))


def solves(target: Path) -> str:
    """The operation that names the folder, if a target is a file of an implementation, or a folder of such files."""
    return ATEN if is_implementation(target) or has_implementations(target) else ""


def has_implementations(folder: Path) -> bool:
    """Whether a folder, or one in it, has such files."""
    return folder.is_dir() and any(map(is_implementation, (*folder.glob(PATTERN), *folder.glob(f"*/{PATTERN}"))))


def is_implementation(path: Path) -> bool:
    """Whether a file without a claim is named by its folder, with or without the overload."""
    if MARK not in path.name or not path.is_file():  # nor does a link that leads to itself have a folder
        return False
    folder = path.resolve().parent.name
    return path.name.partition(MARK)[0] in {folder, folder.rpartition("__")[0]} and not file_has_claim(path)


def place(path: Path, named: re.Match[str]) -> Placed:
    """The file of an operation that is named, else of that which names the folder of a submission."""
    return write_operation(named[1] or operation_of(path)), "reference"


def operation_of(path: Path) -> str:
    """The operation that the folder of a file is named by: `addmm.default` of `addmm__default`."""
    name, _, overload = path.resolve().parent.name.rpartition(OVERLOAD)
    return f"{name}.{overload}" if name else f"{overload}.{USUAL_OVERLOAD}"


def write_operation(name: str) -> Path:
    """A file, in the cache, whose reference is an operation of torch."""
    base, _, overload = name.partition(".")
    whole = f"{base}.{overload or USUAL_OVERLOAD}"
    path = cache.folder() / OPERATIONS / f"{whole}.py"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(f".{os.getpid()}").write_text(f"import torch\n\nreference = torch.ops.aten.{whole}\n")
        path.with_suffix(f".{os.getpid()}").replace(path)
    return path


FORMAT = Format(
    title="BackendBench",
    names=FormatNames(ending=ENDING),
    recognises=recognises,
    solves=solves,
    named=OPERATION,
    place=place,
    help="aten:addmm.default for an operation of torch, aten for that of the folder",
)
