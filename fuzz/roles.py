"""The roles that an op gives to arrays: which are its inputs, which its outputs, and their dimensions.

Knows the op modules of the oracle by their folder; never their mathematics.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import oracle

OPS = Path(oracle.__file__).parent / "ops"
Dimensions = tuple[str, ...]


@dataclass(frozen=True)
class Roles:
    """Role -> names of its dimensions, as in sgemm: a (m, k), b (k, n), c (m, n); "1" is always one.

    `takes_vector`: the op works by row, and one row may also be given as a plain vector.
    """

    inputs: dict[str, Dimensions]
    outputs: dict[str, Dimensions]
    takes_vector: bool


@cache
def op_names() -> tuple[str, ...]:
    """Every op of the oracle: one file each."""
    return tuple(sorted(path.stem for path in OPS.glob("*.py") if not path.stem.startswith("_")))


@cache
def roles_of(op: str) -> Roles:
    """The roles of a known op."""
    module = import_module(f"oracle.ops.{op}")
    return Roles(dict(module.INPUTS), dict(module.OUTPUTS), bool(module.VECTOR))
