"""The files of a task of GPU MODE: its task.yml names those that lie beside a submission when it is tested.

Knows the text of task.yml; it imports no library.
"""

import re
from pathlib import Path

TASK = "task.yml"
"""Beside a reference: the arguments with which its inputs are made, and its files."""
FILE = re.compile(r"""["']?source["']?:\s*["']?([^"'@,}\s]+\.py)""")


def folders_of(task: str, folder: Path) -> list[str]:
    """The folders of the files that a task in this folder names, its own one first."""
    folder = folder.resolve()
    return list(
        dict.fromkeys(str(one) for one in (folder, *((folder / name).resolve().parent for name in FILE.findall(task))))
    )
