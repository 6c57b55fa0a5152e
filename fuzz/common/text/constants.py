"""The whole numbers that a text names: literals, and what its constants make of them, such as `37 * 41` or `2**13`.

Knows how C++ and Python write constants. A name that has several values, as BLOCK in two configurations, has each.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.common.text.python_strings import DEVICE_CODE, tree_of

WholeNumbers = frozenset[int]
Known = Mapping[str, WholeNumbers]
LARGEST = 1 << 31
"""No size is larger; a power or a shift beyond it is not computed."""
MOST_VALUES = 16
"""Of one name or expression: of a longer list, such as all configurations of a tuner, the least ones."""
PASSES = 3
"""A constant may be made of those below it."""
CONSTANT = re.compile(r"\b(?:const|constexpr|enum|template)\b[^;]*$")
DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+)$", re.MULTILINE)
ASSIGNED = re.compile(r"\b(\w+)\s*=(?!=)\s*([^=;,{}]+?)\s*(?=[;,}>)])")
TOKEN = re.compile(
    r"(?P<number>(?<![\w.])\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<name>[A-Za-z_]\w*)|(?P<operator><<|>>|[-+*/%])"
    r"|(?P<open>\()|(?P<close>\))|(?P<other>\S)"
)
INTEGER = re.compile(r"(0[xX][0-9a-fA-F]{1,8}|\d{1,10})[uUlL]{0,3}")


@dataclass(frozen=True)
class Constants:
    """What a text says of numbers: the expressions to which it binds names, and every operand and operation."""

    bound: tuple[tuple[str, ast.expr], ...]
    parts: tuple[ast.expr, ...]


def numbers_in(source: str, given: Known | None = None) -> WholeNumbers:
    """The numbers of a Python or CUDA file; `given`: names that have values."""
    given = given or {}
    text = constants_in(source, frozenset(given))
    known = _values_of(text.bound, given)
    return WholeNumbers().union(*(_evaluate(node, known) for node in text.parts))


@lru_cache(maxsize=256)
def constants_in(source: str, names: frozenset[str]) -> Constants:
    """What a text says of numbers and of these names."""
    tree = tree_of(source)
    return _of_cuda(source, names) if tree is None else _of_python(tree, names)


def _of_python(tree: ast.Module, names: frozenset[str]) -> Constants:
    nodes = list(ast.walk(tree))
    bound = tuple(pair for node in nodes for pair in _assigned_by(node))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names |= {name for name, _ in bound}
    inside = [_of_cuda(text, names) for text in texts if DEVICE_CODE.search(text)]
    return Constants(
        (*bound, *(pair for one in inside for pair in one.bound)),
        (*_parts_of(nodes), *(part for one in inside for part in one.parts)),
    )


def _parts_of(nodes: Iterable[ast.AST]) -> tuple[ast.expr, ...]:
    """The operands and operations among the parts of a tree, each once."""
    found = (node for node in nodes if isinstance(node, ast.Constant | ast.BinOp | ast.Name))
    return tuple({ast.dump(node): node for node in found}.values())


def _assigned_by(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names to which a part of a Python file gives a value, also as an argument, a default, or a key of a dict."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _unpacked(target, node.value)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from _unpacked(node.target, node.value)
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg, node.value
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(node, ast.arguments):
        last = [*node.posonlyargs, *node.args][-len(node.defaults) :] if node.defaults else []
        yield from ((one.arg, value) for one, value in zip(last, node.defaults, strict=True))
        yield from ((one.arg, value) for one, value in zip(node.kwonlyargs, node.kw_defaults, strict=True) if value)


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, of in zip(target.elts, value.elts, strict=True):
            yield from _unpacked(one, of)


def _of_cuda(source: str, names: frozenset[str]) -> Constants:
    code = blank_non_code(source)
    pairs = [(name, text) for name, text in DEFINED.findall(code)]
    for one in ASSIGNED.finditer(code):
        begin = max(code.rfind(mark, 0, one.start()) for mark in ";}")
        if CONSTANT.search(code, begin + 1, one.start()):
            pairs.append((one[1], one[2]))
    names |= {name for name, _ in pairs}
    bound = tuple((name, tree) for name, text in pairs for tree in _expressions(text, names)[:1])
    return Constants(bound, _parts_of(node for tree in _expressions(code, names) for node in ast.walk(tree)))


def _expressions(code: str, names: Collection[str]) -> list[ast.expr]:
    """The longest stretches of C++ that only consist of numbers, these names, operators and whole brackets."""
    found = list[ast.expr]()
    stretch = list[str]()
    opened = list[int]()

    def end() -> None:
        nonlocal stretch
        for begin in (*reversed(opened), None):  # brackets that do not close divide it
            part = stretch if begin is None else stretch[begin + 1 :]
            found.extend(_parsed(part))
            stretch = [] if begin is None else stretch[:begin]
        opened.clear()

    for token in TOKEN.finditer(code):
        part, text = str(token.lastgroup), token[0]
        if part == "number" and (digits := INTEGER.fullmatch(text)):
            stretch.append(str(int(digits[1], 0 if digits[1][:2] in ("0x", "0X") else 10)))
        elif part == "operator" or (part == "name" and text in names):
            stretch.append("//" if text == "/" else text)
        elif part == "open":
            opened.append(len(stretch))
            stretch.append("(")
        elif part == "close" and opened:
            if opened.pop() == len(stretch) - 1:  # `()` is a call
                end()
            else:
                stretch.append(")")
        else:
            end()
    end()
    return found


def _parsed(tokens: list[str]) -> list[ast.expr]:
    """A stretch as an expression, without operators at its ends; its operands alone if it is none."""
    operators = ("<<", ">>", "-", "+", "*", "//", "%")
    while tokens and tokens[0] in operators:
        tokens = tokens[1:]
    while tokens and tokens[-1] in operators:
        tokens = tokens[:-1]
    for texts in ([" ".join(tokens)], [one for one in tokens if one[0].isalnum() or one[0] == "_"]):
        try:
            return [ast.parse(text, mode="eval").body for text in texts if text]
        except (SyntaxError, RecursionError, MemoryError, ValueError):
            continue
    return []


def _values_of(pairs: Sequence[tuple[str, ast.expr]], given: Known) -> Known:
    """The values of names."""
    known = dict(given)
    for _ in range(PASSES):
        found = dict(given)
        for name, expression in pairs:
            found[name] = _least(found.get(name, WholeNumbers()) | _evaluate(expression, known))
        if found == known:
            break
        known = found
    return {name: values for name, values in known.items() if values}


def _evaluate(node: ast.AST, known: Known) -> WholeNumbers:
    """The values of an expression; none if it is no constant."""
    if isinstance(node, ast.Constant):
        return WholeNumbers({node.value} if type(node.value) is int and node.value <= LARGEST else ())
    if isinstance(node, ast.Name):
        return known.get(node.id, WholeNumbers())
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:  # tl.constexpr(64), int(1e3)
        return _evaluate(node.args[0], known)
    if not isinstance(node, ast.BinOp) or type(node.op) not in OPERATIONS:
        return WholeNumbers()
    left, right = _evaluate(node.left, known), _evaluate(node.right, known)
    found = (OPERATIONS[type(node.op)](one, other) for one, other in product(left, right))
    return _least(value for value in found if 0 <= value <= LARGEST)


def _least(values: Iterable[int]) -> WholeNumbers:
    return WholeNumbers(sorted(values)[:MOST_VALUES])


def _power(base: int, exponent: int) -> int:
    return base**exponent if base.bit_length() * exponent <= 2 * LARGEST.bit_length() else -1


OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda one, other: one + other,
    ast.Sub: lambda one, other: one - other,
    ast.Mult: lambda one, other: one * other,
    ast.FloorDiv: lambda one, other: one // other if other else -1,
    ast.Mod: lambda one, other: one % other if other else -1,
    ast.LShift: lambda one, other: one << other if other < LARGEST.bit_length() else -1,
    ast.RShift: lambda one, other: one >> other if other < LARGEST.bit_length() else -1,
    ast.Pow: _power,
}
"""What is computed with constants; -1 is no size."""
