"""The shape that a function was written for, or a smaller one like it where that is too large for a trial.

A benchmark's sizes take gigabytes. Each size is halved, so the smaller shape has its tiles and vectors, and rows first,
since they mostly do not depend on each other. Knows kernels and sizes; it knows no inputs.
"""

import re
from collections.abc import Iterator
from itertools import combinations

from kfuzz.cases.plans.counting import elements, work
from kfuzz.claims.kernel import Kernel
from kfuzz.devices.python.init_values import names_of_sizes

MOST_AT_HOME = 1 << 19
"""Elements of a trial at home, inputs and outputs together: the oracle takes 2 seconds for those of the dearest ops."""
MOST_WORK, MOST_OF_ONE = 1 << 26, 1 << 23
"""Of the sets of such a trial, and of the balls that certify that one element is wrong: 1 s and 5 s."""
TO_BE_WHOLE = 4
"""So many times as much work a shape may take that has no size of 1, if none with less has."""
WHOLE_TILES = 32
"""The first halvings leave as many, the usual width of a tile."""
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def home_of(kernel: Kernel, part: int = 1) -> dict[str, int]:
    """The shape to try again and again; nothing if the claim has none. `part`: it takes so little of the usual work."""
    best = dict(kernel.home)
    if not best or (_is_small(kernel, best, part) and _is_quick(kernel, best, 1, part)):
        return best
    free = {name: size for name, size in best.items() if name not in sizes_of_object(kernel)}
    halved = ({**best, **axes} for axes in halvings(free)) if free else ()
    smaller = [best, *(axes for axes in halved if kernel.admits(axes))]
    few = next((place for place, axes in enumerate(smaller) if _is_small(kernel, axes, part)), len(smaller) - 1)
    whole = [axes for axes in smaller[few:] if all(axes[name] > 1 or size == 1 for name, size in best.items())]
    if not whole or not _is_quick(kernel, whole[-1], TO_BE_WHOLE, part):
        whole = smaller[few:]
    found = whole.pop()
    for axes in reversed(whole):  # from the smallest, since counting takes as long as it counts
        if not _is_quick(kernel, axes, 1, part):
            break
        found = axes
    return found


def sizes_of_object(kernel: Kernel) -> frozenset[str]:
    """The sizes with which the object that is called is made: an answer may rely on them, as on those of its weights.

    A linear layer of 8192 x 8192 may be written for just that, and is at home nowhere else.
    """
    called = (launch.called for launch in kernel.launches)
    return frozenset(name for one in called if one is not None for name in names_of_sizes(one.init or ()))


def _is_small(kernel: Kernel, axes: dict[str, int], part: int) -> bool:
    return elements(kernel, axes, next(kernel.tunes(axes), {})) <= MOST_AT_HOME // part


def _is_quick(kernel: Kernel, axes: dict[str, int], times: int, part: int) -> bool:
    most, of_one = (times * each // part for each in (MOST_WORK, MOST_OF_ONE))
    return work(kernel, axes) <= most and work(kernel, axes, of_one=True) <= of_one


def halvings(home: dict[str, int]) -> Iterator[dict[str, int]]:
    """Smaller and smaller shapes: the first size down to whole tiles, then the others, evenly; then below.

    As long as it can be, no size becomes 1 and no two sizes equal that differ at home: a kernel that confuses two sizes
    is right where they are equal, and one that forgets a dimension is right where that is 1.
    """
    axes, first = home, next(iter(home))
    unlike = [(one, other) for one, other in combinations(home, 2) if home[one] != home[other]]
    ranks = {size: rank for rank, size in enumerate(sorted({*home.values()}))}
    for least, apart in ((WHOLE_TILES, True), (2, True), (1, False)):
        floors = {name: least << ranks[size] if apart else least for name, size in home.items()}
        for names in ([first], [name for name in axes if name != first]):
            while wide := {name: axes[name] // floors[name] for name in names if axes[name] >= 2 * floors[name]}:
                name = max(wide, key=wide.__getitem__)
                axes = {**axes, name: axes[name] // 2}
                if not apart or not any(axes[one] == axes[other] for one, other in unlike):
                    yield axes


def text_for_tried_home(kernel: Kernel) -> str:
    """The text of a kernel's file with the sizes of `home_of` wherever a size of its home stands."""
    tried = home_of(kernel)
    there = {str(size): str(tried[name]) for name, size in kernel.home.items() if size != tried[name]}
    return NUMBER.sub(lambda found: there.get(found[0], found[0]), kernel.front.source)


def names_its_home(kernel: Kernel) -> bool:
    """Whether the code of a kernel contains a size of its home that no trial has."""
    tried = home_of(kernel)
    sizes = {size for name, size in kernel.home.items() if size != tried[name]}
    if not sizes:
        return False
    text = kernel.written.text
    texts, numbers = kernel.front.language.constants(kernel.front.source, text.helpers if text else ())
    numbers |= {int(one) for text in texts for one in NUMBER.findall(COMMENT.sub("", text))}
    return not sizes.isdisjoint(numbers)
