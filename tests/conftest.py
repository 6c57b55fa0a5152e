"""What holds for all tests: those marked gpu are skipped where there is no GPU, and time decides nothing."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from zlib import crc32

import hypothesis
import pytest
from installed import Machine
from installed import machine as machine_below
from quick import Quick
from seldom import COMPILED_BY_OTHERS, FAST, ONE_CASE_IN, is_seldom

from kfuzz.claims.kernel import name_of
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import why_not
from kfuzz.ui.pytest.items import CaseItem, ClaimItem

OFTEN = ("reduce", "sgemm", "softmax", "transpose")
"""The folders whose kernels are all compiled in each run."""
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
    leave_copies_to_soak([item for item in items if isinstance(item, ClaimItem)])
    leave_most_cases_to_soak(items)
    if hasattr(config, "workerinput"):
        put_dear_files_first(items)
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and (reason := why_not()):
        for item in wanting:
            item.add_marker(pytest.mark.skip(reason=reason))


def put_dear_files_first(items: list[pytest.Item]) -> None:
    """Sort files by what their slow tests take: a dear file that starts last keeps one processor at work alone."""
    seconds = Counter[Path]()
    for item in items:
        if slow := item.get_closest_marker("slow"):
            seconds[item.path] += slow.args[0] if slow.args else 1
    items.sort(key=lambda item: -seconds[item.path])


def mark_slow_replays(items: list[CaseItem]) -> None:
    """Of each kept case one replay is in every run, and the others are soak.

    It is slow where the case is large, or the kernel seldom tried. It is on no kernel whose methods another one has,
    if the case has others: to compile the ten of these takes 15 s.
    """
    for path, same in groupby(items, key=lambda item: item.path):
        replays = list(same)
        apart = [item for item in replays if item.kernel.name not in FAST] or replays
        number = crc32(path.name.encode())  # so that every kernel has some
        chosen = apart[number % len(apart)]
        for item in replays:
            is_large = item.record.case.elements > LARGE or is_seldom(item.kernel)
            if item is not chosen:
                item.add_marker(pytest.mark.soak)
            elif is_large:
                item.add_marker(pytest.mark.slow)


def leave_copies_to_soak(items: list[ClaimItem]) -> None:
    """Compile one exhibit in eight, since each is an edit of a kernel that is compiled, and every second of the kernels
    outside of the folders that are OFTEN tried. And none of COMPILED_BY_OTHERS.
    """
    for item in items:
        name, number = name_of(item.path), crc32(item.path.name.encode())
        of_how_many = 8 if item.path.parent.name == "broken" else 1 if item.path.parent.name in OFTEN else 2
        if number % of_how_many or name in COMPILED_BY_OTHERS:
            item.add_marker(pytest.mark.soak)


def leave_most_cases_to_soak(items: list[pytest.Item]) -> None:
    """Of the tests in ONE_CASE_IN try one case in so many, and the first in any case."""
    seen = Counter[str]()
    for item in items:
        name = item.nodeid.partition("[")[0].removeprefix("tests/")
        if (count := ONE_CASE_IN.get(name)) and not item.get_closest_marker("soak"):
            if seen[name] % count:
                item.add_marker(pytest.mark.soak)
            seen[name] += 1


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Somebody else's machine, set up once for all workers of xdist; each has a folder of its own."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return machine_below(base / "machine", tmp_path_factory.mktemp("empty"))


@pytest.fixture(scope="session")
def cpu_device() -> Iterator[CpuDevice]:
    """The cpu device: one for all tests of a process, since it takes 0.3 s to start its worker."""
    with CpuDevice() as one:
        yield one


@pytest.fixture(scope="session")
def device(cpu_device: CpuDevice) -> CpuDevice:
    return cpu_device


@pytest.fixture(scope="session")
def cpu(cpu_device: CpuDevice) -> CpuDevice:
    """The cpu device, where there are others beside it."""
    return cpu_device
