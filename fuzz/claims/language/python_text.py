"""The functions of a Python file, read from its text: names, parameters, the library of their arrays.

Knows Python's syntax tree; the file is not run for it.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from kfuzz.claims.language.formula_claims import EPS, NAMES
from kfuzz.common.text.cuda_in_python import last_name
from kfuzz.devices.python.libraries import libraries


@dataclass(frozen=True)
class PythonFunction:
    """A function of a file: its parameters without a default, and those with one."""

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    is_variadic: bool = False
    """It also takes arguments that it does not name."""
    by_name: frozenset[str] = frozenset()
    """Parameters that can only be passed by name."""
    is_by_name: bool = False
    """It takes any argument, by name only: `**inputs`."""
    none_by_default: tuple[str, ...] = ()
    """Parameters whose default is None, as it is of arrays that may be left out."""
    numbers_by_default: tuple[str, ...] = ()
    """Parameters whose default is a number."""
    integers_by_default: tuple[tuple[str, int], ...] = ()
    """Parameters whose default is a whole number, of either sign, and that number."""
    unpacked: tuple[tuple[str, int], ...] = ()
    """Parameters that it unpacks, `x, y = data`, and into how many."""

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*self.required, *self.optional)


@dataclass(frozen=True)
class PythonText:
    """A file as far as it can be read without being run. `error`: why it cannot be read, and the line."""

    functions: dict[str, PythonFunction]
    names: frozenset[str]
    """The names that its top level defines, assigns or imports."""
    packages: tuple[str, ...]
    """The names that it imports anywhere: the first part, and a package of a library (`numba.cuda`)."""
    error: tuple[int, str] | None = None
    numbers: tuple[float, ...] = ()
    """Those that may be an eps: they are added, have a name such as EPS, or are arguments of a launch of Triton's."""
    assigned: tuple[str, ...] = ()
    """Top-level names whose value may be callable: an object, a lambda, a function of another module."""
    objects: Mapping[str, PythonFunction] = field(default_factory=dict)
    """The method `forward` of each class that has one, as a caller of an object sees it."""
    helpers: frozenset[str] = frozenset()
    """Functions that no caller wants: a format of submissions names them."""
    usual: str = ""
    """The function that a format of submissions calls, if the file has one."""

    @property
    def public(self) -> tuple[str, ...]:
        """The functions that a caller may want."""
        return tuple(name for name in self.functions if not name.startswith("_") and name not in self.helpers)


@lru_cache(maxsize=256)
def read_text(source: str) -> PythonText:
    """The functions and names in a file's text."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return PythonText({}, frozenset(), (), (error.lineno or 1, error.msg))
    except (ValueError, RecursionError, MemoryError) as error:
        return PythonText({}, frozenset(), (), (1, str(error) or "nested too deep"))
    kernels = launched_in(tree)
    functions = {
        node.name: function_of(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not is_device_code(node) and node.name not in kernels
    }
    objects = {
        made.name: of_an_object(made.name, function_of(node))
        for made in tree.body
        if isinstance(made, ast.ClassDef)
        for node in made.body
        if isinstance(node, ast.FunctionDef) and node.name == "forward"
    }
    assigned = tuple(
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call | ast.Lambda | ast.Attribute | ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name)
    )
    packages = tuple(dict.fromkeys(imported(tree)))
    numbers = tuple(
        sorted({one.value for one in added(tree) if isinstance(one, ast.Constant) and type(one.value) is float})
    )
    return PythonText(
        functions, frozenset(defined(tree)), packages, numbers=numbers, assigned=assigned, objects=objects
    )


def added(tree: ast.Module) -> Iterator[ast.expr | None]:
    """What a file adds, gives a name such as EPS, or hands to `kernel[grid](...)`; not the tolerance of a test."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            yield from (node.left, node.right)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            yield from node.args
        elif isinstance(node, ast.keyword) and is_eps(node.arg or ""):
            yield node.value
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (node.value for one in targets if is_eps(ast.unparse(one)))
        elif isinstance(node, ast.arguments):
            given = [*node.posonlyargs, *node.args][-len(node.defaults) :] if node.defaults else []
            pairs = (*zip(given, node.defaults, strict=True), *zip(node.kwonlyargs, node.kw_defaults, strict=True))
            yield from (value for one, value in pairs if is_eps(one.arg))


def is_eps(name: str) -> bool:
    """Whether it is a common name of an op's eps."""
    return NAMES[EPS].fullmatch(name) is not None


def function_of(node: ast.FunctionDef) -> PythonFunction:
    given = node.args
    positional = [one.arg for one in (*given.posonlyargs, *given.args)]
    first = len(positional) - len(given.defaults)
    alone = [(one.arg, value is None) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    required = (*positional[:first], *(name for name, is_required in alone if is_required))
    optional = (*positional[first:], *(name for name, is_required in alone if not is_required))
    taken = tuple(
        (one.value.id, len(one.targets[0].elts))
        for one in ast.walk(node)
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Name) and isinstance(one.targets[0], ast.Tuple)
    )
    by_name = frozenset(name for name, _ in alone)
    is_by_name = bool(given.kwarg and not given.vararg and not positional)
    defaults = dict(zip(positional[first:], given.defaults, strict=True))
    defaults |= {one.arg: value for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value}
    constants = {name: value.value for name, value in defaults.items() if isinstance(value, ast.Constant)}
    none = tuple(name for name, value in constants.items() if value is None)
    numbers = tuple(name for name, value in constants.items() if type(value) in (int, float))
    is_variadic = bool(given.vararg or given.kwarg)
    whole = tuple((name, number) for name, value in defaults.items() if (number := whole_number(value)) is not None)
    return PythonFunction(node.name, required, optional, is_variadic, by_name, is_by_name, none, numbers, whole, taken)


def whole_number(value: ast.expr) -> int | None:
    """The whole number that a literal is, of either sign; None if it is none."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        number = whole_number(value.operand)
        return None if number is None else -number
    return value.value if isinstance(value, ast.Constant) and type(value.value) is int else None


def of_an_object(name: str, method: PythonFunction) -> PythonFunction:
    """A method as a caller of an object of its class sees it."""
    return replace(method, name=name, required=method.required[1:])


def is_device_code(node: ast.FunctionDef) -> bool:
    """Whether a decorator makes it a kernel, which is launched and not called: `@triton.jit`, `@cuda.jit`."""
    said = {ast.unparse(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list}
    return any(one.endswith(library.decorators) for library in libraries().values() for one in said)


def defined(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(statement.name)
        found |= {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return found


def launched_in(tree: ast.Module) -> frozenset[str]:
    """The functions that a launcher gets as its kernel, by themselves or with some arguments filled in."""
    launchers = {one for library in libraries().values() for one in library.launchers}
    filled: list[tuple[str, ast.expr]] = []
    kernels: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            filled += [(one.id, node.value) for one in node.targets if isinstance(one, ast.Name)]
        elif isinstance(node, ast.Call) and last_name(node.func) in launchers:
            kernels += [*node.args, *(one.value for one in node.keywords)][:1]
    first = variables_in(kernels)
    return first | variables_in(value for name, value in filled if name in first)


def variables_in(values: Iterable[ast.expr]) -> frozenset[str]:
    return frozenset(one.id for value in values for one in ast.walk(value) if isinstance(one, ast.Name))


def imported(tree: ast.Module) -> list[str]:
    every = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [alias.name for node in every if isinstance(node, ast.Import) for alias in node.names]
    for node in every:
        if isinstance(node, ast.ImportFrom):
            names += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    modules = list(names)
    names += [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    known = [one for library in libraries().values() for one in library.packages if "." in one]
    inner = [one for one in known if any(f"{name}.".startswith(f"{one}.") for name in names)]
    return inner + [name.split(".")[0] for name in modules]
