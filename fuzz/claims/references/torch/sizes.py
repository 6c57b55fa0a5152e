"""The sizes at which a reference is run to describe it.

Knows dimensions alone: no torch.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, permutations
from math import prod

from kfuzz.oracle.op.shapes import evaluate, names_in

Dims = dict[str, list[str]]
"""The dimensions of each input."""
Below = dict[str, str]
"""For each input of integers, the dimension or the number that they are below, that they are truths, or a structure as
an op's file writes it; if it is not known, nothing."""
BOOLEAN = "bool"
PRIMES = [n for n in range(5, 2000) if all(n % by for by in range(2, n))]
FEW = [2, 3, *PRIMES]
"""Sizes for a run."""
MOST_WEIGHTS = 1 << 24
"""Numbers of weights that a reference may have in several sets, of which kfuzz draws all but the first."""
MOST_ORDERS = 5000
"""So many orders of sizes are tried until they obey the rules."""
SizesOfRun = Mapping[str, int]
Steps = Mapping[str, tuple[int, int]]
"""For each dimension its least size, and a number that divides every size."""


def length_of(dimension: str, sizes: Mapping[str, int]) -> int:
    """The length of a dimension: a number, a size, or an expression over sizes."""
    if dimension.isdigit():
        return int(dimension)
    return sizes[dimension] if dimension in sizes else int(evaluate(dimension, sizes))


def with_fixed_sizes(dimension: str, fixed: Mapping[str, int]) -> str:
    """A dimension in which the sizes that are fixed are numbers: of `D // 2`, too."""
    text = re.sub(r"[A-Za-z_]\w*", lambda name: str(fixed.get(name[0], name[0])), dimension)
    return text if names_in(text) or text.isdigit() else str(evaluate(text, {}))


class _Fixed(ast.NodeTransformer):
    def __init__(self, fixed: Mapping[str, int]) -> None:
        self.fixed = fixed

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.fixed[node.id]) if node.id in self.fixed else node


def with_fixed_names(argument: str, fixed: Mapping[str, int]) -> str:
    """The text of an argument in which the sizes that are fixed are numbers."""
    name, _, text = argument.partition("=") if re.match(r"\w+=(?!=)", argument) else ("", "", argument)
    tree = ast.parse(text.strip(), mode="eval")
    if not any(isinstance(one, ast.Name) and one.id in fixed for one in ast.walk(tree)):
        return argument
    return f"{name}={ast.unparse(_Fixed(fixed).visit(tree))}" if name else ast.unparse(_Fixed(fixed).visit(tree))


def sizes_in(inputs: Dims) -> dict[str, None]:
    """The names of all sizes, in their order."""
    return dict.fromkeys(name for dims in inputs.values() for one in dims for name in sorted(names_in(one)))


def prime_sizes(
    steps: Steps, fixed: Mapping[str, int], numbers: set[int], rules: Iterable[str] = (), primes: Sequence[int] = PRIMES
) -> dict[str, int]:
    """A different size for each dimension: torch makes one symbol for each distinct size. They obey the rules."""
    known = [rule for rule in rules if names_in(rule) <= {*steps, *fixed}]
    for order in islice(permutations(steps), MOST_ORDERS) if known else [tuple(steps)]:
        found = primes_in_order({name: steps[name] for name in order}, fixed, numbers, primes)
        if all(evaluate(rule, {**fixed, **found}) for rule in known):
            return {name: found[name] for name in steps}
    return primes_in_order(steps, fixed, numbers, primes)


def primes_in_order(
    steps: Steps, fixed: Mapping[str, int], numbers: set[int], primes: Sequence[int] = PRIMES
) -> dict[str, int]:
    """The first of the dimensions has the least prime."""
    found, taken = dict(fixed), numbers | set(fixed.values())
    for name, (least, multiple) in steps.items():
        sizes = (prime * multiple for prime in primes if prime * multiple >= least)
        found.setdefault(name, next((size for size in sizes if size not in taken), least))
        taken.add(found[name])
    return {name: found[name] for name in steps}


def elements_of(inputs: Dims, sizes: Mapping[str, int]) -> int:
    """The elements of all inputs at these sizes."""
    return sum(prod(length_of(d, sizes) for d in dims) for dims in inputs.values())
