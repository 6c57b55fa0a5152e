"""The shape that a function was written for, or a smaller one like it where that is too large for a trial.

A benchmark's sizes take gigabytes. Each size is halved, so the smaller shape has its tiles and vectors, and rows first,
since they mostly do not depend on each other. Knows kernels and sizes; it knows no inputs.
"""

import ast
import re
from collections.abc import Iterator, Sequence

from kfuzz.claims.front_matter import is_python_file
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.python_text import OF_A_BENCHMARK
from kfuzz.search.counting import elements

MOST_AT_HOME = 1 << 19
"""Elements of a trial at home, inputs and outputs together: the oracle takes 2 seconds for those of the dearest ops."""
WHOLE_TILES = 32
"""The first halvings leave as many, the usual width of a tile."""
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def home_of(kernel: Kernel) -> dict[str, int]:
    """The shape to try again and again; nothing if the claim has none."""
    best = dict(kernel.home)
    tune = next(kernel.tunes(best), {}) if best else {}
    if not best or elements(kernel, best, tune) <= MOST_AT_HOME:
        return best
    for axes in halvings(best):
        if kernel.admits(axes):
            best = axes
        if elements(kernel, best, next(kernel.tunes(best), {})) <= MOST_AT_HOME:
            break
    return best


def halvings(axes: dict[str, int]) -> Iterator[dict[str, int]]:
    """Smaller and smaller shapes: the first size down to whole tiles, then the others, largest first; then below."""
    first = next(iter(axes))
    for least in (WHOLE_TILES, 1):
        for names in ([first], [name for name in axes if name != first]):
            while wide := [name for name in names if axes[name] >= 2 * least]:
                name = max(wide, key=axes.__getitem__)
                axes = {**axes, name: axes[name] // 2}
                yield axes


def names_its_home(kernel: Kernel) -> bool:
    """Whether the code of a kernel contains a size of its home that no trial has."""
    tried = home_of(kernel)
    sizes = {size for name, size in kernel.home.items() if size != tried[name]}
    if not sizes:
        return False
    source = kernel.front.source
    texts, numbers = [source], set[int]()
    if is_python_file(kernel.front.path):
        texts, numbers = constants_in(ast.parse(source))
    numbers |= {int(one) for text in texts for one in NUMBER.findall(COMMENT.sub("", text))}
    return not sizes.isdisjoint(numbers)


def constants_in(tree: ast.Module) -> tuple[list[str], set[int]]:
    """The strings and the whole numbers of a Python file, without those that only a benchmark's inputs are made of."""
    left = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name in OF_A_BENCHMARK)]
    while unread := [node for node in left if isinstance(node, ast.Assign) and not is_read(node, left)]:
        left = [node for node in left if node not in unread]
    inside = [one for node in left for one in ast.walk(node)]
    docs = {id(one.value) for one in inside if isinstance(one, ast.Expr)}
    found = [one.value for one in inside if isinstance(one, ast.Constant) and id(one) not in docs]
    return [one for one in found if isinstance(one, str)], {one for one in found if type(one) is int}


def is_read(made: ast.Assign, nodes: Sequence[ast.stmt]) -> bool:
    """Whether one of these statements reads a name that an assignment makes."""
    names = {one.id for target in made.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return any(name in names for node in nodes if node is not made for name in reads_in(node, frozenset()))


def reads_in(node: ast.AST, own: frozenset[str]) -> Iterator[str]:
    """The names of the file that a part of it reads: a function's parameters are its own."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        own |= {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
        yield node.id
    for part in ast.iter_child_nodes(node):
        yield from reads_in(part, own)
