"""Integer expressions over named sizes, as a claim writes them: `ceil_div(cols, threads) + 10`.

Knows arithmetic and names; never what the names mean. Nothing that a kernel file says can hang it: there is
no power, literals and values stay below 2^63, and an expression is short.
"""

import ast
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from math import prod
from types import CodeType

LONGEST = 1000
LARGEST = 2**63 - 1
GRAMMAR = "integers, names, + - * / %, ceil_div(a, b), ceil_log2(n), min(a, b), max(a, b)"
CONDITION_GRAMMAR = f"{GRAMMAR}, comparisons, is_pow2(n), and, or, not"

ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%"}
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


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


FUNCTIONS: dict[str, Callable[..., int]] = {
    "ceil_div": ceil_div,
    "ceil_log2": ceil_log2,
    "min": min,
    "max": max,
}
FEWEST = {"ceil_div": 2, "ceil_log2": 1, "min": 2, "max": 2}
MOST = {"ceil_div": 2, "ceil_log2": 1}
PREDICATES: dict[str, Callable[[int], bool]] = {"is_pow2": is_pow2}
SCOPE: dict[str, object] = {"__builtins__": {}, **FUNCTIONS, **PREDICATES}


@dataclass(frozen=True)
class Expression:
    """A checked expression: its text, the names it reads and the integers it contains."""

    text: str
    names: frozenset[str]
    literals: frozenset[int]

    def __call__(self, sizes: Mapping[str, int]) -> int:
        """Its value for these sizes; ExpressionError where it divides by zero or leaves 63 bits."""
        if (size := sizes.get(self.text)) is not None:  # most are a name alone, and a trial asks for a hundred
            return size
        try:
            value = int(eval(compiled(self.text), SCOPE, sizes))  # noqa: S307  only checked text gets here
        except ZeroDivisionError:
            raise ExpressionError(f"divides by zero for {show_sizes(sizes, self.names)}") from None
        if not -LARGEST <= value <= LARGEST:
            raise ExpressionError(f"is beyond 63 bits for {show_sizes(sizes, self.names)}")
        return value


@dataclass(frozen=True)
class Total:
    """A sum of products, worked out at once: a trial asks for dozens of them."""

    products: tuple[tuple[Expression, ...], ...]

    @cached_property
    def text(self) -> str:
        """The sum as one expression, in Python's own arithmetic without an end."""
        return " + ".join(" * ".join(f"({one.text})" for one in product) or "1" for product in self.products) or "0"

    @cached_property
    def names(self) -> frozenset[str]:
        """Those that it reads."""
        return frozenset[str]().union(*(one.names for product in self.products for one in product))

    def __call__(self, sizes: Mapping[str, int]) -> int:
        """Its value; ExpressionError where one of its expressions has none."""
        with suppress(ZeroDivisionError):
            value = int(eval(compiled(self.text), SCOPE, sizes))  # noqa: S307  made of checked text
            if -LARGEST <= value <= LARGEST:
                return value
        return sum(prod(one(sizes) for one in product) for product in self.products)  # each is looked at by itself


def show_sizes(sizes: Mapping[str, int], names: Iterable[str]) -> str:
    """The named sizes as a person reads them: `rows=3 cols=257`."""
    named = set(names)
    return " ".join(f"{name}={value}" for name, value in sizes.items() if name in named) or "any size"


def number(text: str, allowed: Iterable[str]) -> Expression:
    """An integer expression over the allowed names."""
    return checked(text, tuple(allowed), is_condition=False)


def condition(text: str, allowed: Iterable[str]) -> Expression:
    """A condition over the allowed names: comparisons of integer expressions, joined by and, or, not."""
    return checked(text, tuple(allowed), is_condition=True)


def checked(text: str, allowed: tuple[str, ...], is_condition: bool) -> Expression:
    if len(text) > LONGEST:
        raise ExpressionError(f"{len(text)} characters long; at most {LONGEST}")
    body = parsed(text.strip())
    (check_condition if is_condition else check_number)(body, allowed)
    nodes = tuple(ast.walk(body))
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - FUNCTIONS.keys() - PREDICATES.keys()
    literals = {int(str(node.value)) for node in nodes if isinstance(node, ast.Constant)}
    return Expression(text.strip(), frozenset(names), frozenset(literals))


def parsed(text: str) -> ast.expr:
    """The syntax tree of one expression, which may still hold anything that Python knows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # `1if n else 2` is no more than a warning to Python
            tree = ast.parse(text, mode="eval")
            compile(tree, "<claim>", "eval")
    except SyntaxError as error:
        raise ExpressionError(f"no expression ({error.msg})") from None
    except (RecursionError, MemoryError, ValueError, Warning):
        raise ExpressionError("no expression (nested too deeply, or an impossible character)") from None
    return tree.body


@lru_cache(maxsize=4096)
def compiled(text: str) -> CodeType:
    """Byte code of a checked expression, kept apart from it so that a claim can be pickled."""
    body = RoundsDown().visit(ast.parse(text, mode="eval"))
    return compile(ast.fix_missing_locations(body), "<claim>", "eval")


class RoundsDown(ast.NodeTransformer):
    """Makes `/` the division that rounds down: the language has no fractions."""

    def visit_Div(self, _: ast.Div) -> ast.FloorDiv:
        return ast.FloorDiv()


def check_number(node: ast.expr, allowed: tuple[str, ...]) -> None:
    """Raise ExpressionError unless the node is an integer expression over the allowed names."""
    match node:
        case ast.Constant(value=value) if type(value) is int:
            if value > LARGEST:
                raise ExpressionError(f"{value} is beyond 63 bits")
        case ast.Name(id=name):
            check_name(name, allowed)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            check_number(operand, allowed)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            check_number(left, allowed)
            check_number(right, allowed)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            if not FEWEST[name] <= len(args) <= MOST.get(name, len(args)):
                raise ExpressionError(f"{name}() with {len(args)} arguments; it takes {FEWEST[name]}")
            for arg in args:
                check_number(arg, allowed)
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.Call(func=ast.Name(id="is_pow2")):
            raise ExpressionError(f"'{ast.unparse(node)}' is a condition, where a number is wanted")
        case _:
            raise ExpressionError(f"'{ast.unparse(node)}' is not allowed; allowed are {GRAMMAR}")


def check_condition(node: ast.expr, allowed: tuple[str, ...]) -> None:
    """Raise ExpressionError unless the node is a condition over the allowed names."""
    match node:
        case ast.BoolOp(values=parts):
            for part in parts:
                check_condition(part, allowed)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            check_condition(operand, allowed)
        case ast.Call(func=ast.Name(id=name), args=[arg], keywords=[]) if name in PREDICATES:
            check_number(arg, allowed)
        case ast.Compare(left=left, ops=ops, comparators=rest) if all(type(op) in COMPARISONS for op in ops):
            for part in (left, *rest):
                check_number(part, allowed)
        case _:
            check_number(node, allowed)
            raise ExpressionError(f"'{ast.unparse(node)}' is a number, where a condition such as n > 0 is wanted")


def check_name(name: str, allowed: tuple[str, ...]) -> None:
    if name not in allowed:
        close = get_close_matches(name, allowed, 1)
        hint = f", did you mean '{close[0]}'?" if close else ""
        raise ExpressionError(f"unknown name '{name}'{hint}; this claim has {', '.join(allowed) or 'no names'}")
