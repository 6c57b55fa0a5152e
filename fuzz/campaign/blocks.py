"""Runs a block of trials on one device: the result of each, and why the block may end early.

Knows schedules and trials; never who asks for a block, nor what a campaign makes of a trial. Long, since every reason
to end a block early lies beside the loop that it ends.
"""

import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal

from kfuzz.campaign.danger import draw_number, is_free, rules_of
from kfuzz.campaign.job_requests import AskedTwins, queue_job
from kfuzz.campaign.properties.find_properties import foresee
from kfuzz.campaign.schedule import (
    AGAIN,
    WHOLE,
    Block,
    Shard,
    attempt_of,
    is_early,
    is_for_hardware,
    is_large,
    number_at_sizes_of,
    number_near_home,
    probe_of,
    source_of_sizes,
)
from kfuzz.campaign.size_costs import SizeCosts
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.locating import locate
from kfuzz.campaign.trials.trial import (
    PreparedTrial,
    Trial,
    answer_with_own_weights,
    judge_outcome,
    prepare,
    several_of,
)
from kfuzz.campaign.trials.unjudged import Unjudged, without_numbers
from kfuzz.cases.case import Case
from kfuzz.cases.plans.choose import seed_of
from kfuzz.cases.plans.scale import BUDGET
from kfuzz.cases.plans.vast import Rung
from kfuzz.claims.kernel import Kernel
from kfuzz.common.errors import UnexpectedError, wrap_unexpected
from kfuzz.common.time_limits import time_limits
from kfuzz.devices import Ahead, ClaimError, Device, DeviceError, OutOfTimeError, Probe, Refusal, UnsupportedError
from kfuzz.kinds import Kind

LEAST_TIMEOUT, SURE_TIMEOUT = 0.5, 2.0
"""Seconds. A trial takes milliseconds, so one that runs for the second of these hangs, even if time is up soon."""
AHEAD, AGAIN_FROM = 24, 16
"""Trials that a device is asked for ahead, and how few are left when it is asked for more: while it runs them, this
process judges answers and plans the next ones. Some take a hundred times as long as others, on either side: with 4 of
them the device was idle at times. It is asked for several together, since each use of a GPU waits for the time slices
of other processes: 16 of them run 5,400 jobs a second on an H100 one by one, and 17,000 by thirteen.
"""
MOST_DRAWN_AGAIN = 2
"""How often a trial that judges nothing is drawn again."""
LARGE_SECONDS = 10.0
"""With less time left a campaign does not begin a large case."""


@dataclass(frozen=True)
class Orders:
    """What every process that runs trials of a campaign must know. `deadline` is a time of `time.monotonic`."""

    kernels: tuple[Kernel, ...]
    seed: int
    runs: int = 3
    timeout: float = 3.0
    budget: int = BUDGET
    deadline: float | None = None
    shard: Shard = WHOLE
    leaves_large: bool = False
    seconds_each: float | None = None
    """The time of each kernel in a campaign whose time is limited, and not its cases."""


@dataclass(frozen=True)
class ShownDefect:
    """A defect, and the case that showed it if that is the smallest of its bucket so far."""

    defect: Defect
    case: Case | None


@dataclass(frozen=True)
class TrialEnd:
    """The result of one trial."""

    kernel: int
    index: int
    number: int
    """The number that it was drawn by: its index, or its index plus a multiple of AGAIN."""
    device: str
    probe: Probe
    axes: Mapping[str, int]
    """The kernel's own axes, if the whole answer was judged."""
    rung: str
    """The size near a power of two that was tried; empty if it is none."""
    rows: int
    elements: int
    ratio: float
    seconds: Mapping[str, float]
    reasons: tuple[Unjudged, ...]
    silences: Mapping[str, tuple[str, ...]]
    defects: tuple[ShownDefect, ...]
    fatal: Kind | None
    """The kind of defect that ended the process."""
    looks: Mapping[str, bool] = field(default_factory=dict)
    """Whether each property that the trial shows holds in it."""
    unjudged_rows: int = 0
    ulps: float | None = None
    operand: str = ""
    size_seconds: tuple[float, float] | None = None
    """If it has the sizes of an earlier trial: what new sizes cost in its process so far, and known ones."""


@dataclass(frozen=True)
class BlockEnd:
    """The end of a block. `why` is empty if all of it was run; else it is out of time, or the kernel cannot go on."""

    block: Block
    why: Literal["", "time", "hang", "claim", "unsupported"] = ""
    message: str = ""


def is_out_of_time(end: TrialEnd | BlockEnd) -> bool:
    """Whether this is the end of a block for which there was no time left."""
    return isinstance(end, BlockEnd) and end.why == "time"


@dataclass
class Experience:
    """What a process has seen in the trials that it ran: the smallest case of each bucket, and the kernels that have
    run, those with an error or with a trial that ended its process, and what sizes cost."""

    smallest: dict[str, int] = field(default_factory=dict)
    have_run: set[int] = field(default_factory=set)
    accused: set[int] = field(default_factory=set)
    costs: dict[int, SizeCosts] = field(default_factory=dict)
    is_ready: bool = False
    """Whether the process has started its device."""


End = TrialEnd | BlockEnd
Ends = Generator[End, None, None]


@dataclass(frozen=True)
class _QueuedTrial:
    """A trial that the device was asked for, or the error that prevents it."""

    block: Block
    index: int
    number: int
    timeout: float
    planning_seconds: float
    prepared: PreparedTrial | ClaimError
    rung: Rung | None = None


def run_block(orders: Orders, device: Device, block: Block, known: Experience) -> Ends:
    """Run the trials of a block, then yield its end. It keeps `known` up to date."""
    return run_blocks(orders, device, iter((block,)), known)


def run_blocks(orders: Orders, device: Device, blocks: Iterator[Block | None], known: Experience) -> Ends:
    """Run one block after the other; a None among them makes the next one wait for the trials before it.

    The device is asked for a few trials ahead, also beyond a block's end: otherwise it would be idle while the last
    trial of a block is judged. A kernel that has not run yet gets one trial first, to show that it runs.
    """
    upcoming = _TrialQueue(orders, device, blocks, known)
    try:
        while (one := upcoming.next()) is not None:
            if isinstance(one, BlockEnd):
                yield one
                if one.why:
                    return
                continue
            for end in _finish_judged(orders, device, one, known, upcoming):
                yield end
                if isinstance(end, BlockEnd):
                    upcoming.leave_out(end.block.kernel)
    finally:
        if upcoming.ahead:
            upcoming.ahead.forget()


class _TrialQueue:
    """The next trials, with the end of each block after them; the device has been asked for all that are queued."""

    def __init__(self, orders: Orders, device: Device, blocks: Iterator[Block | None], known: Experience) -> None:
        self._orders, self._blocks, self._known = orders, blocks, known
        self.ahead = device if isinstance(device, Ahead) else None
        self.several = several_of(device)
        self._coming: deque[_QueuedTrial | BlockEnd] = deque()
        self._numbers: Iterator[tuple[int, int, float] | BlockEnd] = iter(())
        self._block: Block | None = None

    def next(self) -> _QueuedTrial | BlockEnd | None:
        """The next trial or end of a block; None if there is none."""
        most = (AHEAD if len(self._coming) <= AGAIN_FROM else 0) if self.ahead else 1
        while len(self._coming) < most and self._may_ask() and self._ask():
            pass
        if not self._coming:
            return None
        one = self._coming.popleft()
        if isinstance(one, _QueuedTrial):
            self._known.have_run.add(one.block.kernel)
        return one

    def leave_out(self, kernel: int) -> None:
        """Drop all trials of a kernel, and ask again for those of other kernels."""
        coming = [one for one in self._coming if one.block.kernel != kernel]
        self._coming = deque(coming)
        if self._block is not None and self._block.kernel == kernel:
            self._block, self._numbers = None, iter(())
        self.ask_again()

    def ask_again(self) -> None:
        """Ask only for the queued trials, and for nothing that was asked for before."""
        if self.ahead:
            self.ahead.forget()
            for one in self._coming:
                if isinstance(one, _QueuedTrial) and isinstance(one.prepared, PreparedTrial):
                    queue_job(self.ahead, one.prepared)

    def _may_ask(self) -> bool:
        """Whether another trial may be queued: not while the first trial of a kernel is, or any that no device runs
        ahead."""
        kernels = [one.block.kernel for one in self._coming]
        return all(one in self._known.have_run and _runs_ahead(self._orders.kernels[one]) for one in kernels)

    def _ask(self) -> bool:
        """Queue one more trial; False if there is none for now."""
        if self._block is None:
            self._block = next(self._blocks, None)
            if self._block is None:
                return False
            self._numbers = _numbers(self._orders, self._block, self._known)
        chosen = next(self._numbers, None)
        if chosen is None:
            self._coming.append(BlockEnd(self._block))
            self._block = None
        elif isinstance(chosen, BlockEnd):
            self._coming.append(chosen)
            self._block = None
        else:
            self._coming.append(_begin_trial(self._orders, self.ahead, self._block, self._known, *chosen))
        return True


def _numbers(orders: Orders, block: Block, seen: Experience) -> Iterator[tuple[int, int, float] | BlockEnd]:
    """Index, number and time-out of each trial of the block; the block's end if there is no time left.

    The first trial of a process begins late where a command has time for a last one: to load torch took all of it.
    """
    kernel = orders.kernels[block.kernel]
    known = rules_of(kernel, orders.seed, orders.budget, block.fatal) if block.fatal else ()
    for index in (index for index in range(block.first, block.last) if orders.shard.has(kernel, index)):
        left = inf if orders.deadline is None else orders.deadline - time.monotonic()
        if left <= 0 and (seen.have_run or time_limits().left in (0.0, inf)):
            yield BlockEnd(block, "time")
            return
        if (is_large(index) and left < LARGE_SECONDS) or (orders.leaves_large and is_for_hardware(index)):
            continue
        rules = () if is_free(index, block.fatal) else known
        number = None if rules else _number_at_known_sizes(orders, block, seen, index)
        number = number or draw_number(kernel, orders.seed, index, orders.budget, rules)
        if number is not None:
            # A device that suspects a hang runs the job again to be sure: both must fit in the time that is left.
            yield index, number, min(orders.timeout, max(LEAST_TIMEOUT, left / 4))


def _number_at_known_sizes(orders: Orders, block: Block, seen: Experience, index: int) -> int | None:
    """The number of a trial at sizes that this process has tried before, if new ones cost too much; else None.

    The number alone says what the case is, so time decides which trials there are, and never what one of them is.
    """
    costs, kernel = seen.costs.get(block.kernel), orders.kernels[block.kernel]
    if costs is None or orders.seconds_each is None or is_large(index) or not costs.is_due(orders.seconds_each):
        return None
    draw = seed_of(orders.seed, kernel.drawn_by or kernel.name, index, "sizes")
    return number_at_sizes_of(costs.tried[draw % len(costs.tried)], index)


@contextmanager
def errors_of_one_kernel(index: int) -> Iterator[None]:
    """Turn an unforeseen error while a case is made, run or judged into one of its kernel, so that the others go on."""
    try:
        yield
    except UnexpectedError as error:
        raise ClaimError(f"trial {index}: {error}; this kernel is not tried further") from error
    except (ClaimError, DeviceError):
        raise
    except Exception as error:
        raise ClaimError(f"trial {index}: {wrap_unexpected(error)}; this kernel is not tried further") from error


def _begin_trial(
    orders: Orders, ahead: Ahead | None, block: Block, known: Experience, index: int, number: int, timeout: float
) -> _QueuedTrial:
    began = time.perf_counter()
    kernel, fatal = orders.kernels[block.kernel], tuple(dict.fromkeys(kind for _, kind in block.fatal))
    probe = probe_of(kernel, orders.seed, number, orders.runs, timeout, fatal)
    try:
        with errors_of_one_kernel(index):
            attempt = attempt_of(kernel, orders.seed, number, orders.budget)
            trial = prepare(kernel, attempt.case, attempt.tune, probe)
            if ahead and _may_foresee(kernel, block, known, index) and not trial.job.vast:
                trial = replace(trial, twins=foresee(trial))
    except ClaimError as error:
        return _QueuedTrial(block, index, number, timeout, 0.0, error)
    if ahead:
        queue_job(ahead, trial)
    return _QueuedTrial(block, index, number, timeout, time.perf_counter() - began, trial, attempt.rung)


def _runs_ahead(kernel: Kernel) -> bool:
    return kernel.front.language.runner.takes_jobs_ahead


def _may_foresee(kernel: Kernel, block: Block, known: Experience, index: int) -> bool:
    """Whether the twins of a trial will most likely be wanted, and cost no process."""
    has_run = block.kernel in known.have_run and block.kernel not in known.accused
    return has_run and _runs_ahead(kernel) and not (block.fatal or is_early(index))


def _finish_judged(
    orders: Orders, device: Device, one: _QueuedTrial, known: Experience, upcoming: _TrialQueue
) -> Iterator[End]:
    """Finish a trial; one that says nothing is drawn again: a reference may go by values, or raise, and a function may
    refuse most sizes. The last draw is at home, if the claim has one.
    """
    kernel = orders.kernels[one.block.kernel]
    may_draw = (kernel.reference is not None or bool(kernel.home)) and one.rung is None and not _runs_ahead(kernel)
    for draws_left in reversed(range(MOST_DRAWN_AGAIN + 1 if may_draw else 1)):
        ends = list(_finish_trial(orders, device, one, known, upcoming))
        if not (draws_left and len(ends) == 1 and isinstance(ends[0], TrialEnd) and says_nothing(ends[0])):
            yield from ends
            return
        is_near_home = draws_left == 1 or any(isinstance(reason, Refusal) for reason in ends[0].reasons)
        number = number_near_home(one.index, draws_left == 1) if kernel.home and is_near_home else one.number + AGAIN
        one = _begin_trial(orders, upcoming.ahead, one.block, known, one.index, number, one.timeout)


def says_nothing(end: TrialEnd) -> bool:
    """Whether a trial judged no element, and found nothing."""
    return not (end.elements or end.defects or end.fatal)


def _finish_trial(
    orders: Orders, device: Device, one: _QueuedTrial, known: Experience, upcoming: _TrialQueue
) -> Iterator[End]:
    """Wait for a trial and judge it: its end, and the end of its block if the kernel cannot go on."""
    block = one.block
    try:
        if isinstance(one.prepared, ClaimError):
            raise one.prepared
        began, asked = time.perf_counter(), one.prepared
        with errors_of_one_kernel(one.index):
            outcome = upcoming.ahead.answer() if upcoming.ahead else device.run(asked.job, asked.probe)
            asked, outcome = answer_with_own_weights(asked, outcome, device.run)
            twins = AskedTwins(device, upcoming.ahead, upcoming.several, asked)
            trial = judge_outcome(
                asked, outcome, device.name, time.perf_counter() - began, device.run, twins.run_jobs,
                looks_at_all=not is_early(one.index),  # twins do not check, so they need the other flavour
            )  # fmt: skip
    except OutOfTimeError as error:
        yield BlockEnd(block, "time", str(error))
        return
    except UnsupportedError as error:
        yield BlockEnd(block, "unsupported", str(error))
        return
    except ClaimError as error:
        yield BlockEnd(block, "claim", str(error))
        return
    if trial.errors or trial.ended:
        known.accused.add(block.kernel)
    if trial.ended and asked.twins:
        upcoming.ask_again()  # the twins would end a process, too
    else:
        twins.drop()
    runner = orders.kernels[block.kernel].front.language.runner
    if runner.compiles_each_size and not is_large(one.index):
        costs = known.costs.setdefault(block.kernel, SizeCosts())
        costs.add(one.index, source_of_sizes(one.number) is not None, trial.seconds["device"])
    hangs = any(defect.kind == "hang" for defect in trial.defects)
    # Perhaps it only needed more time; such a limit does not depend on how much is left.
    if hangs and not runner.limits_calls and one.timeout < min(orders.timeout, SURE_TIMEOUT):
        yield BlockEnd(block, "time")
        return
    yield _trial_end(one, orders.kernels[block.kernel], trial, known, device)
    if hangs:
        yield BlockEnd(block, "hang", f"trial {one.index} did not end; this kernel is not tried further")


def _trial_end(one: _QueuedTrial, kernel: Kernel, trial: Trial, known: Experience, device: Device) -> TrialEnd:
    fatal = next((defect.kind for defect in trial.errors if defect.finding), None) if trial.ended else None
    costs = known.costs[one.block.kernel] if source_of_sizes(one.number) is not None else None
    return TrialEnd(
        kernel=one.block.kernel,
        index=one.index,
        number=one.number,
        device=trial.device,
        probe=trial.probe,
        axes=trial.axes if trial.rows and not one.rung else {},
        rung=str(one.rung) if one.rung and not trial.untried else "",
        rows=trial.rows,
        elements=trial.elements,
        ratio=trial.ratio,
        seconds={"generation": one.planning_seconds, **trial.seconds},
        reasons=tuple(map(without_numbers, trial.left_out)),
        silences=trial.silences,
        defects=tuple(
            _show_defect(kernel, trial.case, defect, known.smallest, device, trial.probe) for defect in trial.defects
        ),
        fatal=fatal,
        looks={one.name: one.is_held for one in trial.looks},
        unjudged_rows=trial.unjudged_rows,
        ulps=trial.ulps,
        operand=trial.operand,
        size_seconds=(costs.new_seconds, costs.known_seconds) if costs else None,
    )


def _show_defect(
    kernel: Kernel, case: Case, defect: Defect, smallest: dict[str, int], device: Device, probe: Probe
) -> ShownDefect:
    if case.elements >= smallest.get(defect.bucket, case.elements + 1):
        return ShownDefect(defect, None)
    smallest[defect.bucket] = case.elements
    return ShownDefect(locate(defect, kernel, case, device, probe), case)
