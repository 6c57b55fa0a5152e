"""Integer expressions over named sizes, as a claim writes them: `ceil_div(cols, threads) if cols > 64 else 1`.

A condition is a number, too: 1 if it holds, else 0. Knows arithmetic and names; never what the names mean.
Nothing that a kernel file says can hang it: there is no power, literals and values stay below 2^63, and an expression
is short and flat. It is checked node by node and evaluated by functions of this file; Python never evaluates it.
Long, since each operator has its rule.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, lru_cache
from math import prod

LONGEST, DEEPEST = 1000, 100
"""The most characters of an expression, and the deepest nesting of its parts."""
LARGEST = 2**63 - 1
GRAMMAR = (
    "integers, names, + - * / %, ceil_div(a, b), ceil_log2(n), min(a, b), max(a, b), comparisons, is_pow2(n), "
    "and, or, not, a if c else b"
)

Evaluate = Callable[[Mapping[str, int]], int]
ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,  # the language has no fractions
    ast.Mod: operator.mod,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class ExpressionError(ValueError):
    """The expression is not in the language, or it has no value for these sizes."""


def ceil_div(a: int, b: int) -> int:
    """The smallest integer that is at least a / b."""
    return -(-a // b)


def ceil_log2(n: int) -> int:
    """The smallest h with 2^h at least n: how often n is halved until one is left, the height of a tree."""
    if n < 1:
        raise ExpressionError(f"takes ceil_log2({n}); it begins at 1")
    return (n - 1).bit_length()


def is_pow2(n: int) -> bool:
    """Whether n is 1, 2, 4, 8, ..."""
    return n > 0 and n & (n - 1) == 0


FUNCTIONS: dict[str, Callable[..., int]] = {"ceil_div": ceil_div, "ceil_log2": ceil_log2, "min": min, "max": max}
FEWEST = {"ceil_div": 2, "ceil_log2": 1, "min": 2, "max": 2, "is_pow2": 1}
MOST = {"ceil_div": 2, "ceil_log2": 1, "is_pow2": 1}
PREDICATES: dict[str, Callable[[int], bool]] = {"is_pow2": is_pow2}
RESERVED = frozenset((*FUNCTIONS, *PREDICATES))
"""Names that have a meaning in every expression."""


@dataclass(frozen=True)
class Expression:
    """A checked expression: its text, the names it reads, the integers it contains, and whether it is a condition."""

    text: str
    names: frozenset[str] = field(repr=False)  # as is the next, it follows from the text, and a set has no order
    literals: frozenset[int] = field(repr=False)
    is_condition: bool = False

    def __call__(self, sizes: Mapping[str, int]) -> int:
        """Its value for these sizes; ExpressionError if it divides by zero or leaves 63 bits."""
        if (size := sizes.get(self.text)) is not None:  # most are a single name, and a trial evaluates a hundred
            return size
        try:
            value = int(compiled(self.text)(sizes))
        except ZeroDivisionError:
            raise ExpressionError(f"divides by zero for {show_sizes(sizes, self.names)}") from None
        if not -LARGEST <= value <= LARGEST:
            raise ExpressionError(f"is beyond 63 bits for {show_sizes(sizes, self.names)}")
        return value


@dataclass(frozen=True)
class Total:
    """A sum of products, evaluated at once: a trial needs dozens of them."""

    products: tuple[tuple[Expression, ...], ...]

    @cached_property
    def text(self) -> str:
        """The sum as one expression, in Python's unbounded integers."""
        return " + ".join(" * ".join(f"({one.text})" for one in product) or "1" for product in self.products) or "0"

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it reads."""
        return frozenset[str]().union(*(one.names for product in self.products for one in product))

    def __call__(self, sizes: Mapping[str, int]) -> int:
        """Its value; ExpressionError if one of its expressions has none."""
        try:
            value = int(compiled(self.text)(sizes))
            if -LARGEST <= value <= LARGEST:
                return value
        except ZeroDivisionError:
            pass
        return sum(prod(one(sizes) for one in product) for product in self.products)  # each is checked on its own


def show_sizes(sizes: Mapping[str, int], names: Iterable[str]) -> str:
    """The named sizes as a person reads them: `rows=3 cols=257`."""
    named = set(names)
    return " ".join(f"{name}={value}" for name, value in sizes.items() if name in named) or "any size"


def number(text: str, allowed: Iterable[str], conditions: Collection[str] = ()) -> Expression:
    """An integer expression over the allowed names, some of which may be conditions."""
    return checked(text, tuple(allowed), conditions)


def condition(text: str, allowed: Iterable[str], conditions: Collection[str] = ()) -> Expression:
    """A condition over the allowed names: comparisons, joined by and, or, not."""
    found = checked(text, tuple(allowed), conditions)
    if not found.is_condition:
        raise ExpressionError(wants_condition(ast.parse(found.text, mode="eval").body))
    return found


def checked(text: str, allowed: tuple[str, ...], conditions: Collection[str]) -> Expression:
    """The text as an expression; ExpressionError if it is not one."""
    body = parsed(text)
    is_condition = check(body, allowed, conditions)
    literals = {int(str(node.value)) for node in ast.walk(body) if isinstance(node, ast.Constant)}
    return Expression(text.strip(), names_in(body), frozenset(literals), is_condition)


def names_of(text: str) -> frozenset[str]:
    """The names that a text reads, whether or not they are known; ExpressionError if it is not an expression."""
    return names_in(parsed(text))


def names_in(body: ast.expr) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(body) if isinstance(node, ast.Name)) - RESERVED


@lru_cache(maxsize=4096)
def parsed(text: str) -> ast.expr:
    """The syntax tree of one expression, which may still contain anything in Python's grammar.

    All callers share it: do not change it.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"{len(text)} characters long; at most {LONGEST}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python only warns about `1if n else 2`
            tree = ast.parse(text.strip(), mode="eval")
            compile(tree, "<claim>", "eval")  # for the warnings; nothing runs it
    except SyntaxError as error:
        raise ExpressionError(f"no expression ({error.msg})") from None
    except (RecursionError, MemoryError, ValueError, Warning):
        raise ExpressionError("no expression (nested too deeply, or an impossible character)") from None
    level: list[ast.AST] = [tree.body]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in ast.iter_child_nodes(one)]
    if level:
        raise ExpressionError(f"nested more than {DEEPEST} deep; write a part of it as a name of [let]")
    return tree.body


def check(node: ast.expr, allowed: tuple[str, ...], conditions: Collection[str]) -> bool:
    """Whether the node is a condition and not just a number; ExpressionError if it is not in the language."""
    match node:
        case ast.Constant(value=value) if type(value) is int:
            if value > LARGEST:
                raise ExpressionError(f"{value} is beyond 63 bits")
            return False
        case ast.Name(id=name):
            check_name(name, allowed)
            return name in conditions
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            check(operand, allowed, conditions)
            return False
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            check_each([left, right], allowed, conditions)
            return False
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in RESERVED:
            if not FEWEST[name] <= len(args) <= MOST.get(name, len(args)):
                raise ExpressionError(f"{name}() with {len(args)} arguments; it takes {FEWEST[name]}")
            check_each(args, allowed, conditions)
            return name in PREDICATES
        case ast.Compare(left=left, ops=ops, comparators=rest) if all(type(op) in COMPARISONS for op in ops):
            check_each([left, *rest], allowed, conditions)
            return True
        case ast.BoolOp(values=parts):
            require_conditions(parts, allowed, conditions)
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            require_conditions([operand], allowed, conditions)
            return True
        case ast.IfExp(test=test, body=one, orelse=other):
            require_conditions([test], allowed, conditions)
            return all(check_each([one, other], allowed, conditions))
    raise ExpressionError(f"'{ast.unparse(node)}' is not allowed; allowed are {GRAMMAR}")


def check_each(nodes: Iterable[ast.expr], allowed: tuple[str, ...], conditions: Collection[str]) -> list[bool]:
    """For each node, whether it is a condition."""
    return [check(node, allowed, conditions) for node in nodes]


def require_conditions(nodes: Iterable[ast.expr], allowed: tuple[str, ...], conditions: Collection[str]) -> None:
    """Raise ExpressionError unless each node is a condition."""
    for node in nodes:
        if not check(node, allowed, conditions):
            raise ExpressionError(wants_condition(node))


def wants_condition(node: ast.expr) -> str:
    """The error for a number in the place of a condition."""
    return f"'{ast.unparse(node)}' is a number, where a condition such as n > 0 is expected"


def check_name(name: str, allowed: tuple[str, ...]) -> None:
    """Raise ExpressionError unless the name is one of those allowed."""
    if name not in allowed:
        close = get_close_matches(name, allowed, 1)
        hint = f", did you mean '{close[0]}'?" if close else ""
        raise ExpressionError(f"unknown name '{name}'{hint}; this claim has {', '.join(allowed) or 'no names'}")


@lru_cache(maxsize=4096)
def compiled(text: str) -> Evaluate:
    """The function that evaluates a checked expression, kept apart from it so that a claim can be pickled."""
    return function_of(ast.parse(text, mode="eval").body)


def function_of(node: ast.expr) -> Evaluate:
    """The function that evaluates a checked node."""
    match node:
        case ast.Constant(value=int(value)):
            return lambda _: value
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.UnaryOp(op=op, operand=operand):
            return unary(op, function_of(operand))
        case ast.BinOp(left=left, op=op, right=right):
            return binary(ARITHMETIC[type(op)], function_of(left), right)
        case ast.Call(func=ast.Name(id=name), args=args):
            return call({**FUNCTIONS, **PREDICATES}[name], [function_of(arg) for arg in args])
        case ast.Compare(left=left, ops=ops, comparators=rest):
            compare = [COMPARISONS[type(op)] for op in ops]
            return comparison(compare, [function_of(part) for part in (left, *rest)])
        case ast.BoolOp(op=op, values=values):
            parts = [function_of(part) for part in values]
            is_any = isinstance(op, ast.Or)
            return lambda sizes: (any if is_any else all)(part(sizes) for part in parts)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            holds, one, other = function_of(test), function_of(body), function_of(orelse)
            return lambda sizes: one(sizes) if holds(sizes) else other(sizes)
    raise TypeError(f"'{ast.unparse(node)}' was not checked")


def unary(op: ast.unaryop, operand: Evaluate) -> Evaluate:
    """A sign, or `not`."""
    if isinstance(op, ast.Not):
        return lambda sizes: not operand(sizes)
    return (lambda sizes: -operand(sizes)) if isinstance(op, ast.USub) else operand


def binary(apply: Callable[[int, int], int], left: Evaluate, right: ast.expr) -> Evaluate:
    """An operation; a literal operand, the usual case, is bound at once."""
    if isinstance(right, ast.Constant):
        value = int(str(right.value))
        return lambda sizes: apply(left(sizes), value)
    other = function_of(right)
    return lambda sizes: apply(left(sizes), other(sizes))


def call(apply: Callable[..., int], args: list[Evaluate]) -> Evaluate:
    """A function of the language; one or two arguments, the usual case, need no list."""
    if len(args) == 1:
        (only,) = args
        return lambda sizes: apply(only(sizes))
    if len(args) == 2:
        one, other = args
        return lambda sizes: apply(one(sizes), other(sizes))
    return lambda sizes: apply(*[arg(sizes) for arg in args])


def comparison(compare: list[Callable[[int, int], bool]], parts: list[Evaluate]) -> Evaluate:
    """A comparison, or a chain of them: `256 < cols <= 512`."""
    if len(parts) == 2:
        (apply,), (one, other) = compare, parts
        return lambda sizes: apply(one(sizes), other(sizes))

    def holds(sizes: Mapping[str, int]) -> bool:
        values = [part(sizes) for part in parts]
        return all(apply(a, b) for apply, a, b in zip(compare, values, values[1:], strict=False))

    return holds
