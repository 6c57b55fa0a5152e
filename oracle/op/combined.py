"""The formula of an expression of ops, over any number system: that of each op, one after the other.

Knows the parts that expression.py has read, and words; it knows no number system.
"""

import ast
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.spelling import AxisNames
from kfuzz.oracle.systems.value import Quantity, System, in_form

OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
}  # fmt: skip
ABSOLUTE = "abs"
"""The function that formulas spell as Python does, not as a word of a system."""
BRACKETS = re.compile(r"\[[^\]]*\]")


@dataclass
class Called:
    """An op of an expression, with what it is given by role, numbers of its scalars, and its dimensions' names here."""

    op: Op
    given: Mapping[str, ast.expr]
    numbers: Mapping[str, float]
    names: dict[str, str] = field(default_factory=dict)


class _InPart:
    """A system as the formula of one op sees it, with its own names of dimensions."""

    def __init__(self, N: System, names: Mapping[str, str]) -> None:
        self._whole, self._names = N, names

    def size(self, dimension: str) -> int:
        return self._whole.size(self._names.get(dimension, dimension))

    def index(self, dimension: str, axis: int = -1) -> Any:  # noqa: ANN401  plain integers
        return self._whole.index(self._names.get(dimension, dimension), axis)

    def __getattr__(self, word: str) -> Any:  # noqa: ANN401  a word
        return getattr(self._whole, word)


@dataclass(frozen=True)
class Combined:
    """An expression whose arrays all have dimensions: its root, those of its answer, and the ops that it calls."""

    root: ast.expr
    sizes: AxisNames
    arrays: Mapping[str, AxisNames]
    called: Mapping[int, Called]
    """By the node that calls."""

    @property
    def having_forms(self) -> list[int]:
        """The calls of ops that have several forms."""
        return [key for key, one in self.called.items() if len(one.op.every_form) > 1]

    def forms(self) -> dict[str, Sequence[str]]:
        """Every form of the whole, with that of each op that has several."""
        ops = [self.called[key].op for key in self.having_forms]
        return {form_name(ops, chosen): chosen for chosen in itertools.product(*(op.every_form for op in ops))}

    def formula(self, N: System, /, **given: Any) -> Quantity:  # noqa: ANN401  any system, its values
        """The formula, by the form that is asked for."""
        forms = self.forms()
        chosen = dict(zip(self.having_forms, forms.get(N.form) or next(iter(forms.values())), strict=True))
        made: Quantity
        made, sizes = _Evaluation(N, self, given, chosen).value(self.root)
        return made if sizes == self.sizes or not sizes else spread(made, sizes, self.sizes)


def form_name(having: Sequence[Op], chosen: Sequence[str]) -> str:
    """One op's form is that of the whole; of several, each form says its op."""
    if len(having) <= 1:
        return "".join(chosen)
    return ", ".join(f"{op.name}: {form}" for op, form in zip(having, chosen, strict=True) if form)


@dataclass(frozen=True)
class _Evaluation:
    """One evaluation over a system, with the form of each call that has several."""

    N: Any
    whole: Combined
    given: Mapping[str, Any]
    chosen: Mapping[int, str]

    def value(self, node: ast.expr) -> tuple[Any, AxisNames]:
        """The value of a part, and its dimensions."""
        if isinstance(node, ast.Constant):
            return self.N.number(float(node.value)), ()  # type: ignore[arg-type]  # it was checked to be a number
        if isinstance(node, ast.UnaryOp):
            inner, sizes = self.value(node.operand)
            return -inner, sizes
        if isinstance(node, ast.BinOp):
            (a, b), sizes = aligned([self.kept(node.left), self.kept(node.right)])
            return OPERATORS[type(node.op)](a, b), sizes
        if isinstance(node, ast.Attribute):
            inner, sizes = self.value(node.value)
            return inner.T, (*sizes[:-2], *sizes[:-3:-1])
        if isinstance(node, ast.Call):
            return self.of_call(node)
        name = BRACKETS.sub("", ast.unparse(node))
        return self.given[name], self.whole.arrays[name]

    def of_call(self, node: ast.Call) -> tuple[Any, AxisNames]:
        """What an op or a function of numbers gives."""
        if id(node) not in self.whole.called:
            values, sizes = aligned([self.kept(one) for one in node.args])
            name = ast.unparse(node.func)
            return (abs if name == ABSOLUTE else getattr(self.N, name))(*values), sizes
        part = self.whole.called[id(node)]
        roles = {role: self.kept(one)[0] for role, one in part.given.items()}
        numbers = {
            name: self.N.number(part.numbers[name]) if name in part.numbers else self.given[name]
            for name in part.op.scalars
        }
        inner: Any = _InPart(self.N, part.names)
        with in_form(self.N, self.chosen.get(id(node), "")):
            made = part.op.formula(inner, **roles, **numbers)
        (output, role), *_ = part.op.outputs.items()
        made = made[output] if isinstance(made, Mapping) else made
        return in_rank(made, len(role.dimensions)), tuple(part.names[own] for own in role.dimensions)

    def kept(self, node: ast.expr) -> tuple[Any, AxisNames]:
        """The value of an inner part, which a kernel may keep in 16 bits: its name is its text."""
        made, sizes = self.value(node)
        if isinstance(node, ast.BinOp | ast.Call):
            made = self.N.keep(made, BRACKETS.sub("", ast.unparse(node)))
        return made, sizes


def aligned(given: Sequence[tuple[Any, AxisNames]]) -> tuple[list[Any], AxisNames]:
    """Values with an axis for each dimension that any of them has."""
    full = max((sizes for _, sizes in given), key=len)
    return [spread(made, sizes, full) for made, sizes in given], full


def spread(made: Quantity, sizes: AxisNames, full: AxisNames) -> Quantity:
    """A value with an axis of one element for each dimension that it does not have; leading ones need none."""
    if not sizes or sizes == full[len(full) - len(sizes) :]:
        return made
    lengths = iter(made.shape)
    return made.reshaped(*(next(lengths) if one in sizes else 1 for one in full))


def in_rank(made: Quantity, rank: int) -> Quantity:
    """A value without the last axes of one element that a reduction leaves in place."""
    return made if len(made.shape) <= rank else made.reshaped(*made.shape[:rank])
