"""Does something as soon as a module has been imported. Knows Python's imports alone."""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class ImportWatch(MetaPathFinder):
    """Finds one module, as the others would, and acts once it has run."""

    __module__ = MetaPathFinder.__module__  # a list of finders shows it

    def __init__(self, name: str, act: Callable[[], None]) -> None:
        self._name, self._act = name, act

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """What the finders after this one find."""
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_act(module: ModuleType) -> None:
                execute(module)
                self._act()

            spec.loader.exec_module = execute_and_act  # type: ignore[method-assign]  # of this import alone
        return spec


def act_after_import(name: str, act: Callable[[], None]) -> None:
    """Act once a module has been imported: now, if it has been."""
    if name in sys.modules:
        act()
    else:
        sys.meta_path.insert(0, ImportWatch(name, act))
