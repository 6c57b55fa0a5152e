"""Hides kfuzz from a callable's code while it runs: in `sys.modules`, in `sys.argv` and in the command line.

A file that looks for a test harness, and does honest work only there, then does what it does for its users. This is not
a wall: a file that looks at its stack, or at the packages that are installed, still finds kfuzz.
"""

import ctypes
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

NAME = __name__.partition(".")[0]
STAT = Path("/proc/self/stat")
ARGUMENTS = slice(48 - 3, 50 - 3)
"""The fields of that file that say where the arguments begin and end (proc(5)), counted after the name in brackets."""


class HiddenModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives kfuzz's own code, such as a hook that imports late, the modules that are hidden, and no second ones."""

    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self._modules = modules
        self._specs: dict[str, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:  # fmt: skip
        """Find a module that is hidden."""
        module = self._modules.get(fullname)
        if module is None:
            return None
        self._specs[fullname] = module.__spec__
        found = importlib.machinery.ModuleSpec(fullname, self, is_package=hasattr(module, "__path__"))
        found.submodule_search_locations = getattr(module, "__path__", None)
        return found

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module as it is."""
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """It has run already; only its own origin is put back."""
        module.__spec__ = self._specs[module.__name__]


@contextmanager
def hidden() -> Iterator[None]:
    """Hide kfuzz's modules and arguments while a callable's code runs."""
    modules = {name: one for name, one in sys.modules.items() if is_own(name)}
    main, arguments, original = sys.modules["__main__"], sys.argv, sys.orig_argv
    finder = HiddenModules(modules)
    for name in modules:
        del sys.modules[name]
    sys.modules["__main__"], sys.argv, sys.orig_argv = ModuleType("__main__"), [""], [sys.executable]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.modules["__main__"], sys.argv, sys.orig_argv = main, arguments, original
        sys.modules.update(modules)


def is_own(name: str) -> bool:
    """Whether a module is kfuzz's, or the finder of a kfuzz that is installed from a checkout."""
    return name.partition(".")[0] == NAME or name.startswith(f"__editable___{NAME}_")


def hide_command() -> None:
    """Overwrite kfuzz's name in the command line of this process, as other programs and /proc show it."""
    try:
        first, last = map(int, STAT.read_text(encoding="utf-8").rpartition(")")[2].split()[ARGUMENTS])
    except (OSError, ValueError):
        return
    if 0 < first < last:
        memory = (ctypes.c_char * (last - first)).from_address(first)
        memory.raw = memory.raw.replace(NAME.encode(), b"_" * len(NAME))
