"""The functions of libraries: what was kept, what was broken, and how."""

from collections import Counter
from collections.abc import Mapping

from benchmarks.libraries import functions
from benchmarks.libraries.judge import claims_of
from benchmarks.libraries.judging import Claim, Result
from benchmarks.libraries.tables import page
from benchmarks.measurement import Measurement
from benchmarks.page import Blocks, Lines


def show(made: Measurement) -> Blocks:
    """The tables over the results."""
    device, versions = made["device"], made["versions"]
    results = results_of(made)
    yield from page(results, device, lambda one: versions.get(one.package, ""))
    yield from not_reached(results, device)
    yield from commits(made)
    yield from made.note()


def results_of(made: Measurement) -> dict[Claim, Result]:
    """The results of the claims that are still in the list."""
    rows = made.table("results")
    claims = {
        (one.library, one.key): one
        for library in dict.fromkeys(row["library"] for row in rows) for one in claims_of(library, made["device"])
    }  # fmt: skip
    results: dict[Claim, Result] = {}
    for row in rows:
        if claim := claims.get((row["library"], row["key"])):
            fields = {name: value for name, value in row.items() if name not in ("library", "key")}
            results[claim] = Result(**{**fields, "program": tuple(row["program"])})
    return results


def not_reached(results: Mapping[Claim, Result], device: str) -> Lines:
    """How many pairs of the list have no result."""
    every = (one for library in functions.libraries() for one in claims_of(library, device))
    if left := Counter(one.package for one in every if one not in results):
        words = ", ".join(f"{count} of {package}" for package, count in left.most_common())
        yield from (f"{left.total()} more pairs of the list have no result: {words}.", "")


def commits(made: Measurement) -> Lines:
    """With which kfuzz the results were made, if not all with that of the page."""
    counts = made.figures.numbers.get("commits", {})
    if set(counts) - {made.commit}:
        words = ", ".join(f"{count} at {commit or 'an unknown commit'}" for commit, count in counts.items())
        yield from (f"kfuzz's commit when the pairs were judged: {words}.", "")
