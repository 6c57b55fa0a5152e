"""The op of a name, or of a user's own file: nothing is registered, a name is a file in `oracle/ops/`."""

from functools import cache
from pathlib import Path
from types import ModuleType

from kfuzz.oracle.formula import FormulaOp, from_module
from kfuzz.oracle.op import Op, OracleError, module_of


@cache
def find(name: str) -> Op:
    """The op of that name; a name that ends in .py is the path of a formula of one's own, whose file is run."""
    if not isinstance(name, str):
        raise OracleError(f"op={name!r}: expected the name of an op, such as 'softmax'")
    if name.endswith(".py"):
        return load(Path(name))
    module = module_of(name)
    found: Op = from_module(name, module) if hasattr(module, "formula") else module
    return found


def load(path: Path) -> FormulaOp:
    """The op that a file of one's own holds."""
    if not path.is_file():
        raise OracleError(f"op={str(path)!r}: no such file")
    module = ModuleType(f"kfuzz_op_{path.stem}")
    module.__file__ = str(path)
    try:  # not by Python's import, whose compiled copy of a file is that of any text of its size and second
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))  # noqa: S102  it is what the user asks for
    except Exception as error:
        raise OracleError(f"op={str(path)!r}: {type(error).__name__}: {error}") from error
    return from_module(path.stem, module)
