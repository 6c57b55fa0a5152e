"""The files of a reference: its own, and those that lie beside it.

Knows a claim's key and folders; it reads no reference.
"""

import os
import re
from pathlib import Path

from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.task_files import TASK, folders_of
from kfuzz.devices import cache

OF_ROBUST, CONFIG = "func_", "config_{}.json"
"""The beginning of a reference's name in robust-kbench, and the file beside it with the arguments for its inputs."""
BESIDE = ("reference.py", "ref.py")
"""Files beside a submission that may contain its reference."""
IN_A_FILE = re.compile(r"([^:]+?(?:\.py|/))(?::(\w+))?")
"""A reference in another file, or in a folder: `problem.py`, `problem.py:Model`, `task/`."""
ATEN = re.compile(r"aten(?::([\w.]+))?")
"""An operation of torch by its name, `aten:addmm.default`, or by that of the folder of a submission to BackendBench."""
OVERLOAD, USUAL_OVERLOAD = "__", "default"
"""What stands before the overload in such a folder's name, `addmm__default`, and the overload of one without it."""
OPERATIONS = "operations"


def place_reference(front: FrontMatter, name: str) -> tuple[Path, str | None] | None:
    """The file of a reference, and its name there if one is given; None if it is a name in the kernel's own file."""
    if operation := ATEN.fullmatch(name):
        return write_operation(operation[1] or operation_of(front.path)), "reference"
    if (file := IN_A_FILE.fullmatch(name)) is None:
        return None
    path = front.path.resolve().parent / file[1]
    if path.is_dir():
        path = next((path / one for one in BESIDE if (path / one).is_file()), path / BESIDE[0])
    return path, file[2]


def name_of_reference(reference: Path) -> str:
    """A reference as a claim names it: an operation of torch, or a file or folder by its whole path."""
    return str(reference) if ATEN.fullmatch(str(reference)) else str(reference.resolve()) + "/" * reference.is_dir()


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


def texts_beside(path: Path) -> dict[str, str]:
    """The texts of the files beside a reference that give arguments; empty where there is no such file."""
    arguments = {"task": TASK, "config": CONFIG.format(path.stem.removeprefix(OF_ROBUST))}
    beside = {key: path.resolve().with_name(name) for key, name in arguments.items()}
    return {key: one.read_text(encoding="utf-8") if one.is_file() else "" for key, one in beside.items()}


def task_folders(front: FrontMatter, name: str | None) -> tuple[str, ...]:
    """The folders of a task's files, which a submission may import; none if the reference belongs to no task."""
    placed = place_reference(front, name) if name is not None else None
    if placed is None or not (task := texts_beside(placed[0])["task"]):
        return ()
    return tuple(folders_of(task, placed[0].parent))
