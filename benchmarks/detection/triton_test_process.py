"""Runs a test of a repository as if there were a GPU, and says what each launch of one kernel came to.

    python -m benchmarks.detection.triton_test_process TEST_FILE TEST KERNEL ANSWER     in the repository

The test runs as it is, with torch's tensors on the CPU and each launch under the checker; of its cases the two smallest
by the integers in their parameters. any_triton.py starts it, a process a test. Knows torch, Triton and pytest.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import pytest
import torch

from kfuzz.devices import Finding, Probe
from kfuzz.devices.memory.layout import POISONS
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.torch.without_gpu import as_on_gpu
from kfuzz.devices.python.triton import driver

NEEDS = re.compile(r"No module named|cannot import|not installed|Skipped")
CASES, CALL_SECONDS = 2, 120.0


class SeenLaunches:
    """The launches of one kernel, with the findings of each and what refused one."""

    def __init__(self, kernel: str) -> None:
        self.kernel, self.count, self.others = kernel, 0, 0
        self.findings: list[Finding] = []
        self.refusals: list[str] = []

    def watch(self, launch: Callable[..., None]) -> Callable[..., None]:
        """The function that launches, watched."""

        def watched(compiled: Any, *given: Any) -> None:  # noqa: ANN401  what Triton launches
            if compiled.name != self.kernel:
                self.others += 1
                launch(compiled, *given)
                return
            self.count += 1
            before = len(CALLS.findings)
            try:
                launch(compiled, *given)
            except Exception as error:  # Triton's or ours: noted, and then the test's own matter
                if len(CALLS.findings) == before:
                    self.refusals.append(f"{type(error).__name__}: {error}"[:300])
                raise
            finally:
                self.findings += CALLS.findings[before:]

        return watched


class SmallestCases:
    """A plugin of pytest: keeps the smallest cases, and what came of them."""

    def __init__(self) -> None:
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.why: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=_size_of)
        del items[CASES:]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.skipped += 1
        elif report.failed:
            self.failed += 1
        elif report.when == "call":
            self.passed += 1
        if not report.passed:
            self.why.append(_last_line(report.longrepr))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.why.append(_last_line(report.longrepr))


def _size_of(item: pytest.Item) -> int:
    """The product of the integers in a case's parameters."""
    call = getattr(item, "callspec", None)
    return prod(max(1, abs(one)) for one in _integers(list(call.params.values()))) if call else 1


def _integers(values: Sequence[object]) -> Iterator[int]:
    for one in values:
        if isinstance(one, list | tuple):
            yield from _integers(one)
        elif isinstance(one, int) and not isinstance(one, bool):
            yield one


def _last_line(said: object) -> str:
    lines = [line for line in str(said).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E ")]
    return (errors or lines or [""])[-1][:300]


def main(file: str, test: str, kernel: str, answer: str) -> None:
    """Run the test, and leave what was seen."""
    torch.set_num_threads(1)
    driver.install()
    seen, cases = SeenLaunches(kernel), SmallestCases()
    driver.launch = seen.watch(driver.launch)
    CALLS.file = Path(file).resolve()
    words = [f"{file}::{test}", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    with CALLS.watch(Probe(timeout=CALL_SECONDS), POISONS[0], 0), as_on_gpu(CALLS.file):
        pytest.main(words, plugins=[cases])
    Path(answer).write_text(json.dumps(outcome(seen, cases)), encoding="utf-8")


def outcome(seen: SeenLaunches, cases: SmallestCases) -> dict[str, object]:
    """What came of the kernel, of its findings each kind and line once, and of the test."""
    found = dict.fromkeys(
        f"{one.severity}: {one.kind} {Path(one.file).name}:{one.line} {one.message[:200]}" for one in seen.findings
    )
    is_run = seen.count > len(seen.refusals)
    lacks = any(NEEDS.search(why) for why in cases.why) or cases.skipped
    name = "refused" if seen.refusals else "run" if is_run else "needs" if lacks else "not reached"
    if not seen.count and any(one in why for why in cases.why for one in ("only a GPU", "cpu device", "without a GPU")):
        name = "refused"
    return {
        "outcome": name, "why": (seen.refusals or cases.why or [""])[0], "launches": seen.count,
        "findings": list(found),
        "passed": cases.passed, "failed": cases.failed, "skipped": cases.skipped,
    }  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
