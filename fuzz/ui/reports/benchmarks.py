"""What the own test of a benchmark says of a submission, as a document has it and as people read it.

Knows documents; it does not know how the test is asked.
"""

from collections.abc import Iterator
from dataclasses import asdict
from typing import cast

from kfuzz.campaign.benchmark_tests import BenchmarkTest
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.document import BenchmarkEntry


def benchmark_entry(test: BenchmarkTest | None) -> BenchmarkEntry | None:
    """The answer of the test as part of a document."""
    return None if test is None else cast(BenchmarkEntry, asdict(test))


def benchmark_texts(name: str, found: BenchmarkEntry | None) -> Iterator[str]:
    """The line of one kernel; none if its reference is no problem of a benchmark."""
    if found is None:
        return
    test, trials = f"{name}: {found['benchmark']}'s own test, at the problem's sizes,", plural(found["trials"], "trial")
    if not found["trials"]:
        yield f"{name}: {found['benchmark']}'s own test was not asked: {found['why']}"
    elif found["passed"] == found["trials"]:
        yield f"{test} accepts it in {trials}"
    else:
        yield f"{test} rejects it in {found['trials'] - found['passed']} of {trials}: {found['why']}"
