"""Mutants: a kernel with one seeded bug each, by every operator of `fuzz/mutating/operators`, wherever it applies.

A mutant's claim is its kernel's, to the letter. Knows operators and text; never whether a mutant compiles or what
becomes of it.
"""

import ast
import hashlib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

from kfuzz.claims.kernel import Kernel
from kfuzz.cpu.reach import find_unreached
from kfuzz.mutating import operators as operators_folder
from kfuzz.mutating import python_operators as python_folder
from kfuzz.mutating.change import Change
from kfuzz.mutating.python_syntax import PythonSource, parse_python
from kfuzz.mutating.syntax import Source, parse
from kfuzz.sources.cuda_text import blanked

Operator = Callable[[Source], Iterator[Change]]
PythonOperator = Callable[[PythonSource], Iterator[Change]]


@dataclass(frozen=True)
class Mutant:
    """A kernel's text with one change: which operator made it, on which line, and that line before and after."""

    kernel: str
    operator: str
    line: int
    before: str
    after: str
    source: str

    @property
    def key(self) -> str:
        """Names this mutant, whatever the order in which operators are tried: a hash of kernel and text."""
        return hashlib.sha256(f"{self.kernel}\n{self.source}".encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.kernel}:{self.line}: {self.operator}: {self.before} -> {self.after or '(nothing)'}"


@cache
def operators() -> dict[str, Operator]:
    """Every operator for CUDA by its name, by the folder listing."""
    return functions_in(operators_folder)


@cache
def python_operators() -> dict[str, PythonOperator]:
    """Every operator for Python by its name, by the folder listing."""
    return functions_in(python_folder)


def functions_in(folder: ModuleType) -> dict[str, Callable[..., Iterator[Change]]]:
    """The public functions of the modules in a folder, by their names in words."""
    found: dict[str, Callable[..., Iterator[Change]]] = {}
    for module in sorted(one.name for one in pkgutil.iter_modules(folder.__path__)):
        named = importlib.import_module(f"{folder.__name__}.{module}")
        for name, function in vars(named).items():
            if inspect.isfunction(function) and function.__module__ == named.__name__ and not name.startswith("_"):
                words = name.replace("_", " ")
                assert words not in found, f"two operators are called {words}"
                found[words] = function
    return found


def mutants(kernel: Kernel) -> tuple[Mutant, ...]:
    """Every mutant of a kernel, each text once, from top to bottom within an operator; none of what it never calls."""
    return python_mutants(kernel) if kernel.front.is_python else cuda_mutants(kernel)


def python_mutants(kernel: Kernel) -> tuple[Mutant, ...]:
    """Those of the function that is called, and of what it reaches in its file."""
    called = kernel.launches[0].called
    assert called, "a Python file is called"
    source = parse_python(kernel.source, called.function)
    found: dict[str, Mutant] = {}
    for name, operator in python_operators().items():
        for change in operator(source):
            mutant = _mutant(kernel, name, source.text, change)
            if mutant.source != kernel.source and is_python(mutant.source):
                found.setdefault(mutant.source, mutant)
    return tuple(found.values())


def is_python(text: str) -> bool:
    """Whether a text is Python: a change in a line of several statements may not be."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def cuda_mutants(kernel: Kernel) -> tuple[Mutant, ...]:
    """Those of a kernel in CUDA."""
    source = parse(kernel.source)
    idle = _unreached_bytes(kernel)
    found: dict[str, Mutant] = {}
    for name, operator in operators().items():
        for change in operator(source):
            if any(first <= start and end <= last for first, last in idle for start, end, _ in change):
                continue
            mutant = _mutant(kernel, name, source.text, change)
            if mutant.source != kernel.source:
                found.setdefault(mutant.source, mutant)
    return tuple(found.values())


def as_kernel(mutant: Mutant, kernel: Kernel) -> Kernel:
    """The mutant as a kernel under its original's name, so that its trials are the original's."""
    return replace(kernel, front=replace(kernel.front, source=mutant.source))


def _unreached_bytes(kernel: Kernel) -> list[tuple[int, int]]:
    """The bytes of the functions and classes that no launch reaches."""
    text = kernel.source
    parts = find_unreached(blanked(text), map(str, kernel.entries))
    return [(len(text[: one.start].encode()), len(text[: one.end].encode())) for one in parts if not one.is_macro]


def _mutant(kernel: Kernel, operator: str, original: bytes, change: Change) -> Mutant:
    text = original
    for start, end, put in sorted(change, reverse=True):
        text = text[:start] + put.encode() + text[end:]
    first, last = min(start for start, _, _ in change), max(end for _, end, _ in change)
    grown = len(text) - len(original)
    return Mutant(
        kernel=kernel.name,
        operator=operator,
        line=original[:first].count(b"\n") + 1,
        before=_lines(original, first, last),
        after=_lines(text, first, last + grown),
        source=text.decode(),
    )


def _lines(text: bytes, first: int, last: int) -> str:
    """The lines around some bytes, as one line with single spaces."""
    start = text.rfind(b"\n", 0, first) + 1
    end = text.find(b"\n", max(first, last))
    return " ".join(text[start : end if end >= 0 else len(text)].decode().split())
