"""The packages that a file loads: `python -m kfuzz.devices.python.loaded_packages FILE` writes them as JSON.

It reads the file's text from its input, and runs in a process of its own, since a file may do anything when it is
imported.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.loading import execute_file
from kfuzz.devices.sandbox.box import box_in_variables, enter


def loaded_packages() -> list[str]:
    """The packages of libraries that this process has loaded, in the order of their libraries.

    torch loads Triton for itself: where other modules name a language, only the languages that they name count.
    """
    every = {package: library for library in libraries().values() for package in library.packages}
    loaded = [package for package in every if package in sys.modules]
    languages = {package for package in loaded if every[package].run_without_gpu is not None}
    named = languages & named_packages(languages)
    return [package for package in loaded if package not in languages or package in named or not named]


def named_packages(packages: Iterable[str]) -> set[str]:
    """Those of these packages that a module of no library has under a name of its own."""
    tops = {package.partition(".")[0] for library in libraries().values() for package in library.packages}
    found: set[str] = set()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in tops and isinstance(module, ModuleType):
            modules = {id(one) for one in vars(module).values() if isinstance(one, ModuleType)}
            found |= {package for package in packages if id(sys.modules[package]) in modules}
    return found


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
