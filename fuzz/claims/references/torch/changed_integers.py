"""`get_inputs` of a reference's file with other integers in its text, and in the constants that only it uses.

Knows the text and what it makes; it does not know which integers are sizes.
"""

import ast
import copy
import dis
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import CodeType, ModuleType
from typing import Any, TypeGuard

import torch

from kfuzz.claims.references.torch.task_data import numbers_of_data, tensors_of_data
from kfuzz.devices.python.torch.drawn_inputs import as_arguments, as_in_every_process, set_seeds

NAME, INIT = "get_inputs", "get_init_inputs"
FEW_ELEMENTS = 1 << 18
"""Inputs of so many elements are made, and the reference runs on them: that takes a tenth of the time of a run without
numbers.
"""
SIMPLE = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List)
"""What a constant of a module is made of, if it can follow from others."""
OtherIntegers = Mapping[int, int]
"""Other values of integers, by their places among those of a text."""
SizePlace = tuple[int, int]
"""A tensor and its axis; of the whole numbers among the inputs, and of those that an object is made with, the place."""
OF_INPUTS, OF_OBJECT = -1, -2


class TextMaker:
    """Makes the inputs. `nodes`: the integers that may be sizes, or keywords of get_inputs; `names`: theirs.

    `makes_objects`: also what get_init_inputs gives to make an object of the reference: a constant of both changes in
    both.
    """

    def __init__(self, module: ModuleType, source: str, *, makes_objects: bool = False) -> None:
        self.module, self.tree = module, OneConstantEach().visit(ast.parse(source))
        functions = {one.name: one for one in self.tree.body if isinstance(one, ast.FunctionDef)}
        self.function = functions.get(NAME)
        self.init = functions.get(INIT) if makes_objects else None
        self.keywords = dict(getattr(module.get_inputs, "keywords", {}))
        self.assigned = [one for one in self.tree.body if is_simple(one)]
        others = [one for one in self.tree.body if one not in (self.function, *self.assigned)]
        takers = [one for one in others if one is not self.init]
        self.taken = globals_read(compile(ast.Module(takers, []), "<others>", "exec"))
        self.numbers = {node.value for top in others for node in ast.walk(top) if isinstance(node, ast.Constant)}
        self.is_small = False
        self.last: tuple[OtherIntegers, Any] | None = None
        """What was made last without its numbers."""
        every = list(self._integers(self.function)) if self.function else []
        self.names, self.nodes = [name for name, _ in every], [node for _, node in every]

    def home(self, place: int) -> int:
        """The integer of the text at a place."""
        node = self.nodes[place]
        return integer_of(self.keywords[node] if isinstance(node, str) else node.value)

    def maker(self, values: OtherIntegers) -> Callable[[], Any]:
        """get_inputs with other values."""
        changed = {str(node): value for place, value in values.items() if isinstance(node := self.nodes[place], str)}
        make = self._changed(self.function, values) or self.module.get_inputs
        return partial(make, **self.keywords | changed)

    def init_inputs(self, values: OtherIntegers) -> list[Any]:
        """What get_init_inputs gives with other values; nothing if no object is made with it."""
        if self.init is None:
            return []
        return list((self._changed(self.init, values) or getattr(self.module, INIT))())

    def _changed(self, function: ast.FunctionDef | None, values: OtherIntegers) -> Callable[..., Any] | None:
        """A function of the text with other values; None if none of them is in the text."""
        was = [(node, node.value) for place in values if not isinstance(node := self.nodes[place], str)]
        if not was or function is None:
            return None
        try:
            for place, value in values.items():
                if isinstance(node := self.nodes[place], ast.Constant):
                    node.value = value
            space = dict(vars(self.module))
            tops = ast.Module([*self.assigned, function], [])
            exec(compile(tops, str(self.module.__file__), "exec"), space)  # noqa: S102  their own text
        finally:
            for node, old in was:
                node.value = old
        made: Callable[..., Any] = space[function.name]
        return made

    def made(self, values: OtherIntegers, device: str = "cpu") -> Any:  # noqa: ANN401  containers of tensors
        """What get_inputs makes with other values."""
        make = self.maker(values)
        set_seeds(0)
        with torch.device(device), as_in_every_process():
            return as_arguments(make())

    def without_memory(self, values: OtherIntegers) -> Any:  # noqa: ANN401  as above
        """The inputs without their numbers, since only their sizes matter: those of a benchmark take gigabytes."""
        if self.last is None or self.last[0] != values:
            try:
                made = self.made(values, "cpu" if self.is_small else "meta")
            except Exception:  # their code: it may need the numbers, and then raises what it likes
                made = self.made(values)
            if self.last is None:  # then numbers take less time than none
                self.is_small = sum(one.numel() for one in tensors_of_data(made)) <= FEW_ELEMENTS
            self.last = dict(values), made
        return self.last[1]

    def _integers(self, function: ast.FunctionDef) -> Iterator[tuple[str, ast.Constant | str]]:
        """The integers that may be sizes, with the names of those that have one; no constant that others read."""
        named = self._named(function)
        for node in (node for top in self.assigned for node in ast.walk(top)):
            if is_integer(node) and id(node) in named:
                yield named[id(node)], node
        for node in ast.walk(function):
            name = named.get(id(node), "")
            if is_integer(node) and name not in self.keywords and (name or node.value not in (1, *self.numbers)):
                yield name, node
        yield from ((name, name) for name, value in self.keywords.items() if type(value) is int)

    def _named(self, function: ast.FunctionDef) -> dict[int, str]:
        """The names of the constants in the text, by their nodes."""
        names: dict[int, str] = {}
        for top in (*self.assigned, *ast.walk(function)):
            for target, value in assignments(top):
                if target not in self.taken or top not in self.assigned:
                    names |= dict(parts_of(target, value))
        given = function.args
        last = zip(reversed([*given.posonlyargs, *given.args]), reversed(given.defaults), strict=False)
        named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        return names | {id(value): one.arg for one, value in (*last, *named) if value is not None}


class OneConstantEach(ast.NodeTransformer):
    """A text in which each constant stands by itself: `a = b = 2 * 8` is `a = 16` and `b = 16`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A sum or product of integers as the integer that it is."""
        self.generic_visit(node)
        if not (is_integer(node.left) and is_integer(node.right)):
            return node
        value = eval(compile(ast.Expression(node), "<size>", "eval"))  # noqa: S307  two integers
        return ast.copy_location(ast.Constant(value), node) if type(value) is int else node

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """A statement for each name."""
        self.generic_visit(node)
        if not isinstance(node.value, ast.Constant):
            return [node]
        return [ast.copy_location(ast.Assign([one], copy.copy(node.value)), node) for one in node.targets]


def globals_read(code: CodeType) -> set[str]:
    """The names of a module that its text reads; those of arguments and attributes are others."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    own = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_NAME", "LOAD_GLOBAL")}
    return own.union(*map(globals_read, inner))


def is_simple(top: ast.stmt) -> bool:
    """Whether a statement sets a constant that may follow from integers."""
    value = top.value if isinstance(top, ast.Assign | ast.AnnAssign) else None
    nodes = ast.walk(value) if value else ()
    return value is not None and all(isinstance(one, SIMPLE) for one in nodes if isinstance(one, ast.expr))


def integer_of(value: object) -> int:
    return value if type(value) is int else 0


def is_integer(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and integer_of(node.value) > 0


def assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Each name that a statement assigns to, with its value."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
                yield from ((one.id, value) for one, value in pairs if isinstance(one, ast.Name))


def parts_of(name: str, value: ast.expr) -> Iterator[tuple[int, str]]:
    """An integer with its name; those of a tuple have its name and their places."""
    if isinstance(value, ast.Constant):
        yield id(value), name
    for place, one in enumerate(getattr(value, "elts", ())):
        yield id(one), f"{name}_{place}"


def sizes_of(data: Any) -> dict[SizePlace, int]:  # noqa: ANN401  containers of tensors
    """The size at each place."""
    tensors = enumerate(tensors_of_data(data))
    sizes = {(number, axis): size for number, one in tensors for axis, size in enumerate(one.shape)}
    return sizes | {(OF_INPUTS, place): number for place, number in enumerate(numbers_of_data(data))}
