"""Makes mutants of a kernel: every operator of `operators/`, wherever it applies, seeds one bug each.

A mutant has exactly its kernel's claim. Knows operators and text; never whether a mutant compiles or is killed.
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
from kfuzz.common.errors import ClaimError
from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.devices.cpu.reach import find_unreached
from kfuzz.measure.mutants import operators as operators_folder
from kfuzz.measure.mutants import python_operators as python_folder
from kfuzz.measure.mutants.change import Change
from kfuzz.measure.mutants.python_syntax import PythonSource, parse_python
from kfuzz.measure.mutants.syntax import Source, parse

Operator = Callable[[Source], Iterator[Change]]
PythonOperator = Callable[[PythonSource], Iterator[Change]]


@dataclass(frozen=True)
class Mutant:
    """A kernel's text with one change: the operator that made it, its line, and that line before and after."""

    kernel: str
    operator: str
    line: int
    before: str
    after: str
    source: str

    @property
    def key(self) -> str:
        """A name for this mutant that does not depend on the order of operators: a hash of kernel and text."""
        return hashlib.sha256(f"{self.kernel}\n{self.source}".encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.kernel}:{self.line}: {self.operator}: {self.before} -> {self.after or '(nothing)'}"


@cache
def operators() -> dict[str, Operator]:
    """Every operator for CUDA by its name, from the folder listing."""
    return functions_in(operators_folder)


@cache
def python_operators() -> dict[str, PythonOperator]:
    """Every operator for Python by its name, from the folder listing."""
    return functions_in(python_folder)


def functions_in(folder: ModuleType) -> dict[str, Callable[..., Iterator[Change]]]:
    """The public functions of the modules in a folder, by their names in words."""
    functions: dict[str, Callable[..., Iterator[Change]]] = {}
    for stem in sorted(one.name for one in pkgutil.iter_modules(folder.__path__)):
        module = importlib.import_module(f"{folder.__name__}.{stem}")
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
                words = name.replace("_", " ")
                assert words not in functions, f"two operators are called {words}"
                functions[words] = function
    return functions


def mutants(kernel: Kernel) -> tuple[Mutant, ...]:
    """Every mutant of a kernel, each text once, from top to bottom for each operator; none in code that never runs."""
    language = kernel.front.language
    if language.name not in MUTANTS:
        raise ClaimError(f"{kernel.name}: kfuzz plants no bugs in {language.name}")
    return MUTANTS[language.name](kernel)


def python_mutants(kernel: Kernel) -> tuple[Mutant, ...]:
    """The mutants of a Python function and of what it reaches in its file."""
    called = kernel.launches[0].called
    assert called, "a Python file is called"
    source = parse_python(kernel.source, called.function)
    found: dict[str, Mutant] = {}
    for name, operator in python_operators().items():
        for change in operator(source):
            mutant = _mutant(kernel, name, source.text, change)
            if mutant.source != kernel.source and parses(mutant.source):
                found.setdefault(mutant.source, mutant)
    return tuple(found.values())


def parses(text: str) -> bool:
    """Whether a text is valid Python: a change in a line of several statements may give one that is not."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def cuda_mutants(kernel: Kernel) -> tuple[Mutant, ...]:
    """The mutants of a kernel in CUDA."""
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


MUTANTS = {"cuda": cuda_mutants, "python": python_mutants}
"""How the mutants of a kernel are made, by its language."""


def as_kernel(mutant: Mutant, kernel: Kernel) -> Kernel:
    """The mutant as a kernel with its original's name, so that it gets the same trials."""
    return replace(kernel, front=replace(kernel.front, source=mutant.source))


def _unreached_bytes(kernel: Kernel) -> list[tuple[int, int]]:
    """The bytes of the functions and classes that no launch reaches."""
    text = kernel.source
    parts = find_unreached(blank_non_code(text), map(str, kernel.entries))
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
