"""The values that the template arguments of a launch may have: all are compiled before any size is drawn.

An argument is a tune parameter, a listed axis, or an expression whose conditionals choose between a few numbers. The
expressions are walked with an interval for each axis. A comparison that the intervals do not decide is walked both
ways, and each way narrows the axis that it compares with a number. So values that never occur together are left out.
Knows expressions; never what an entry is.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, product

from kfuzz.claims.language.expression import ARITHMETIC, COMPARISONS, FUNCTIONS, LARGEST, Expression, ceil_log2, is_pow2

MOST_STEPS = 1 << 20
"""The most nodes of expressions to walk for one launch, on all ways together: about a second."""
FEW = 16
"""The most values of an expression without a conditional that are all taken: `min(ceil_div(cols, 32), 8)`."""
EXAMPLE = "a conditional such as {64 if cols <= 512 else 128}"
Interval = tuple[int, int]
EVERY_NUMBER = (-LARGEST, LARGEST)


class TooManyError(ValueError):
    """An expression has too many values to compile; the message is the expression."""


@dataclass(frozen=True)
class SizeDomain:
    """The sizes of a claim: the ends of each axis, the names with a few values, and the sizes derived from them."""

    ends: Mapping[str, Interval]
    few: Mapping[str, tuple[int, ...]]
    let: Mapping[str, Expression]


@dataclass
class Way:
    """One way through the conditionals: `plan` are the choices to make, `choices` those made and their options."""

    domain: SizeDomain
    plan: Sequence[int]
    steps: Iterator[int]
    choices: list[tuple[int, int]] = field(default_factory=list)
    ends: dict[str, Interval] = field(default_factory=dict)
    decided: dict[str, bool] = field(default_factory=dict)
    derived: dict[str, Interval] = field(default_factory=dict)
    """The intervals of derived sizes, valid until an axis is narrowed further."""

    def choose(self, count: int) -> int:
        """Choose one of `count`: as planned, else the first."""
        place = len(self.choices)
        choice = self.plan[place] if place < len(self.plan) else 0
        self.choices.append((choice, count))
        return choice

    def value(self, value: Expression) -> int:
        """The value of an expression on this way; TooManyError if it still has many."""
        low, high = self.interval(tree_of(value.text))
        if high - low >= FEW:
            raise TooManyError(value.text)
        return low + (self.choose(high - low + 1) if high > low else 0)

    def interval(self, node: ast.expr) -> Interval:
        """The least and the greatest value of a node."""
        if next(self.steps, None) is None:
            raise TooManyError(ast.unparse(node))
        match node:
            case ast.Constant(value=int(value)):
                return value, value
            case ast.Name(id=name):
                return self.of_name(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                low, high = self.interval(operand)
                return -high, -low
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.interval(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return combine(op, self.interval(left), self.interval(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.interval(body if self.holds(test) else orelse)
            case ast.Call(func=ast.Name(id=name), args=args) if name in FUNCTIONS:
                return apply(name, [self.interval(arg) for arg in args])
        holds = int(self.holds(node))
        return holds, holds

    def of_name(self, name: str) -> Interval:
        """The interval of an axis or of a derived size; one value of a name with few values."""
        if name in self.domain.let:
            if name not in self.derived:
                found = self.interval(tree_of(self.domain.let[name].text))
                self.derived[name] = found  # the walk may have narrowed an axis, and cleared the others
            return self.derived[name]
        if name not in self.ends:
            few = self.domain.few.get(name)
            value = few[self.choose(len(few))] if few else None
            self.ends[name] = self.domain.ends[name] if value is None else (value, value)
        return self.ends[name]

    def holds(self, node: ast.expr) -> bool:
        """Whether a condition holds, on this way."""
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self.holds(part) for part in parts)
            case ast.BoolOp(values=parts):
                return any(self.holds(part) for part in parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.holds(operand)
            case ast.Compare(left=left, ops=ops, comparators=rest):
                pairs = zip(pairwise((left, *rest)), ops, strict=True)
                return all(self.compare(one, op, other) for (one, other), op in pairs)
            case ast.Call(func=ast.Name(id="is_pow2"), args=[arg]):
                low, high = self.interval(arg)
                return is_pow2(low) if low == high else self.decide(ast.unparse(node))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.holds(body if self.holds(test) else orelse)
        low, high = self.interval(node)
        return low != 0 if low == high else self.decide(ast.unparse(node))

    def compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        """Whether a comparison holds: as the intervals decide, else both ways, each of which narrows its axis."""
        one, other = self.interval(left), self.interval(right)
        known = decide(op, one, other)
        if known is not None:
            return known
        holds = self.decide(ast.unparse(ast.Compare(left, [op], [right])))
        for name, side, (low, high), bound in ((left, op, one, other), (right, MIRRORED[type(op)](), other, one)):
            if isinstance(name, ast.Name) and name.id in self.ends and bound[0] == bound[1]:
                below, above = within(side if holds else OPPOSITE[type(side)](), bound[0])
                self.ends[name.id] = max(low, below), min(high, above)
                self.derived.clear()
        return holds

    def decide(self, text: str) -> bool:
        """Whether an undecided condition holds; the same on the whole way."""
        if text not in self.decided:
            self.decided[text] = bool(self.choose(2))
        return self.decided[text]


MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
}  # fmt: skip
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


@lru_cache(maxsize=4096)
def tree_of(text: str) -> ast.expr:
    """The tree of a checked expression."""
    return ast.parse(text, mode="eval").body


def values_of(
    wanted: Sequence[Expression], when: Expression | None, domain: SizeDomain
) -> Iterator[tuple[tuple[int, ...], dict[str, int]]]:
    """The combinations of values that these expressions have if a condition holds, and those of the names in `few`."""
    plan: list[int] = []
    steps = iter(range(MOST_STEPS))
    while True:
        way = Way(domain, plan, steps)
        if when is None or way.holds(tree_of(when.text)):
            values = tuple(way.value(one) for one in wanted)
            yield values, {name: way.ends[name][0] for name in domain.few if name in way.ends}
        choices = way.choices
        while choices and choices[-1][0] + 1 == choices[-1][1]:
            choices.pop()
        if not choices:
            return
        plan = [choice for choice, _ in choices]
        plan[-1] += 1


def combine(op: ast.operator, one: Interval, other: Interval) -> Interval:
    """The interval of an operation on two intervals."""
    if isinstance(op, ast.Mod):
        low, high = other
        if low < 1:
            return EVERY_NUMBER
        is_one_turn = low == high and one[0] // low == one[1] // low
        return (one[0] % low, one[1] % low) if is_one_turn else (0, high - 1)
    if isinstance(op, ast.Div) and other[0] <= 0 <= other[1]:
        return EVERY_NUMBER
    corners = [ARITHMETIC[type(op)](a, b) for a, b in product(one, other)]
    return min(corners), max(corners)


def apply(name: str, args: Sequence[Interval]) -> Interval:
    """The interval of a function of intervals."""
    if name == "ceil_log2":
        ((low, high),) = args
        return ceil_log2(max(low, 1)), ceil_log2(max(high, 1))
    if name == "ceil_div":
        low, high = combine(ast.Div(), (-args[0][1], -args[0][0]), args[1])
        return -high, -low
    function = FUNCTIONS[name]
    return function(low for low, _ in args), function(high for _, high in args)


def decide(op: ast.cmpop, one: Interval, other: Interval) -> bool | None:
    """Whether a comparison of two intervals holds for all their numbers; None if it holds for some."""
    compare = COMPARISONS[type(op)]
    if isinstance(op, ast.Eq | ast.NotEq):
        if one[0] == one[1] == other[0] == other[1]:
            return isinstance(op, ast.Eq)
        return isinstance(op, ast.NotEq) if one[1] < other[0] or other[1] < one[0] else None
    ends = {compare(a, b) for a, b in product(one, other)}
    return ends.pop() if len(ends) == 1 else None


def within(op: ast.cmpop, bound: int) -> Interval:
    """The numbers for which a comparison with a bound holds."""
    match op:
        case ast.Lt():
            return -LARGEST, bound - 1
        case ast.LtE():
            return -LARGEST, bound
        case ast.Gt():
            return bound + 1, LARGEST
        case ast.GtE():
            return bound, LARGEST
        case ast.Eq():
            return bound, bound
    return EVERY_NUMBER
