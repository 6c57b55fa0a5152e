"""What `make quick` runs is told to be quick or not: every run adds up what those of the tests cost that are in it.

Counted in seconds of processor time, of the tests and of the processes that they start: that depends little on what
else the machine is doing. It does depend on the machine, so a run is told and never failed by it.
"""

import os
import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

LEFT_OUT = ("slow", "soak", "gpu")
"""The markers that keep a test out of `make quick`."""
MOST = 95.0
"""What the tests may take of a minute of two cores; to find them, and to start, takes the rest."""
KEY = "quick"


class Node(Protocol):
    """A process of pytest-xdist that has ended, with what it handed over. One that was killed has no such attribute."""

    workeroutput: dict[str, dict[str, float]]


def processor_time() -> float:
    """Seconds of this process, of all that it has waited for, and of those that are still at work for it."""
    every = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in every) + sum(map(time_of, children()))


def children() -> list[int]:
    """The processes that this one has started and not yet waited for; none where there is no /proc."""
    lists = Path("/proc/self/task").glob("*/children")
    return [number for each in lists for number in numbers_in(each)]


def numbers_in(path: Path) -> list[int]:
    """The numbers in a file; none if it is gone, as that of a thread that has ended."""
    try:
        return list(map(int, path.read_text().split()))
    except (FileNotFoundError, ProcessLookupError):
        return []


def time_of(number: int) -> float:
    """Seconds of a process and of all that it has waited for; none of one that is gone."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def summary(spent: Counter[str], most: float) -> str:
    """What the quick tests took together, and which of them took most where it is too much."""
    total = sum(spent.values())
    line = f"make quick runs {len(spent)} of these tests: {total:.0f} s of processor time"
    if total <= most:
        return line
    worst = "".join(f"\n  {seconds:5.1f} s  {name}" for name, seconds in spent.most_common(10))
    return f"{line}, more than {most:g}; make these quicker, or mark them slow:{worst}"


class Quick:
    """Adds up the time of the tests without a marker that leaves them out, and tells it in the end."""

    def __init__(self, most: float = MOST) -> None:
        self.most, self.spent = most, Counter[str]()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = processor_time()
        done = yield
        if not any(item.get_closest_marker(name) for name in LEFT_OUT):
            self.spent[item.nodeid] += processor_time() - before
        return done

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Node) -> None:
        """A process of several hands over what it has counted, unless it was killed: xdist starts another one."""
        self.spent.update(getattr(node, "workeroutput", {}).get(KEY, {}))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (handed_over := getattr(session.config, "workeroutput", None)) is not None:
            handed_over[KEY] = dict(self.spent)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.spent:
            terminalreporter.write_line(summary(self.spent, self.most))
