"""The texts of values that a Python function is handed: names, literals of Python, containers and views of both.

Knows Python's expressions; it knows no job and no array.
"""

import ast
import copy
import keyword
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

MAKER = "inputs"
"""In the text of an argument: a call of what the file of a reference makes its inputs with."""
GIVEN = f"{MAKER}()"
"""What it makes, for objects that have no literal; `inputs(draw)`: under the seed of a draw. What calls it is kept by
this text, as an array may have the name `inputs`."""
REPLACE = "replace"
"""In such a text: a copy of a named tuple or a dataclass with other fields."""


@lru_cache(maxsize=256)
def names_together(text: str) -> list[str]:
    """The names in a tuple, a list or a dict of names and literals, `(x, {"w": w}, 0.5)`; none if it is none."""
    is_one = text.startswith(("(", "[", "{", f"{REPLACE}(", f"{MAKER}(")) or " if " in text
    return [] if not is_one or is_literal(text) else names_within(text) or []


def is_literal(text: str) -> bool:
    """Whether a text is a value without names: literals of Python, and objects that the file of a reference makes."""
    return names_within(text) == []


def names_within(text: str) -> list[str] | None:
    """The names in the text of a value; None if it is none."""
    try:
        return list(_names_in(ast.parse(text.strip(), mode="eval").body))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def _names_in(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Call) and (method := view_of(node)):
        yield from _names_in(method.value)
        sizes = (one.id for arg in node.args for one in ast.walk(arg) if isinstance(one, ast.Name))
        yield from dict.fromkeys(sizes)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == REPLACE:
        for one in (*node.args, *(arg.value for arg in node.keywords)):
            yield from _names_in(one)
    elif made := maker_of(node):
        yield from (one.id for one in made.args if isinstance(one, ast.Name))
    elif parts := parts_of(node):
        for one in parts:
            yield from _names_in(one)
    else:
        ast.literal_eval(node)


def parts_of(node: ast.expr) -> Sequence[ast.expr]:
    """The values in a container, a choice of two, or the remainder by which one of them is chosen; none of others."""
    if isinstance(node, ast.IfExp):
        return (node.body, node.test, node.orelse)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return (node.left, node.right)
    if isinstance(node, ast.Dict):
        return node.values
    return node.elts if isinstance(node, ast.Tuple | ast.List) else ()


OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip
VIEWS = ("detach", "permute", "requires_grad_", "reshape", "view")


def maker_of(node: ast.expr) -> ast.Call | None:
    """The call in a part of what the file of a reference makes: `inputs()[1]["scale"].kind`, `inputs(draw)[0]`."""
    while isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)):
        node = node.value
    is_made = isinstance(node, ast.Call) and ast.unparse(node.func) == MAKER and len(node.args) < 2
    return node if is_made and isinstance(node, ast.Call) else None


def has_maker(text: str) -> bool:
    """Whether a text has a part of what the file of a reference makes."""
    return f"{MAKER}(" in text


def fields_of(one: object) -> tuple[str, ...]:
    """The fields of a named tuple or of an object of a dataclass; none of any other."""
    if is_dataclass(one) and not isinstance(one, type):
        return tuple(field.name for field in fields(one))
    return tuple(getattr(one, "_fields", ())) if isinstance(one, tuple) else ()


def inside(data: Any) -> dict[Any, Any] | None:  # noqa: ANN401  whatever a call is handed or returns
    """What a tuple, list, dict, named tuple or dataclass holds, by place, key or field; None for anything else."""
    if isinstance(data, Mapping):
        return dict(data)
    if fields := fields_of(data):
        return {name: getattr(data, name) for name in fields}
    return dict(enumerate(data)) if isinstance(data, tuple | list) else None


def with_fields(one: Any, values: Mapping[str, object]) -> Any:  # noqa: ANN401  of its own type
    """A copy of such an object with other values in these fields."""
    if isinstance(one, tuple):
        return one._replace(**values)  # type: ignore[attr-defined]  # a named tuple
    made = copy.copy(one)
    for name, value in values.items():
        object.__setattr__(made, name, value)  # it may be frozen
    return made


def with_values(data: Any, values: Mapping[Any, object]) -> Any:  # noqa: ANN401  of its own type
    """A container like this one that holds other values."""
    if fields_of(data):
        return with_fields(data, values)
    return dict(values) if isinstance(data, Mapping) else type(data)(values.values())


def as_identifier(text: str, before: str) -> str:
    """A text as a name in a claim and in Python; `before` stands before one that begins with a digit, or is a keyword.

    N is the number system in the text of an op.
    """
    made = re.sub(r"\W", "_", text, flags=re.ASCII)
    return made if made.isidentifier() and not keyword.iskeyword(made) and made != "N" else f"{before}_{made}"


def view_of(node: ast.Call) -> ast.Attribute | None:
    """The array and the method of a view: `x.permute(1, 0)`, `x.reshape(rows // 128, 4)`, `x.view("float8_e4m3fn")`."""
    return node.func if isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS else None


def value_with(text: str, values: Mapping[str, object]) -> object:
    """The value of such a text, by the values of its names."""

    def made(node: ast.expr) -> object:
        if isinstance(node, ast.Name):
            return values[node.id]
        if isinstance(node, ast.Call) and (method := view_of(node)):
            array, name = made(method.value), method.attr
            given = [evaluate_size(arg, values) for arg in node.args]
            if name == "view":  # as a type of the array's own library
                given = [getattr(sys.modules[type(array).__module__], str(one)) for one in given]
            return getattr(array, name)(*given)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == REPLACE:
            return with_fields(made(node.args[0]), {str(one.arg): made(one.value) for one in node.keywords})
        if isinstance(node, ast.Call) and maker_of(node):
            return values[GIVEN](*map(made, node.args))  # type: ignore[operator]  # it makes inputs
        if isinstance(node, ast.IfExp):
            return made(node.body if made(node.test) else node.orelse)
        if isinstance(node, ast.BinOp):
            return evaluate_size(node, values)
        if isinstance(node, ast.Subscript):
            return made(node.value)[ast.literal_eval(node.slice)]  # type: ignore[index]  # a container of theirs
        if isinstance(node, ast.Attribute):
            return getattr(made(node.value), node.attr)
        if isinstance(node, ast.Tuple):
            return tuple(map(made, node.elts))
        if isinstance(node, ast.List):
            return list(map(made, node.elts))
        if isinstance(node, ast.Dict):
            return {ast.literal_eval(key): made(one) for key, one in zip(node.keys, node.values, strict=True) if key}
        return ast.literal_eval(node)

    return made(ast.parse(text.strip(), mode="eval").body)


def evaluate_size(node: ast.expr, values: Mapping[str, object]) -> Any:  # noqa: ANN401  a number, or a literal
    """An argument of a view: a literal, or sums, products and quotients of sizes."""
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](evaluate_size(node.left, values), evaluate_size(node.right, values))
    return ast.literal_eval(node)
