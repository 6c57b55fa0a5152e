"""What pytest runs: a kept case on one kernel, or a campaign of one kernel.

Knows pytest's items and how to report a failure of ours; imported only where there is something to run.
"""

import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from kfuzz.campaign import last_run
from kfuzz.campaign.campaign import Options, run_campaign
from kfuzz.cases import case_file
from kfuzz.cases.case import CaseError, Record
from kfuzz.claims.kernel import Kernel, load
from kfuzz.commands.options import duration
from kfuzz.devices import ClaimError, Device, DeviceError
from kfuzz.devices.gpu import driver
from kfuzz.find.device import device_named, open_device
from kfuzz.find.project import has_claim, kernels_below, kernels_for, namesakes
from kfuzz.trials.replay import replay
from kfuzz.trials.trial import unfit
from kfuzz.views.failure import replay_texts
from kfuzz.views.report import Report
from kfuzz.views.summary import failures

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr, TracebackStyle

DEVICE = pytest.StashKey[Device]()
KERNELS = pytest.StashKey[tuple[Kernel, ...]]()
SEED = pytest.StashKey[int]()
NAME = pytest.StashKey[str]()


class BrokenError(Exception):
    """A kernel is broken; the message is what a person reads."""


class Item(pytest.Item):
    """An item whose failures are told in our own words, without a traceback: pytest's own hook is a method."""

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: "TracebackStyle | None" = None
    ) -> "str | TerminalRepr":
        """The message of our own errors; a traceback is for all others."""
        if isinstance(excinfo.value, BrokenError | CaseError | ClaimError | DeviceError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class CaseFile(pytest.File):
    """A case file: one item for each kernel whose claim admits it."""

    def collect(self) -> Iterator[pytest.Item]:
        """Read the file; what is wrong with it, or with a kernel, is one error."""
        try:
            record = case_file.read(self.path)
            kernels = kernels_for(record, project_kernels(self.config))
        except (CaseError, ClaimError) as error:
            raise self.CollectError(str(error)) from None
        reasons = {kernel.name: unfit(kernel, record.case) for kernel in kernels}
        for kernel in kernels:
            if not reasons[kernel.name]:
                yield CaseItem.from_parent(self, name=kernel.name, kernel=kernel, record=record)
        if all(reasons.values()):
            why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
            yield NobodysItem.from_parent(self, name="no kernel", why=why or f"no kernel here is for {record.case.op}")


class CaseItem(Item):
    """A case on a kernel."""

    def __init__(self, *, kernel: Kernel, record: Record, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # name and parent
        self.kernel, self.record = kernel, record

    def runtest(self) -> None:
        """Run the case again."""
        found = replay(self.record, self.kernel, device_of(self.config))
        if found.status not in ("broken", "flaky"):
            return
        raise BrokenError("\n\n".join(replay_texts(found, self.record, self.path)))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name} on {self.kernel.name}"


class NobodysItem(Item):
    """A case that no kernel here claims: skipped, so that it is seen."""

    def __init__(self, *, why: str, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # name and parent
        self.why = why

    def runtest(self) -> None:
        pytest.skip(self.why)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name}: no kernel"


class KernelFile(pytest.File):
    """A kernel file that is to be fuzzed."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item, unless the kernel is broken on purpose."""
        try:
            kernel = load(self.path)
        except ClaimError as error:
            raise self.CollectError(str(error)) from None
        if kernel.broken is None:
            yield FuzzItem.from_parent(self, name="fuzz", kernel=kernel)


class FuzzItem(Item):
    """A campaign of one kernel."""

    def __init__(self, *, kernel: Kernel, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # name and parent
        self.kernel = kernel

    def runtest(self) -> None:
        """Fuzz for this kernel's share of the time, or for its number of cases."""
        cases = self.config.getoption("--kfuzz-cases")
        seconds = None if cases else share_of_time(self.session)
        device = visible_device(self.config)
        folder = self.config.rootpath / str(self.config.getini("kfuzz_corpus"))
        options = Options(seed=seed_of(self.config), max_cases=cases, max_time=seconds, corpus=folder)
        started = datetime.now(UTC)
        result = run_campaign([self.kernel], partial(open_device, device), options)
        last_run.note(result, device)
        if result.stop_reason == "interrupted":
            raise KeyboardInterrupt
        progress = result.kernels[0].progress
        self.user_properties += [("kfuzz_trials", progress.trials), ("kfuzz_seed", options.seed)]
        if result.news:
            raise BrokenError("\n".join(failures(Report(result, ("pytest", "--kfuzz"), device, started))))
        if progress.error:
            raise ClaimError(progress.error)
        if not progress.rows:
            spent = f"{cases} cases" if cases else f"{seconds:.1f} s"
            more = "--kfuzz-cases" if cases else "--kfuzz-time"
            raise CaseError(f"{self.kernel.name}: nothing was tested in {spent}; give {more} more")

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"fuzz {self.kernel.name}"


def share_of_time(session: pytest.Session) -> float:
    """Seconds for each kernel that is fuzzed."""
    count = sum(isinstance(item, FuzzItem) for item in session.items)
    return duration(session.config.getoption("--kfuzz-time")) / max(1, count)


def kernel_file(parent: pytest.Collector, path: Path) -> KernelFile | None:
    """The collector for a .cu file, where it has a claim."""
    return KernelFile.from_parent(parent, path=path) if has_claim(path) else None


def fuzz_items(session: pytest.Session, items: list[pytest.Item]) -> list[pytest.Item]:
    """An item for each kernel of the project that has none yet."""
    there = {item.path.resolve(): item.kernel for item in items if isinstance(item, FuzzItem)}
    try:
        duration(session.config.getoption("--kfuzz-time"))
        kernels = project_kernels(session.config)
    except ClaimError as error:
        raise pytest.UsageError(str(error)) from None
    except click.BadParameter as error:
        raise pytest.UsageError(f"--kfuzz-time: {error.message}") from None
    wanted = [kernel for kernel in kernels if kernel.broken is None and kernel.path.resolve() not in there]
    if twice := namesakes([*there.values(), *wanted]):
        raise pytest.UsageError(twice)
    files = [KernelFile.from_parent(session, path=kernel.path) for kernel in wanted]
    return [item for file in files for item in file.collect()]


def project_kernels(config: pytest.Config) -> tuple[Kernel, ...]:
    """The kernels that the setting kfuzz_kernels names, or all below rootdir; ClaimError where it names none."""
    if KERNELS not in config.stash:
        patterns = config.getini("kfuzz_kernels")
        paths = [path for pattern in patterns for path in _matching(config.rootpath, pattern)]
        found = tuple(load(path) for path in dict.fromkeys(paths)) if patterns else kernels_below(config.rootpath)
        config.stash[KERNELS] = found
    return config.stash[KERNELS]


def _matching(root: Path, pattern: str) -> list[Path]:
    absolute = Path(pattern).is_absolute()
    every = sorted(Path("/").glob(pattern.lstrip("/")) if absolute else root.glob(pattern))
    found = [path for path in every if not path.is_dir()]
    if not found:
        raise ClaimError(f"kfuzz_kernels: {pattern!r} fits no file below {root}")
    return found


def device_of(config: pytest.Config) -> Device:
    """The device of this run, opened once and closed with it."""
    if DEVICE not in config.stash:
        config.stash[DEVICE] = device = open_device(visible_device(config))
        config.add_cleanup(device.close)
    return config.stash[DEVICE]


def seed_of(config: pytest.Config) -> int:
    """The seed of this run."""
    given = config.getoption("--kfuzz-seed")
    return config.stash.setdefault(SEED, secrets.randbelow(1 << 32) if given is None else given)


def visible_device(config: pytest.Config) -> str:
    """The device that was asked for; of several GPUs each worker of xdist is shown one."""
    if NAME not in config.stash:
        config.stash[NAME] = name = device_named(str(config.getoption("--kfuzz-device")))
        worker = os.environ.get("PYTEST_XDIST_WORKER")
        if name == "gpu" and worker:
            cards = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(driver.count())))
            os.environ["CUDA_VISIBLE_DEVICES"] = card_for(worker, cards)
    return config.stash[NAME]


def card_for(worker: str, cards: str) -> str:
    """The card for a worker "gw3": by its number among those that the caller was shown, round and round."""
    shown = cards.split(",")
    return shown[int(worker.removeprefix("gw")) % len(shown)]
