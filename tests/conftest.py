"""What holds for all tests: those marked gpu are skipped where there is no card, and time decides nothing."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from zlib import crc32

import hypothesis
import pytest
from installed import Machine
from installed import machine as machine_below
from quick import Quick
from seldom import FAST, is_seldom

from kfuzz.gpu.device import why_not
from kfuzz.pytest_items import CaseItem

LARGE = 1 << 14
"""Elements of a kept case whose replay takes a second."""

# A shell tells its background jobs to ignore Ctrl-C, and what they start inherits that. Tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # by nohup, which must go on to hold for the tests themselves
    signal.signal(signal.SIGHUP, lambda *_: None)


# How fast this machine is, and what else it does, is nothing that a test of ours is about.
hypothesis.settings.register_profile(
    "any speed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any speed")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Quick())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage, of which there is none, and never look through the items for it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_slow_replays([item for item in items if isinstance(item, CaseItem)])
    if hasattr(config, "workerinput"):
        put_dear_files_first(items)
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and (reason := why_not()):
        for item in wanting:
            item.add_marker(pytest.mark.skip(reason=reason))


def put_dear_files_first(items: list[pytest.Item]) -> None:
    """Sort files by their number of slow tests: a dear file that starts last keeps one processor at work alone."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


def mark_slow_replays(items: list[CaseItem]) -> None:
    """Of each kept case all replays but one are slow.

    Where the case is large, or the kernel seldom tried, that one is, and the others are soak. It is on no kernel whose
    methods another one has, if the case has others: to compile the ten of these takes 15 s.
    """
    for path, same in groupby(items, key=lambda item: item.path):
        replays = list(same)
        apart = [item for item in replays if item.kernel.name not in FAST] or replays
        quick = apart[crc32(path.name.encode()) % len(apart)]  # so that every kernel has some
        for item in replays:
            is_large = item.record.case.elements > LARGE or is_seldom(item.kernel)
            if item is not quick or is_large:
                item.add_marker(pytest.mark.soak if item is not quick and is_large else pytest.mark.slow)


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Somebody else's machine, set up once for all workers of xdist; each has a folder of its own."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return machine_below(base / "machine", tmp_path_factory.mktemp("empty"))
