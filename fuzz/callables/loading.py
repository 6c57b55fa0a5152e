"""A callable from the text of its file: the module is made once for each text, as importing the file would make it.

Knows modules; never what a callable is called with.
"""

import ast
import contextlib
import importlib.util
import linecache
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from kfuzz.devices import ClaimError, Job

KEPT_MODULES = 256
SEED = 0
"""Before an object is made: one with weights of its own has the same as that of its reference."""
TYPES = "task"
"""The module beside a submission to GPU MODE that names the types of its data; it does not travel with it."""
BESIDE: list[str] = []
"""What is in front of Python's path for the sake of the file that was looked at last."""


class Modules:
    """The modules that were made, by the path and the text of their files, and the objects of their classes.

    `on_card`: objects are asked to keep what they hold on a card, as torch's modules do.
    """

    def __init__(self, on_card: bool = False) -> None:
        self._made: dict[tuple[Path, str], ModuleType] = {}
        self._objects: dict[tuple[Path, str, str], Callable[..., Any]] = {}
        self._on_card = on_card

    def function(self, job: Job, name: str) -> Callable[..., Any]:
        """The function of this name; a ClaimError, in a line, where the file does not come to its end."""
        key = (job.path, job.source)
        if key not in self._made:
            if len(self._made) >= KEPT_MODULES:
                self._made.clear()
                self._objects.clear()
            self._made[key] = execute_file(job.path, job.source, len(self._made))
        search_beside(job.path)  # its functions may import, too
        found = getattr(self._made[key], name, None)
        if not callable(found):
            raise ClaimError(f"{job.path}: {name} is no function once the file is imported")
        if not isinstance(found, type):
            return found  # type: ignore[no-any-return]  # whatever it is, it can be called
        if (*key, name) not in self._objects:
            self._objects[*key, name] = self._forward_of(job, found, self._made[key])
        return self._objects[*key, name]

    def _forward_of(self, job: Job, of: type, module: ModuleType) -> Callable[..., Any]:
        """`forward` of an object, which is made of what get_init_inputs says, as KernelBench makes it."""
        inputs = getattr(module, "get_init_inputs", list)
        try:
            if (torch := sys.modules.get("torch")) is not None:
                torch.manual_seed(SEED)
            made = of(*inputs())
            if callable(getattr(made, "eval", None)):
                made.eval()  # as the reference is: dropout drops nothing then, and statistics stay
            if self._on_card and hasattr(made, "cuda"):
                made = made.cuda()
        except Exception as error:  # whatever its own code raises
            at = line_of(error, str(job.path.resolve()))
            where = f"{job.path}:{at}" if at else str(job.path)
            raise ClaimError(f"{where}: no {of.__name__} can be made: {words_of(error)}") from None
        return made if callable(made) else made.forward  # type: ignore[no-any-return]  # whatever it is


def search_beside(path: Path) -> None:
    """Have found what lies beside a file and in the working folder, and no longer what lies beside another file."""
    for folder in BESIDE:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)
    BESIDE[:] = [os.getcwd(), str(path.resolve().parent)]
    for folder in BESIDE:
        sys.path.insert(0, folder)


def execute_file(path: Path, source: str, number: int) -> ModuleType:
    """The file as a module of its own; what lies beside it, and in the working folder, can be imported."""
    full = path.resolve()
    search_beside(path)
    module = ModuleType(f"kfuzz_callable_{number}_{path.stem}")
    module.__file__ = str(full)
    sys.modules[module.__name__] = module  # dataclasses and pickle look their own module up
    # Who asks for the text of a function (Triton does) is given this one, whatever the file holds by now.
    linecache.cache[str(full)] = (len(source), None, source.splitlines(keepends=True), str(full))
    try:
        supply_types(source)
        exec(compile(source, str(full), "exec"), vars(module))  # noqa: S102  it is what the user asks for
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        del sys.modules[module.__name__]
        at = line_of(error, str(full))
        where = f"{path}:{at}" if at else str(path)
        raise ClaimError(f"{where}: the file cannot be imported: {words_of(error)}") from None
    return module


class AnyTypes(ModuleType):
    """A module in which every name is a type that anything is of."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return Any


def supply_types(source: str) -> None:
    """The module of types that a file imports from, where it is not there: they say nothing that a call needs."""
    asks = any(isinstance(node, ast.ImportFrom) and node.module == TYPES for node in ast.walk(ast.parse(source)))
    if asks and TYPES not in sys.modules and importlib.util.find_spec(TYPES) is None:
        sys.modules[TYPES] = AnyTypes(TYPES)


def line_of(error: BaseException, file: str) -> int | None:
    """The last line of a file that an error came through."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return lines[-1] if lines else None


def words_of(error: BaseException) -> str:
    """An error in one line."""
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
