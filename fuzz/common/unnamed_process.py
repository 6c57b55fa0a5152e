"""Runs a module of kfuzz as a process whose code names no file of kfuzz: a file that looks at its stack sees none.

A process that runs the files of others is started by `START`. This is not a wall: the modules are still in its memory.
"""

import ctypes
import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

NAME = __name__.partition(".")[0]
START = f"from {__name__} import start; start()"
"""For `python -c START MODULE ARGUMENT...`: it calls the module's `main` with the arguments."""
STAT = Path("/proc/self/stat")
ARGUMENTS = slice(48 - 3, 50 - 3)
"""The fields of that file that say where the arguments begin and end (proc(5)), counted after the name in brackets."""


class UnnamedLoader(SourceFileLoader):
    """Loads a module's code under a name that is no file's: `<devices/worker.py>`."""

    def get_code(self, fullname: str) -> CodeType | None:
        """The module's code."""
        code = super().get_code(fullname)
        return code and rename_code(code, f"<{'/'.join(fullname.split('.')[1:])}.py>")


class UnnamedFinder(MetaPathFinder):
    """Finds kfuzz's own modules for `UnnamedLoader`."""

    __module__ = MetaPathFinder.__module__  # a list of finders shows it

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:  # fmt: skip
        """Find a module below this package."""
        if not fullname.startswith(f"{NAME}."):
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and type(found.loader) is SourceFileLoader:
            found.loader = UnnamedLoader(fullname, found.loader.path)
        return found


def rename_code(code: CodeType, file: str) -> CodeType:
    """Give code, and all code within it, the name of another file."""
    inner = (rename_code(one, file) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=file, co_consts=tuple(inner))


def start() -> None:
    """Run the module that the command line names."""
    hide_command()
    module, *arguments = sys.argv[1:]
    sys.meta_path.insert(0, UnnamedFinder())
    importlib.import_module(module).main(*arguments)


start.__code__ = rename_code(start.__code__, "<start>")  # its frame is below all others


def hide_command() -> None:
    """Overwrite kfuzz's name in the command line of this process, as other programs and /proc show it."""
    try:
        first, last = map(int, STAT.read_text(encoding="utf-8").rpartition(")")[2].split()[ARGUMENTS])
    except (OSError, ValueError):
        return
    if 0 < first < last:
        memory = (ctypes.c_char * (last - first)).from_address(first)
        memory.raw = memory.raw.replace(NAME.encode(), b"_" * len(NAME))
