"""Hides kfuzz from a callable's code while it runs: in `sys.modules`, in `sys.argv` and in the frames of its stack.

A file that looks for a test harness, and does honest work only there, then does what it does for its users.
kfuzz.common.unnamed_process hides the names of files and the command line. This is not a wall: a file that
looks at all objects in memory, at other processes or at the packages that are installed still finds kfuzz.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType

NAME = __name__.partition(".")[0]
NAMING = ("__name__", "__package__", "__spec__", "__file__", "__cached__", "__loader__")
"""What the globals of a frame say of its module."""


class HiddenModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives kfuzz's own code, such as a hook that imports late, the modules that are hidden, and no second ones."""

    __module__ = importlib.abc.MetaPathFinder.__module__  # a list of finders shows it

    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self._modules = modules
        self._specs: dict[int, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:  # fmt: skip
        """Find a module that is hidden."""
        module = self._modules.get(fullname)
        if module is None:
            return None
        self._specs[id(module)] = getattr(module, "__spec__", None)
        found = importlib.machinery.ModuleSpec(fullname, self, is_package=hasattr(module, "__path__"))
        found.submodule_search_locations = getattr(module, "__path__", None)
        return found

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module as it is."""
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """It has run already; only its own origin is put back."""
        module.__spec__ = self._specs[id(module)]


@contextmanager
def hidden() -> Iterator[None]:
    """Hide kfuzz's modules and arguments while a callable's code runs."""
    modules = {name: one for name, one in sys.modules.items() if is_own(name)}
    main, arguments, original = sys.modules["__main__"], sys.argv, sys.orig_argv
    finder, named = HiddenModules(modules), list(names_on_stack())
    for name in modules:
        del sys.modules[name]
    sys.modules["__main__"], sys.argv, sys.orig_argv = ModuleType("__main__"), [""], [Path(sys.executable).name]
    sys.meta_path.insert(0, finder)
    for one, _ in named:
        for name in NAMING:
            one.pop(name, None)
        one["__name__"] = "__main__"
    try:
        yield
    finally:
        for one, names in named:
            one.update(names)
        sys.meta_path.remove(finder)
        sys.modules["__main__"], sys.argv, sys.orig_argv = main, arguments, original
        sys.modules.update(modules)


def names_on_stack() -> Iterator[tuple[dict[str, object], dict[str, object]]]:
    """The globals of kfuzz's modules that have a frame on this stack, each once, and how they name the module."""
    frame: FrameType | None = sys._getframe()
    found: set[int] = set()
    while frame is not None:
        known = frame.f_globals
        if id(known) not in found and is_own(str(known.get("__name__", ""))):
            found.add(id(known))
            yield known, {name: known[name] for name in NAMING if name in known}
        frame = frame.f_back


def is_own(name: str) -> bool:
    """Whether a module is kfuzz's, or the finder of a kfuzz that is installed from a checkout."""
    return name.partition(".")[0] == NAME or name.startswith(f"__editable___{NAME}_")
