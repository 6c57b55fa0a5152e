"""Finds an op by its name, which is a file in `oracle/ops/`, or by the path of a user's file."""

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType

from kfuzz.oracle import ops
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.backward import PREFIX, backward_of
from kfuzz.oracle.op.expression import op_of_expression
from kfuzz.oracle.op.op import Op, read_op
from kfuzz.oracle.op.spelling import is_expression, name_in, spell


@cache
def op_names() -> tuple[str, ...]:
    """The names of all ops, from the folder listing."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(ops.__path__)))


@cache
def find(name: str) -> Op:
    """Find the op of that name; a name that ends in .py is the path of a user's file, which is run."""
    if not isinstance(name, str):
        raise OracleError(f"op={name!r}: expected the name of an op, such as 'softmax'")
    if name.startswith(PREFIX):
        made = backward_of(find(name.removeprefix(PREFIX)))
        return made if made.name == name or name.endswith(".py") else find(made.name)
    if name.endswith(".py"):
        return load(Path(name))
    if name in op_names():
        return read_op(name, _module_of(name))
    if is_expression(name):
        combined = op_of_expression(name, find)
        return combined if combined.name == name else find(combined.name)
    known = other_names().get(name, name)
    if name_in(known) not in op_names():
        raise OracleError(f"op={name!r}: unknown op{hint(name)}")
    base = name_in(known)
    found = getattr(_module_of(base), "spell", spell)(find(base), known)  # a file may read what is in its brackets
    return found if found.name == name else find(found.name)


def _module_of(name: str) -> ModuleType:
    return importlib.import_module(f"{ops.__name__}.{name}")


@cache
def other_names() -> dict[str, str]:
    """The other names of ops, each with what it means: `bmm` is `gemm(a, b)`."""
    return {name: text for op in op_names() for name, text in find(op).also.items()}


def hint(name: str) -> str:
    """What the end of a message says of a name that no op has: the nearest op, or what lists all."""
    near = get_close_matches(name, (*op_names(), *other_names()), 1)
    return f", did you mean {near[0]}?" if near else "; kfuzz op lists all"


@cache
def is_op(name: str) -> bool:
    """Whether it is the name of an op of the oracle, over whatever arrays."""
    try:
        return not name.endswith(".py") and bool(find(name))
    except OracleError:
        return False


def load(path: Path) -> Op:
    """Load the op from a user's file."""
    if not path.is_file():
        raise OracleError(f"op={str(path)!r}: no such file")
    module = ModuleType(f"kfuzz_op_{path.stem}")
    module.__file__ = str(path)
    try:  # Python's import would reuse the compiled copy of another text of the same size and second
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))  # noqa: S102  the user asks for it
    except Exception as error:
        raise OracleError(f"op={str(path)!r}: {type(error).__name__}: {error}") from error
    return read_op(path.stem, module)
