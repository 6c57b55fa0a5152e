"""The functions of a task of GPU MODE: what makes its data, and the reference as a function of one value.

A reference with several parameters takes those parts of the data that `generate_inputs` returns by these names. Knows
functions and their texts; it does not know what the data holds.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from kfuzz.claims.references.torch.declared import CannotError

GENERATE = ("generate_input", "generate_inputs")
MOST_PARTS = 16
"""The sizes in a list of which each is varied by itself."""
UNGIVEN = 8
"""A size that no test gives: the task's own program has it."""


@dataclass(frozen=True)
class TaskFunctions:
    """`names`: those of the values, if the reference takes them apart; `tops`: those by which it unpacks one value."""

    generate: Callable[..., Any]
    reference: Callable[[Any], Any]
    names: tuple[str, ...]
    tops: tuple[str, ...]

    def with_sizes(self, test: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a test, with a size for each that it does not give."""
        every = inspect.signature(self.generate).parameters.values()
        given = {one.name: UNGIVEN for one in every if one.default is one.empty} | dict(test)
        return {name: number for key, value in given.items() for name, number in apart(key, value)}

    def data(self, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401  whatever a task makes
        """The data that these arguments give; those of a list are one argument again."""
        whole = dict(arguments)
        for one in inspect.signature(self.generate).parameters:
            parts = [whole.pop(name) for name in names_in_list(one) if name in arguments and one not in arguments]
            whole |= {one: parts} if parts else {}
        return self.generate(**whole)


def apart(name: str, value: object) -> Iterator[tuple[str, object]]:
    """An argument; of a list of whole numbers each by itself: a task has one size for each of its groups."""
    if isinstance(value, list) and 0 < len(value) <= MOST_PARTS and all(type(one) is int for one in value):
        yield from zip(names_in_list(name), value, strict=False)
    else:
        yield name, value


def names_in_list(name: str) -> list[str]:
    return [f"{name}_{place}" for place in range(MOST_PARTS)]


def functions_of(module: ModuleType, reference: Callable[..., Any]) -> TaskFunctions:
    """The functions in the file of a task."""
    generate = next((getattr(module, name) for name in GENERATE if hasattr(module, name)), None)
    if generate is None:
        raise CannotError(f"its file has no {GENERATE[0]}")
    wanted = [one.name for one in inspect.signature(reference).parameters.values() if one.default is one.empty]
    if len(wanted) == 1:
        return TaskFunctions(generate, reference, (), unpacked_names(reference, wanted[0]))
    given = returned_names(generate)
    if missing := [name for name in wanted if name not in given]:
        raise CannotError(f"it takes {missing[0]}, and {generate.__name__} returns nothing of this name")
    places = [given.index(name) for name in wanted]

    def make(**arguments: Any) -> tuple[Any, ...]:  # noqa: ANN401  the arguments of a test
        every = generate(**arguments)
        return tuple(every[place] for place in places)

    return TaskFunctions(wrapped(generate, make), lambda data: reference(*data), tuple(wanted), tuple(wanted))


def wrapped(function: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the parameters of another one."""
    other.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # inspect reads it
    return other


def unpacked_names(function: Callable[..., Any], name: str) -> tuple[str, ...]:
    """The names into which a function unpacks a value."""
    every = (node for node in ast.walk(tree_of(function)) if isinstance(node, ast.Assign))
    tuples = (node.targets[0] for node in every if isinstance(node.value, ast.Name) and node.value.id == name)
    return next(map(names_of_tuple, tuples), ())


def returned_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names that a function returns."""
    return next(
        (names_of_tuple(node.value) for node in ast.walk(tree_of(function)) if isinstance(node, ast.Return)), ()
    )


def tree_of(function: Callable[..., Any]) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def names_of_tuple(made: ast.expr | None) -> tuple[str, ...]:
    """The names in a tuple of different ones."""
    parts = made.elts if isinstance(made, ast.Tuple) else []
    names = tuple(one.id for one in parts if isinstance(one, ast.Name))
    return names if len(set(names)) == len(parts) and "_" not in names else ()
