"""Plain noise for kernels that promise bits: in hostile rows one term outweighs the others, and no order of sums shows.

Knows claims and recipes; it knows no runs.
"""

from kfuzz.cases.plans.choose import Choose, once_in
from kfuzz.cases.recipe import Band, Base, Recipe, bits_of
from kfuzz.claims.kernel import Kernel
from kfuzz.oracle.numbers.elements import F32

ONCE_IN = 2


def promises_bits(kernel: Kernel) -> bool:
    """Whether the claim says more of the bits of an answer than that they are near enough."""
    return kernel.claims.batch_invariant or bool(kernel.claims.deterministic)


def with_noise(kernel: Kernel, recipes: dict[str, Recipe], choose: Choose) -> dict[str, Recipe]:
    """The recipes; in one trial of ONCE_IN of such a kernel, the first input is normal noise, each row its own."""
    first = next(iter(kernel.roles.inputs))
    if not promises_bits(kernel) or first not in recipes or first in kernel.roles.integers:
        return recipes
    old = recipes[first]
    if not once_in(choose, ONCE_IN) or old.element != F32.name:
        return recipes
    base = Base("normal", bits_of(0.0), bits_of(1.0), choose(0, 0xFFFF))
    return {**recipes, first: Recipe(old.rows, old.cols, (Band(base),))}
