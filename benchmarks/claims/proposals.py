"""The claims that `kfuzz claim` proposes for our correct kernels, compared with the authors' own: a Markdown table.

    python -m benchmarks.claims.proposals --jobs 16                  all of them
    python -m benchmarks.claims.proposals softmax/online_block                 some

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
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from kfuzz.claiming.guess import guessed
from kfuzz.claiming.keep import Proposal, proposed
from kfuzz.claims.expression import Expression
from kfuzz.claims.formula_claims import ClaimedCounts
from kfuzz.claims.kernel import KERNELS, Kernel, discover, load
from kfuzz.claims.reading import Sizes
from kfuzz.devices import ClaimError

TRIED, LARGEST = 2000, 1 << 26
CASES = 150
TWICE = 2.0


def main() -> int:
    """Print the table; return 1 if a proposal is broken, or has a count of more than twice the author's."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1, help="so many side by side")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    names = asked.names or [kernel.name for kernel in discover() if kernel.broken is None]
    print(f"# Claims that are proposed, and those that were written\n\n{__doc__}")
    print(
        "| kernel | launch | adds: author | proposed | ratio | rescales: author | proposed | ratio | values | kept in |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    found: dict[str, tuple[str, bool]] = {}
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(compared, name) for name in names]):
            name, line, is_kept, seconds = done.result()
            found[name] = line, is_kept
            print(f"{seconds:.0f} s: {line}", file=sys.stderr, flush=True)
    for name in names:
        print(found[name][0])
    kept = sum(is_kept for _, is_kept in found.values())
    print(f"\n{kept} of {len(names)} kept, with counts no more than twice the author's.")
    return 0 if kept == len(names) else 1


def compared(name: str) -> tuple[str, str, bool, float]:
    """A line of the table; whether the proposal is kept, with counts of at most twice the author's; and its time."""
    began = time.monotonic()
    kernel = load(KERNELS / f"{name}.cu")
    without = without_claim(kernel)
    found = proposed(without or kernel, cases=CASES)
    is_close = all(ratios(kernel, found, key)[1] <= TWICE for key in ("adds", "rescales"))
    line = row(kernel, found, "guessed" if without else "kept")
    return name, line, is_close and not found.broken, time.monotonic() - began


def without_claim(kernel: Kernel) -> Kernel | None:
    """The kernel with a claim that is guessed from its text; None if there is none."""
    text = re.sub(r"// /// kernel\n.*?\n// ///\n", "", kernel.source, flags=re.DOTALL)
    try:
        return guessed(kernel.path, text, kernel.op)
    except ClaimError:
        return None


def row(kernel: Kernel, found: Proposal, launch: str) -> str:
    cells = [f"`{kernel.name}`", launch]
    for key in ("adds", "rescales"):
        least, most = ratios(kernel, found, key)
        ratio = "-" if count(kernel, key) is None or count(found.kernel, key) is None else f"{least:.2f} .. {most:.2f}"
        cells += [text(count(kernel, key)), text(count(found.kernel, key)), ratio]
    values = vars(found.kernel.written.values)
    cells.append(", ".join(f"{key} = {value}" for key, value in values.items() if value not in (None, False)))
    cells.append(f"{found.trials} trials" if not found.broken else "; ".join(found.broken))
    return "| " + " | ".join(cells) + " |"


def count(kernel: Kernel, key: str) -> ClaimedCounts:
    return kernel.rounding.adds if key == "adds" else kernel.rounding.rescales


def text(counts: ClaimedCounts) -> str:
    if isinstance(counts, Expression):
        return f"`{counts.text}`"
    return ", ".join(f"{name} `{one.text}`" for name, one in counts.items()) if counts else "left out"


def ratios(kernel: Kernel, found: Proposal, key: str) -> tuple[float, float]:
    """The least and the largest ratio of the two counts; 1 if both are 0."""
    author, other = count(kernel, key), count(found.kernel, key)
    if author is None or other is None:
        return 1.0, 1.0
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


if __name__ == "__main__":
    sys.exit(main())
