"""The claims that `kfuzz claim` proposes for our correct kernels, compared with the authors' own.

    python -m benchmarks.claims measure proposals --jobs 16             all of them
    python -m benchmarks.claims try proposals softmax/online_block      some

The whole claim of each kernel is removed first. *Guessed*: kfuzz finds the arrays and the launch from the text alone,
given the op. *Kept*: it keeps the author's (several kernels in a file, or a parameter of its own) and finds only
[accuracy] and [values]. Each proposal is tried in 150 trials. A ratio is the proposed count over the author's, the
least and the largest of many sizes and launches up to 2^26; if one of the two counts each sum separately, the longest
sum's.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from benchmarks.measurement import Figures, Record
from kfuzz.claims.kernel import KERNELS, Kernel, discover, load
from kfuzz.claims.language.expression import Expression
from kfuzz.claims.language.formula_claims import ClaimedCounts
from kfuzz.claims.language.reading import Sizes
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.guess import guessed
from kfuzz.measure.roundings.keep import Proposal, proposed

TRIED, LARGEST = 2000, 1 << 26
CASES = 150
TWICE = 2.0
KEYS = ("adds", "rescales")


def measure(arguments: Sequence[str]) -> Figures:
    """Propose a claim for each kernel, and compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1, help="so many side by side")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args(arguments)
    names = asked.names or [kernel.name for kernel in discover() if kernel.broken is None]
    found: dict[str, Record] = {}
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(compare, name) for name in names]):
            found[done.result()["kernel"]] = done.result()
            print(done.result(), file=sys.stderr, flush=True)
    return Figures({"cases": CASES, "most": TWICE}, {"kernels": [found[name] for name in names]})


def compare(name: str) -> Record:
    """The author's claim and the proposed one; a ratio is None where one of them leaves the count out."""
    kernel = load(KERNELS / f"{name}.cu")
    without = without_claim(kernel)
    found = proposed(without or kernel, cases=CASES)
    return {
        "kernel": kernel.name, "launch": "guessed" if without else "kept",
        **{
            f"{whose}_{key}": text(count(one, key))
            for key in KEYS for whose, one in (("author", kernel), ("proposed", found.kernel))
        },
        **{f"ratios_{key}": ratios(kernel, found, key) for key in KEYS},
        "values": {k: value for k, value in vars(found.kernel.written.values).items() if value not in (None, False)},
        "trials": found.trials, "broken": list(found.broken),
    }  # fmt: skip


def without_claim(kernel: Kernel) -> Kernel | None:
    """The kernel with a claim that is guessed from its text; None if there is none."""
    text = re.sub(r"// /// kernel\n.*?\n// ///\n", "", kernel.source, flags=re.DOTALL)
    try:
        return guessed(kernel.path, text, kernel.op).kernel
    except ClaimError:
        return None


def count(kernel: Kernel, key: str) -> ClaimedCounts:
    return kernel.rounding.adds if key == "adds" else kernel.rounding.rescales


def text(counts: ClaimedCounts) -> str | dict[str, str]:
    """The text of one count, or of each sum's; empty if it is left out."""
    if isinstance(counts, Expression):
        return counts.text
    return {name: one.text for name, one in (counts or {}).items()}


def ratios(kernel: Kernel, found: Proposal, key: str) -> tuple[float, float] | None:
    """The least and the largest ratio of the two counts; 1 if both are 0."""
    author, other = count(kernel, key), count(found.kernel, key)
    if author is None or other is None:
        return None
    every = [(kernel.sizes(axes, tune), found.kernel.sizes(axes, tune)) for axes, tune in sizes(kernel)]
    pairs = [pair for ours, theirs in every for pair in count_words(author, ours, other, theirs)]
    each = [new / old if old else 1.0 + new for old, new in pairs]
    return min(each), max(each)


def count_words(
    author: Expression | Mapping[str, Expression],
    ours: Sizes,
    other: Expression | Mapping[str, Expression],
    theirs: Sizes,
) -> list[tuple[int, int]]:
    """Both counts at these sizes: sum by sum if both name the same sums, else of the longest sums."""
    if isinstance(author, Mapping) and isinstance(other, Mapping) and author.keys() == other.keys():
        return [(author[name](ours), other[name](theirs)) for name in author]
    return [(longest(author, ours), longest(other, theirs))]


def longest(counts: Expression | Mapping[str, Expression], at: Sizes) -> int:
    return max(one(at) for one in counts.values()) if isinstance(counts, Mapping) else counts(at)


def sizes(kernel: Kernel) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Sizes of all magnitudes, and any launch."""
    draw = random.Random(1)  # noqa: S311  drawn for coverage, nothing is kept secret
    for _ in range(TRIED):
        tune = {name: draw.choice(values) for name, values in kernel.tune.items()}
        axes = {}
        for name, axis in kernel.axes.items():
            size = int(min(axis.hi, LARGEST) ** draw.random())
            axes[name] = max(axis.lo, size // axis.multiple * axis.multiple)
        if not kernel.where.broken({**axes, **tune}):
            yield axes, tune
