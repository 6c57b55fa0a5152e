"""A campaign: trials of many kernels, round by round, which continue after each failure until time or trials run out.

    result = run_campaign(kernels, CpuDevice, Options(seed=7, max_cases=1000), print)

With `max_cases` the result (except for its seconds) is a function of the kernels and the seed, for any number of jobs
and any number of interruptions. Without, the time that a new size costs a callable has a say in which trials there are.
Every defect is on disk before it is reported. With several devices, each runs a campaign of the same seed, side by
side. Knows crews and ledgers; never how a trial is run.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kfuzz.campaign.blocks import Orders, TrialEnd
from kfuzz.campaign.children import MakeDevice
from kfuzz.campaign.crew import Crew, LaneEnds, run_alone, run_elsewhere, run_in_processes
from kfuzz.campaign.errand import Spread
from kfuzz.campaign.events import Event, Listen, Tried, ignore
from kfuzz.campaign.ledger import Ledger
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import Result, StopReason
from kfuzz.campaign.schedule import WHOLE
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import DeviceError

EXPLAINING, PART_FOR_EXPLAINING = 15.0, 0.25
"""Most seconds, and the part of the time, that are left for causes and small cases, which make a finding readable."""


@dataclass(frozen=True)
class Lane:
    """One of the devices of a campaign, and how many processes feed it; with 0 the caller's own process does.

    `leaves_large`: another lane runs the cases of many elements, except for those that test the order of threads.
    """

    name: str
    make_device: MakeDevice
    jobs: int = 1
    leaves_large: bool = False


def run_campaign(
    kernels: Sequence[Kernel],
    make_device: MakeDevice,
    options: Options,
    listen: Listen = ignore,
    spread: Spread | None = None,
) -> Result:
    """Search until time or trials run out; Ctrl-C ends it and loses nothing. Raises DeviceError and CaseError.

    With `spread` other machines run the trials; this process keeps and reports their findings.
    """
    (result,) = run_lanes(kernels, [Lane("", make_device, options.jobs)], options, listen, spread)
    return result


def options_of(options: Options, lane: Lane, lanes: Sequence[Lane]) -> Options:
    """A lane's own options: each of several lanes keeps its state in a folder of its name."""
    return options if len(lanes) == 1 or options.out is None else replace(options, out=options.out / lane.name)


def run_lanes(
    kernels: Sequence[Kernel], lanes: Sequence[Lane], options: Options, listen: Listen = ignore,
    spread: Spread | None = None, keep: Callable[[tuple[Result, ...]], None] = lambda results: None,
) -> tuple[Result, ...]:  # fmt: skip
    """Run a campaign on each lane, all at once; each has the result that it would have by itself.

    With `max_cases` each lane tries that many cases; they share the time. `keep` is called with the results so far if
    an error ends the campaign.
    """
    began = time.monotonic()
    ledgers: list[Ledger] = []
    for lane in lanes:
        ledgers.append(Ledger(tuple(kernels), options_of(options, lane, lanes), _sum_trials(ledgers, listen)))
    deadline = None if options.max_time is None else began + options.max_time
    shared = (options.seed, options.runs, options.timeout, options.budget, deadline, options.shard)
    is_timed = options.max_time is not None and options.max_cases is None
    each = options.max_time / len(kernels) if is_timed and options.max_time and kernels else None
    crews = []
    for lane, ledger in zip(lanes, ledgers, strict=True):
        orders = Orders(ledger.kernels, *shared, lane.leaves_large, each)
        resumes = options.out is not None
        crews.append(Crew(orders, lane.make_device, ledger.blocks(), lane.jobs, lane.name, resumes))
    stop: StopReason | None = None
    ends = _run_crews(crews, spread)
    try:
        for lane_number, item in ends:
            if isinstance(item, TrialEnd):
                is_new = ledgers[lane_number].take(item)
                stop = "first-finding" if is_new and options.stop_at_first else stop
                kept = seconds_to_keep(options, any(one.has_news for one in ledgers))
                late = deadline is not None and time.monotonic() > deadline - kept
            else:
                ledgers[lane_number].end(item)
                late = item.why == "time"
            if late and not stop:
                stop = "max-time"
            if stop or all(one.is_over for one in ledgers):  # do not wait for trials that still run and may take long
                break
    except KeyboardInterrupt:
        stop = "interrupted"
    except (CaseError, DeviceError):
        keep(_results(ledgers, options, "interrupted", began))
        raise
    finally:
        ends.close()
        for ledger in ledgers:
            ledger.save()
    return _results(ledgers, options, stop, began)


def _results(
    ledgers: Sequence[Ledger], options: Options, stop: StopReason | None, began: float
) -> tuple[Result, ...]:  # fmt: skip
    seconds = time.monotonic() - began
    return tuple(
        Result(options.seed, stop or one.stop_reason(), one.results(), seconds, options.shard) for one in ledgers
    )


def seconds_to_keep(options: Options, has_news: bool) -> float:
    """Seconds of a campaign's time that are kept for small cases of its findings; none if there is nothing new."""
    if options.max_time is None or options.shard != WHOLE or not has_news:
        return 0.0
    return min(EXPLAINING, options.max_time * PART_FOR_EXPLAINING)


def _run_crews(crews: Sequence[Crew], spread: Spread | None) -> LaneEnds:
    """The ends of all trials, each with the number of its lane."""
    if spread is not None:
        return run_elsewhere(crews, spread)
    if not any(crew.jobs for crew in crews) or (len(crews) == 1 and crews[0].jobs == 1):
        return run_alone(crews)
    return run_in_processes(crews)


def _sum_trials(ledgers: Sequence[Ledger], listen: Listen) -> Listen:
    """A listener that gets the total number of trials of all lanes."""

    def forward(event: Event) -> None:
        if isinstance(event, Tried) and len(ledgers) > 1:
            event = replace(event, total=sum(one.trials for one in ledgers))
        listen(event)

    return forward
