"""The packages that a file loads: `python -m kfuzz.devices.python.loaded_packages FILE` writes them as JSON.

It reads the file's text from its input, and runs in a process of its own, since a file may do anything when it is
imported.
"""

import json
import os
import sys
from pathlib import Path

from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.loading import execute_file
from kfuzz.devices.sandbox.box import box_in_variables, enter


def loaded_packages() -> list[str]:
    """The packages of libraries that this process has loaded, in the order of their libraries."""
    every = dict.fromkeys(package for library in libraries().values() for package in library.packages)
    return [package for package in every if package in sys.modules]


def main(path: Path, source: str) -> None:
    """Import the file; write the libraries that are loaded now."""

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the file may print
    if (box := box_in_variables()) is not None:
        enter(box, (answers.fileno(),))
    execute_file(path, source, 0)
    answers.write(json.dumps(loaded_packages()))
    answers.close()
    os._exit(0)  # threads of the file do not keep the process


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.stdin.read())
