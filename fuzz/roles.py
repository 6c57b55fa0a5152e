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

    op: str
    inputs: dict[str, Dimensions]
    outputs: dict[str, Dimensions]
    takes_vector: bool

    def __str__(self) -> str:
        arrows = [f"-> {role}" for role in self.inputs] + [f"<- {role}" for role in self.outputs]
        return f"{self.op} has {', '.join(arrows)}"

    def dimensions(self, reads: str | None, writes: str | None) -> tuple[tuple[str, Dimensions], ...]:
        """The roles of one array, each with its dimensions."""
        both = ((reads, self.inputs), (writes, self.outputs))
        return tuple((role, known[role]) for role, known in both if role is not None)


@cache
def op_names() -> tuple[str, ...]:
    """Every op of the oracle: one file each."""
    return tuple(sorted(path.stem for path in OPS.glob("*.py") if not path.stem.startswith("_")))


@cache
def roles_of(op: str) -> Roles:
    """The roles of a known op."""
    module = import_module(f"oracle.ops.{op}")
    return Roles(op, dict(module.INPUTS), dict(module.OUTPUTS), bool(module.VECTOR))
