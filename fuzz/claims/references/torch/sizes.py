"""The sizes at which a reference is traced, and those at which its formula is compared with it.

Knows dimensions alone: no torch, and no formula.
"""

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
"""Sizes for a run, which sees numbers alone; a trace that has symbols takes few as they are."""
MOST_WEIGHTS = 1 << 24
"""Numbers that a reference keeps. Judging takes 49 bytes for each of them (67 million took 3.3 GB), in each process."""
MANY_SIZES = 3
MOST_ORDERS = 5000
"""So many orders of sizes are tried until they obey the rules."""
Steps = Mapping[str, tuple[int, int]]
"""For each dimension its least size, and a number that divides every size."""


def length_of(dimension: str, sizes: Mapping[str, int]) -> int:
    """The length of a dimension: a number, a size, or an expression over sizes."""
    if dimension.isdigit():
        return int(dimension)
    return sizes[dimension] if dimension in sizes else int(evaluate(dimension, sizes))


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


def sizes_to_compare(
    sizes: Mapping[str, int], steps: Steps, fixed: Mapping[str, int], inputs: Dims
) -> list[dict[str, int]]:
    """Sizes at which kfuzz compares the formula with the reference: those of the trace, larger ones, and the least.

    If fixed sizes make these too large to be judged, they are the least and the next.
    """
    more = 6 if len(sizes.keys() - fixed.keys()) < MANY_SIZES else 1  # a volume of 20 places each way is large
    larger = {name: size + more * steps[name][1] for name, size in sizes.items()}
    least = {name: max(least, multiple) for name, (least, multiple) in steps.items()}
    second = {name: size + steps[name][1] for name, size in least.items()}
    every = [dict(sizes), {**larger, **fixed}, {**least, **fixed}]
    few = [{**least, **fixed}, {**second, **fixed}]
    fitting = [one for one in every if elements_of(inputs, one) <= MOST_WEIGHTS]
    return every if fitting == every else [one for one in few if elements_of(inputs, one) <= MOST_WEIGHTS] or few[:1]


def elements_of(inputs: Dims, sizes: Mapping[str, int]) -> int:
    """The elements of all inputs at these sizes."""
    return sum(prod(length_of(d, sizes) for d in dims) for dims in inputs.values())
