"""The roles that an op gives to arrays: which are its inputs, which its outputs, and their dimensions.

Knows the arrays of an op module of the oracle; never its mathematics.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BOOL, F32, I32, Element
from kfuzz.oracle.op.independence import row_axes
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.shapes import is_derived
from kfuzz.oracle.op.structure import Structure

Dimensions = tuple[str, ...]


@dataclass(frozen=True)
class Roles:
    """Role -> names of its dimensions, as in sgemm: a (m, k), b (k, n), c (m, n); a number is a fixed size.

    `takes_any_float`: arrays with a role may be of any float type. `integers`: roles of whole numbers, each with the
    dimension that it stays below, if any.
    `structures`: roles of whole numbers that are more than bounded.
    `rules`: conditions on the sizes, written as in `where`.
    `whole`: the default type of integers.
    `takes_vector`: the op works by row, and one row may also be given as a plain vector.
    `cut`: the axis of each array along which the op can be split; an array without one is needed whole.
    `axis`: the dimension of the first input along which the op works.
    `grids`: roles whose arrays are of a narrow type. `truths`: integers that are 0 or 1.
    `selects`: the numbers in its answers are elements of its inputs. `is_exact`: it rounds none of them.
    `codes`: integers of any type, which a reference takes or returns so.
    `fixed`: the dimensions for which the rules allow one size.
    """

    op: str
    inputs: dict[str, Dimensions]
    outputs: dict[str, Dimensions]
    takes_vector: bool
    takes_any_float: bool = False
    integers: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    whole: Element = I32
    cut: Mapping[str, int] = field(default_factory=dict)
    axis: int = -1
    grids: frozenset[str] = frozenset()
    truths: frozenset[str] = frozenset()
    structures: Mapping[str, Structure] = field(default_factory=dict)
    selects: bool = False
    is_exact: bool = False
    codes: frozenset[str] = frozenset()
    fixed: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_derived_dimensions(self) -> bool:
        """Whether a dimension follows from other sizes: `cols / group`, `2 * cols + 1`."""
        return any(map(is_derived, chain(*self.inputs.values(), *self.outputs.values())))

    @property
    def floats(self) -> set[str]:
        """The roles that hold numbers, not places or labels."""
        return {*self.inputs, *self.outputs} - set(self.integers)

    def element(self, role: str) -> Element:
        """The default element type of a kernel's array with this role."""
        if role in self.truths:
            return BOOL
        return self.whole if role in self.integers else F32

    def __str__(self) -> str:
        arrows = [f"-> {role}" for role in self.inputs] + [f"<- {role}" for role in self.outputs]
        return f"{self.op} has {', '.join(arrows)}"

    def dimensions(self, reads: str | None, writes: str | None) -> tuple[tuple[str, Dimensions], ...]:
        """The roles of one array, each with its dimensions."""
        both = ((reads, self.inputs), (writes, self.outputs))
        return tuple((role, known[role]) for role, known in both if role is not None)


@cache
def roles_of(op: str) -> Roles:
    """The roles of a known op."""
    module = find(op)
    inputs, outputs = (
        {name: role.dimensions for name, role in table.items()} for table in (module.inputs, module.outputs)
    )
    integers = {name: role.below or "" for name, role in module.roles if not role.is_float}
    rules = tuple(rule for rule in module.where if not rule.endswith(">= 1"))
    return Roles(
        op, inputs, outputs, module.takes_vector, module.takes_any_float, integers, rules, cut=dict(row_axes(module)),
        grids=frozenset(name for name, role in module.roles if role.is_grid), axis=axis_of(module),
        truths=frozenset(name for name, role in module.roles if role.is_truth),
        structures={name: role.structure for name, role in module.inputs.items() if role.structure},
        selects=module.selects, is_exact=module.selects and module.gives_sets,
        codes=frozenset(name for name, role in module.roles if module.is_whole and not role.is_float),
        fixed=module.fixed,
    )  # fmt: skip


def axis_of(op: Op) -> int:
    """The place of the op's own last dimension in its first input; -1 if it is the last there, too."""
    if op.views is None:
        return -1
    view = next(iter(op.views[0].values()))
    last = view.parts[-1][-1:]
    return view.dimensions.index(last[0]) if last and view.dimensions[-1:] != last else -1
