"""A Python function with one bug in its text, each in its turn: what a person gets wrong in a line of torch.

Knows Python's syntax; it runs nothing.
"""

import ast
import copy
from collections.abc import Iterator

OPPOSITES = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
PAIRS = (
    ("amax", "amin"), ("max", "min"), ("maximum", "minimum"), ("argmax", "argmin"), ("sum", "mean"), ("exp", "exp2"),
    ("log", "log2"), ("sqrt", "rsqrt"), ("sin", "cos"), ("sinh", "cosh"), ("sigmoid", "tanh"), ("silu", "gelu"),
    ("relu", "abs"), ("floor", "ceil"), ("softmax", "log_softmax"), ("tril", "triu"), ("cumsum", "cumprod"),
    ("logical_and", "logical_or"), ("zeros", "ones"), ("zeros_like", "ones_like"),
)  # fmt: skip
SWAPS = {name: other for one, two in PAIRS for name, other in ((one, two), (two, one))} | {"round": "floor"}
LEFT_OUT = frozenset((
    "masked_fill", "clamp", "clip", "abs", "exp", "softmax", "cumsum", "round", "silu", "sigmoid", "tanh", "tril",
    "triu", "relu", "neg", "square", "flip", "roll",
))  # fmt: skip
"""Calls of one argument that leave its shape as it is: a bug forgets them."""
NAMES_OF_TORCH = ("torch", "F", "functional", "nn")
SMALL_NUMBERS = (0, 1, -1, 2)
"""Integers that are axes and ends: with others a text does not run, mostly."""
SETS_UP = frozenset(("get_inputs", "get_init_inputs", "__init__"))


def other_numbers(one: ast.Constant) -> Iterator[ast.expr]:
    """Twice a float, or a half more where it is 0 or 1; one more than an integer."""
    if type(one.value) is float:
        yield ast.Constant(one.value * 2 if one.value not in SMALL_NUMBERS else one.value + 0.5)
    elif type(one.value) is int and one.value not in SMALL_NUMBERS:
        yield ast.Constant(one.value + 1)


def other_calls(one: ast.Call) -> Iterator[ast.expr]:
    """Another function of the same arguments, and the first argument alone."""
    if not isinstance(one.func, ast.Attribute):
        return
    name = one.func.attr
    if name in SWAPS:
        other = copy.deepcopy(one)
        assert isinstance(other.func, ast.Attribute)
        other.func.attr = SWAPS[name]
        yield other
    if name.rstrip("_") in LEFT_OUT:
        of_torch = ast.unparse(one.func.value).rpartition(".")[2] in NAMES_OF_TORCH
        if not of_torch or one.args:
            yield copy.deepcopy(one.args[0] if of_torch else one.func.value)


def changes(one: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a piece of syntax by mistake."""
    if isinstance(one, ast.BinOp) and type(one.op) in OPPOSITES:
        yield ast.BinOp(one.left, OPPOSITES[type(one.op)](), one.right)
    elif isinstance(one, ast.Compare) and type(one.ops[0]) in OPPOSITES:
        yield ast.Compare(one.left, [OPPOSITES[type(one.ops[0])](), *one.ops[1:]], one.comparators)
    elif isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add):
        yield ast.Assign([one.target], one.value)
    elif isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub | ast.Invert):
        yield one.operand
    elif isinstance(one, ast.Constant):
        yield from other_numbers(one)
    elif isinstance(one, ast.Call):
        yield from other_calls(one)


def places(top: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every piece of syntax within another, and where it stands there."""
    for node in ast.walk(top):
        for field, value in ast.iter_fields(node):
            for place, one in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(one, ast.AST):
                    yield node, field, place, one


def put(node: ast.AST, field: str, place: int | None, one: ast.AST) -> None:
    """Put a piece of syntax there."""
    if place is None:
        setattr(node, field, one)
    else:
        getattr(node, field)[place] = one


def with_one_bug(text: str) -> Iterator[tuple[str, str]]:
    """The text with each bug in its turn, and what was changed; what makes the inputs stays as it is."""
    tree = ast.parse(text)
    defined = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name not in SETS_UP]
    inner = {id(part) for one in defined for part in ast.walk(one) if part is not one}
    for top in (one for one in defined if id(one) not in inner):
        for node, field, place, one in list(places(top)):
            for other in changes(one):
                put(node, field, place, ast.copy_location(other, one))
                ast.fix_missing_locations(tree)
                words = f"line {getattr(one, 'lineno', 0)}: {ast.unparse(one)[:50]} -> {ast.unparse(other)[:50]}"
                yield ast.unparse(tree), words
                put(node, field, place, one)
