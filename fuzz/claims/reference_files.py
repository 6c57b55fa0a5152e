"""The files of a reference: its own, and those that lie beside it.

Knows a claim's key and folders; it reads no reference.
"""

import re
from pathlib import Path

from kfuzz.callables.task_files import TASK, folders_of
from kfuzz.claims.front_matter import FrontMatter

OF_ROBUST, CONFIG = "func_", "config_{}.json"
"""The beginning of a reference's name in robust-kbench, and the file beside it with the arguments for its inputs."""
BESIDE = ("reference.py", "ref.py")
"""Files beside a submission that may contain its reference."""
IN_A_FILE = re.compile(r"([^:]+?(?:\.py|/))(?::(\w+))?")
"""A reference in another file, or in a folder: `problem.py`, `problem.py:Model`, `task/`."""


def place_reference(front: FrontMatter, name: str) -> tuple[Path, str | None] | None:
    """The file of a reference, and its name there if one is given; None if it is a name in the kernel's own file."""
    if (file := IN_A_FILE.fullmatch(name)) is None:
        return None
    path = front.path.resolve().parent / file[1]
    if path.is_dir():
        path = next((path / one for one in BESIDE if (path / one).is_file()), path / BESIDE[0])
    return path, file[2]


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
