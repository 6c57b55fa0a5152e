"""The items that pytest runs: a kept case on one kernel, or a campaign of one kernel.

Knows pytest's items and how to report our failures; imported only if there is something to run.
Long, since both items share the kernels, the device and the limits of a run.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

import click
import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from kfuzz.campaign import last_run
from kfuzz.campaign.device import lanes_of_caller, names_of, open_device, resolve_device
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.campaign.schedule import attempt_of, is_check
from kfuzz.campaign.trials.replay import replay
from kfuzz.campaign.trials.trial import unfit
from kfuzz.campaign.trials.unjudged import unjudged_text
from kfuzz.cases import case_file
from kfuzz.cases.case import Record
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel, load
from kfuzz.common.text.exhibits import name_as_kernel
from kfuzz.common.time_limits import limited, time_limits
from kfuzz.devices import ClaimError, Device, DeviceError, Probe, UnsupportedError
from kfuzz.devices.vendors import vendor
from kfuzz.kinds import Kind, Severity, fails_run
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.commands.options import parse_duration
from kfuzz.ui.commands.own_files import why_nothing_is_fuzzed
from kfuzz.ui.pytest.plugin import SUMMARY_LINE
from kfuzz.ui.reports.accuracy import accuracy_lines, describe_unjudged
from kfuzz.ui.reports.failure import replay_texts
from kfuzz.ui.reports.inferred import inferred_claim, inferred_texts
from kfuzz.ui.reports.report import Report
from kfuzz.ui.reports.summary import failures
from kfuzz.ui.setup.settings import CORPUS
from kfuzz.ui.targets.project import Kernels, kernels_below, kernels_for, read_all
from kfuzz.ui.targets.settings import CALL_TIME, COMPILE_TIME, limits_for, setting_for

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr, TracebackStyle

DEVICE = pytest.StashKey[Device]()
KERNELS = pytest.StashKey[Kernels]()
BY_PATH = pytest.StashKey[dict[Path, Kernel]]()
NAME = pytest.StashKey[str]()
LIMITED = pytest.StashKey[ExitStack]()


class BrokenError(Exception):
    """A kernel is broken; the message is the whole report."""


class Item(pytest.Item):
    """An item whose failures show our own message without a traceback: pytest's own hook is a method."""

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: "TracebackStyle | None" = None
    ) -> "str | TerminalRepr":
        """The message of one of our own errors; the traceback of any other."""
        if isinstance(excinfo.value, BrokenError | CaseError | ClaimError | DeviceError):
            return shown_once(str(excinfo.value), self.path)
        return super().repr_failure(excinfo, style)


def shown_once(report: str, path: Path) -> ReprExceptionInfo:
    """A report whose first line alone is in pytest's short summary, which a CI service gets uncut."""
    headline = report.partition("\n")[0]
    entries = [ReprEntryNative([report, "\n"])]
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback(entries, extraline=None, style="native"),
        reprcrash=ReprFileLocation(str(path), 1, headline),
    )


class CaseFile(pytest.File):
    """A case file: one item for each kernel whose claim admits it."""

    def collect(self) -> Iterator[pytest.Item]:
        """Read the file; a fault in it is one error; a fault in a kernel is left to that kernel's own item."""
        try:
            usable = project_kernels(self.config).usable
            record = case_file.read(self.path)
            kernels = kernels_for(record, usable)
        except (CaseError, ClaimError) as error:
            raise self.CollectError(str(error)) from None
        reasons = {kernel.name: unfit(kernel, record.case) for kernel in kernels}
        for kernel in kernels:
            if not reasons[kernel.name]:
                yield CaseItem.from_parent(self, name=kernel.name, kernel=kernel, record=record)
        if all(reasons.values()):
            why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
            yield UnclaimedCaseItem.from_parent(
                self, name="no kernel", why=why or f"no kernel here is for {record.case.op}"
            )


class CaseItem(Item):
    """A case on a kernel."""

    def __init__(self, *, kernel: Kernel, record: Record, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # name and parent
        self.kernel, self.record = kernel, record

    def runtest(self) -> None:
        """Run the case again."""
        result = replay(self.record, self.kernel, device_of(self.config))
        reasons = list(map(unjudged_text, result.reasons))
        if left := describe_unjudged(result.rows, result.unjudged_rows, reasons):
            self.user_properties.append((SUMMARY_LINE, f"{self.kernel.name}: {self.path.name}: {left}"))
        if result.status == "skipped":
            pytest.skip(result.reason)
        if result.status == "cannot run":
            leave_to_claim(self, self.kernel, result.reason)
        is_warned = result.status == "warned" and fails_run("warning", fail_on_of(self.config))
        if result.status in ("broken", "flaky") or is_warned:
            inferred = inferred_of(self.kernel, {defect.kind for defect in result.defects})
            raise BrokenError("\n\n".join([*replay_texts(result, self.record, self.path), *inferred]))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name} on {self.kernel.name}"


def inferred_of(kernel: Kernel, kinds: Collection[Kind]) -> Iterator[str]:
    """The line that says what of a broken kernel's claim is inferred."""
    return inferred_texts(kernel.name, inferred_claim(kernel, kinds))


class UnclaimedCaseItem(Item):
    """A case that no kernel here claims: skipped, so that the report shows it."""

    def __init__(self, *, why: str, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # name and parent
        self.why = why

    def runtest(self) -> None:
        pytest.skip(self.why)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name}: no kernel"


class KernelFile(pytest.File):
    """A kernel file: one cheap item for its claim, and with --kfuzz one that fuzzes it."""

    def collect(self) -> Iterator[pytest.Item]:
        """The items; none that fuzzes a kernel which is broken on purpose."""
        yield ClaimItem.from_parent(self, name="claim")
        kernel = kernel_at(self.config, self.path)
        if kernel and kernel.broken is None and self.config.getoption("--kfuzz"):
            yield FuzzItem.from_parent(self, name="fuzz", kernel=kernel)


class ClaimItem(Item):
    """Checks that a kernel's claim can be read and its source compiled for the device of this run."""

    def runtest(self) -> None:
        """Run the smallest case, so that the kernel is compiled as first trials want it; others judge its answers."""
        kernel = load(self.path)
        attempt = attempt_of(kernel, 0, 0)
        probe = Probe(is_check(0), runs=1, timeout=1.0)
        try:
            device_of(self.config).run(kernel.bind(attempt.case.arrays, attempt.tune).job, probe)
        except UnsupportedError as error:
            pytest.skip(str(error))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"claim of {self.path.name}"


def leave_to_claim(item: Item, kernel: Kernel, reason: str) -> None:
    """Skip the item if the kernel's own item reports the reason, so that it is reported once; else report it here."""
    if any(
        isinstance(other, ClaimItem) and other.path.resolve() == kernel.path.resolve() for other in item.session.items
    ):
        pytest.skip(f"{kernel.name} cannot run: its item 'claim' says why")
    raise ClaimError(reason)


class FuzzItem(Item):
    """A campaign of one kernel."""

    def __init__(self, *, kernel: Kernel, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # name and parent
        self.kernel = kernel

    def runtest(self) -> None:
        """Fuzz for this kernel's share of the time, or for the number of cases that was asked for."""
        cases = self.config.getoption("--kfuzz-cases")
        seconds = None if cases else share_of_time(self.session)
        select_device(self.config)
        lanes = lanes_of_caller(str(self.config.getoption("--kfuzz-device")))
        device = names_of(lanes)
        folder = corpus_folder(self.config)
        options = Options(
            seed=self.config.getoption("--kfuzz-seed"),
            max_cases=cases,
            max_time=seconds,
            corpus=folder,
            fail_on=fail_on_of(self.config),
        )
        started = datetime.now(UTC)
        result = search([self.kernel], lanes, options)
        last_run.note_runs(result, device)
        if result.stop_reason == "interrupted":
            raise KeyboardInterrupt
        progress = result.kernels[0].progress
        self.user_properties += [("kfuzz_trials", progress.trials), ("kfuzz_seed", options.seed)]
        self.user_properties += [(SUMMARY_LINE, line) for line in accuracy_lines(result.kernels)]
        report = Report(result, ("pytest", "--kfuzz"), device, started, fail_on=options.fail_on)
        if report.failing:
            found = failures(report)
            kinds = {bug.headline.defect.kind for bug in result.news}
            raise BrokenError("\n".join([*found, *inferred_of(self.kernel, kinds)]))
        if progress.error:
            leave_to_claim(self, self.kernel, progress.error)
        if why := result.kernels[0].unjudged:
            raise CaseError(f"{self.kernel.name}: {why}")
        if progress.retired and not progress.trials:
            pytest.skip(progress.retired)
        if not progress.trials:
            spent = plural(cases, "case") if cases else f"{seconds:.1f} s"
            more = "--kfuzz-cases" if cases else "--kfuzz-time"
            raise CaseError(f"{self.kernel.name}: nothing was tested in {spent}; increase {more}")

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"fuzz {self.kernel.name}"


def fail_on_of(config: pytest.Config) -> Severity:
    """The least severity that fails an item: by the command line, else by kfuzz's settings."""
    chosen = config.getoption("--kfuzz-fail-on") or setting_for(config.rootpath, "fail-on") or "error"
    if chosen not in get_args(Severity):
        raise ClaimError(f"kfuzz.toml: fail-on = {chosen!r}: error or warning is expected")
    return cast(Severity, chosen)


def corpus_folder(config: pytest.Config) -> Path:
    """The folder for cases: by pytest's settings, else by kfuzz's."""
    named = config.getini("kfuzz_corpus") or setting_for(config.rootpath, "corpus") or CORPUS
    return config.rootpath / str(named)


def share_of_time(session: pytest.Session) -> float:
    """Seconds for each kernel that is fuzzed."""
    count = sum(isinstance(item, FuzzItem) for item in session.items)
    return parse_duration(session.config.getoption("--kfuzz-time")) / max(1, count)


def more_items(session: pytest.Session, items: list[pytest.Item]) -> list[pytest.Item]:
    """Items for kernels of the project that have none yet.

    If the whole project is tested, or is fuzzed, that is all kernels. If only some files are tested, it is the kernels
    that cannot be read: a case that lacks its kernel must still report why.
    """
    config = session.config
    try:
        parse_duration(config.getoption("--kfuzz-time"))
        kernels = project_kernels(config)
    except ClaimError as error:
        raise pytest.UsageError(str(error)) from None
    except click.BadParameter as error:
        raise pytest.UsageError(f"--kfuzz-time: {error.message}") from None
    is_whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    usable = [kernel.path for kernel in kernels.usable] if is_whole or config.getoption("--kfuzz") else []
    have = {item.path.resolve() for item in items if isinstance(item, ClaimItem)}
    files = (
        KernelFile.from_parent(session, path=path) for path in (*usable, *kernels.faults) if path.resolve() not in have
    )
    return [item for file in files for item in file.collect()]


def lines_without_kernels(config: pytest.Config) -> list[str]:
    """Lines of the summary of a run that was to fuzz, if the project has no kernel: one passed and tested nothing."""
    try:
        kernels = project_kernels(config)
    except (ClaimError, click.BadParameter):
        return []  # it is reported as an error of its own
    return [] if kernels.usable or kernels.faults else [why_nothing_is_fuzzed(config.rootpath)]


def kernel_at(config: pytest.Config, path: Path) -> Kernel | None:
    """The kernel in a file, named as the project names it; None if its claim is wrong."""
    if BY_PATH not in config.stash:
        config.stash[BY_PATH] = {kernel.path.resolve(): kernel for kernel in project_kernels(config).usable}
    return config.stash[BY_PATH].get(path.resolve()) or next(iter(read_all([path]).usable), None)


def project_kernels(config: pytest.Config) -> Kernels:
    """The kernels that the setting kfuzz_kernels names, or all below rootdir; a ClaimError if it names none."""
    if KERNELS not in config.stash:
        hear_limits(config)
        patterns = config.getini("kfuzz_kernels")
        paths = [path for pattern in patterns for path in _matching(config.rootpath, pattern)]
        config.stash[KERNELS] = read_all(paths) if patterns else kernels_below(config.rootpath)
    return config.stash[KERNELS]


def hear_limits(config: pytest.Config) -> None:
    """Let the limits of kfuzz's settings hold for this run; a ClaimError for one that is no time."""
    given = limits_for(config.rootpath)
    if LIMITED in config.stash or not given:
        return
    stack = config.stash[LIMITED] = ExitStack()
    config.add_cleanup(stack.close)
    try:
        seconds = {key: parse_duration(value) for key, value in given.items()}
    except click.BadParameter as error:
        raise ClaimError(f"the settings of kfuzz: {error.message}") from None
    limits = time_limits()
    compiling, call = seconds.get(COMPILE_TIME, limits.compile), seconds.get(CALL_TIME, limits.call)
    stack.enter_context(limited(replace(limits, compile=compiling, call=call)))


def _matching(root: Path, pattern: str) -> list[Path]:
    place = Path(Path(pattern).anchor or root)
    parts = str(Path(pattern)).removeprefix(Path(pattern).anchor)
    every = sorted(place.glob(parts)) if parts not in ("", ".") else []  # glob refuses these two
    paths = [name_as_kernel(path) for path in every if not path.is_dir()]
    if not paths:
        raise ClaimError(f"kfuzz_kernels: {pattern!r} matches no file below {root}")
    return paths


def device_of(config: pytest.Config) -> Device:
    """The device of this run, opened once and closed with it."""
    if DEVICE not in config.stash:
        hear_limits(config)
        config.stash[DEVICE] = device = open_device(select_device(config))
        config.add_cleanup(device.close)
    return config.stash[DEVICE]


def select_device(config: pytest.Config) -> str:
    """The device that was asked for; with several GPUs each worker of xdist gets one of them."""
    if NAME not in config.stash:
        config.stash[NAME] = name = resolve_device(str(config.getoption("--kfuzz-device")))
        worker = os.environ.get("PYTEST_XDIST_WORKER")
        if name == "gpu" and worker:
            gpus = os.environ.get(vendor().visible) or ",".join(map(str, range(vendor().count())))
            os.environ[vendor().visible] = gpu_for(worker, gpus)
    return config.stash[NAME]


def gpu_for(worker: str, gpus: str) -> str:
    """The GPU for a worker "gw3": the visible GPUs are dealt out to the workers by number, round and round."""
    visible = gpus.split(",")
    return visible[int(worker.removeprefix("gw")) % len(visible)]
