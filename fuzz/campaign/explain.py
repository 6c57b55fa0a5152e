"""Explains the bugs of a finished campaign: experiments find their causes, and the first bugs get a small case.

    result = search(kernels, [Lane("cpu", CpuDevice)], options)

A wrong answer has no line. If its case, run again with each access checked, shows an error that has one, that error is
its cause. Explanations end with the time of the campaign, and never change the exit code, except where failures at
other shapes than a function's own do not count. Knows campaigns, trials and minimizing.
Long, since experiments, small cases and files of one bug follow one another.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from math import inf

from kfuzz.campaign.bugs import Bug
from kfuzz.campaign.campaign import Lane, options_of, run_lanes
from kfuzz.campaign.errand import Spread
from kfuzz.campaign.events import Listen, ignore
from kfuzz.campaign.joining import join_results
from kfuzz.campaign.kept_cases import keep_one_case_a_bug, note_kept_before
from kfuzz.campaign.minimizing.minimize import Failure, minimize, point_at_worst, record_of
from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.options import Options
from kfuzz.campaign.ranking import ELSEWHERE, describe_bugs, rank_bugs, shape_at_home
from kfuzz.campaign.result import KernelResult, Result
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.state import Discovery, read_state, write_state
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases import corpus
from kfuzz.cases.case import Case
from kfuzz.cases.errors import CaseError
from kfuzz.cases.plans.home import home_of
from kfuzz.cases.plans.scale import CHECK_BUDGET
from kfuzz.claims.kernel import Kernel
from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.devices import ClaimError, Device, DeviceError, Probe
from kfuzz.kinds import kinds_with

RUNS, SECONDS, ALL_SECONDS = 100, 20.0, 60.0
"""Runs for the small case of a bug, which take less than a second; and seconds for one bug and for all together. The
result must not depend on how busy the machine is: the seconds only stop extreme cases."""
LEAST_SECONDS = 2.0
"""For all bugs together, even if the time of the campaign is over: most bugs take less."""
CRASHING_RUNS = 4
"""The same if each run ends its process: a known crash is worth a few seconds, not more."""
MOST_SMALL = 10
"""How many bugs of a campaign, the first ones, get a small case; `kfuzz minimize` makes one for the others."""
CPU = "cpu"
CONFIRMED, HIDDEN, NOT_RUN = "yes", "no, the hardware happens to hide it", "not run"
FOLLOW = kinds_with("follows-from-others")
HAVE_ONE_CAUSE = kinds_with("has-no-other-cause")


def search(
    kernels: Sequence[Kernel],
    lanes: Sequence[Lane],
    options: Options,
    listen: Listen = ignore,
    spread: Spread | None = None,
    is_part: bool = False,
    keep: Callable[[Result], None] = lambda result: None,
) -> Result:
    """Run a campaign on each lane, join the results and explain them; one part of a campaign is not explained yet.

    In the end the corpus has one case for each bug; a part keeps the case of each bucket, until the parts are joined.

    `keep` is called with the result so far: before findings are explained, since they count even if this process is
    killed meanwhile, and if an error ends the campaign.
    """
    before = _kept_before(kernels, lanes, options)

    def join(results: tuple[Result, ...]) -> Result:
        return join_results(results, [lane.name for lane in lanes])

    def keep_so_far(result: Result) -> None:
        keep(note_kept_before(result, before))

    result = join(run_lanes(kernels, lanes, options, listen, spread, lambda results: keep_so_far(join(results))))
    if is_part:
        return note_kept_before(result, before)
    if result.news:
        keep_so_far(without_untried_homes(result, options))
    result = keep_one_case_a_bug(explain_bugs(result, lanes, options), before)
    if len(lanes) == 1:  # each of several lanes has a state of its own, and this joined result is made again
        write_state(options.out, result.seed, kernels, [one.progress for one in result.kernels])
    return result


def _kept_before(kernels: Sequence[Kernel], lanes: Sequence[Lane], options: Options) -> frozenset[str]:
    """The buckets of cases that an earlier run kept, and not this campaign before it was interrupted."""
    states = [read_state(options_of(options, lane, lanes).out, options.seed, kernels, options.shard) for lane in lanes]
    every = (one for state in states for progress in state for one in progress.discoveries.values())
    mine = {one.defect.bucket for one in every if one.path is not None and not one.is_kept_before}
    return corpus.buckets_in(options.corpus) - mine


def explain_bugs(result: Result, lanes: Sequence[Lane], options: Options) -> Result:
    """The result with causes and a small case for new bugs. With several devices, the first one also tries once each
    error that only others have shown. An interrupted result stays as it is.

    A small case has another shape than the home, so what a bug does there is found out first: it counts for the exit
    code even if the rest is interrupted.
    """
    if result.stop_reason == "interrupted" or not result.news:
        return without_untried_homes(result, options)
    until = last = time.monotonic() + time_to_explain(result, options)
    if options.max_time is None:
        last = inf
    kernels, left = list(result.kernels), MOST_SMALL
    try:
        with closing(_Devices(lanes)) as devices:
            for place, kernel in enumerate(result.kernels):
                if kernel.news:
                    announce(Phase(Stage.EXPLAINING, kernel.kernel.name))
                    one = _replace_discoveries(kernel, _find_causes(kernel, result.seed, options, devices, until))
                    kernels[place] = one
                    buckets = [bug.headline.defect.bucket for bug in one.bugs if _needs_small_case(bug)]
                    began = time.monotonic()
                    if kernel.kernel.home:
                        announce(Phase(Stage.RANKING, kernel.kernel.name))
                    ranked = _rank_errors(one, result.seed, options, devices.checking)
                    kernels[place] = one = _replace_discoveries(one, ranked)
                    until = min(last, until + time.monotonic() - began)
                    bugs = [bug for bug in one.bugs if bug.headline.defect.bucket in buckets]
                    small = _shrink_bugs(kernel, bugs[:left], result.seed, options, devices, until)
                    kernels[place] = one = _replace_discoveries(one, small)
                    left -= len(bugs[:left])
                    described = describe_bugs(kernel.kernel, one.bugs, devices.checking)
                    kernels[place] = one = _replace_discoveries(one, described)
                    if len(lanes) > 1:
                        announce(Phase(Stage.CONFIRMING, kernel.kernel.name))
                        confirmed = _confirm_errors(one, result.seed, options, devices)
                        kernels[place] = _replace_discoveries(one, confirmed)
    except (CaseError, ClaimError, DeviceError, KeyboardInterrupt):
        pass  # the report shows the bugs as far as they are explained
    return without_untried_homes(replace(result, kernels=tuple(kernels)), options)


def time_to_explain(result: Result, options: Options) -> float:
    """Seconds for all bugs together: what is left of the campaign's time, if that is limited."""
    left = ALL_SECONDS if options.max_time is None else options.max_time - result.seconds
    return min(ALL_SECONDS, max(left, LEAST_SECONDS))


def without_untried_homes(result: Result, options: Options) -> Result:
    """The result with warnings for errors of functions that kfuzz could not judge at the shape they were written for.

    An interrupted search, and a home that takes too long, would else accuse what is right there.
    """
    if options.other_shapes:
        return result
    kernels = (_replace_discoveries(one, _untried_at_home(one)) for one in result.kernels)
    return replace(result, kernels=tuple(kernels))


def _untried_at_home(one: KernelResult) -> Iterator[Discovery]:
    home = home_of(one.kernel)
    for bug in (bug for bug in one.bugs if home and _needs_small_case(bug)):
        if bug.headline.defect.is_at_home:
            continue
        if all(not each.defect.rank and dict(each.defect.scene.axes) != home for each in bug.every):
            for each in bug.every:
                words = f"not judged at {shape_at_home(one.kernel)}"
                unranked = replace(each.defect, severity="warning", rank=ELSEWHERE, standing=words)
                yield replace(each, defect=unranked)


class _Devices:
    """The devices of a campaign, each opened at its first use."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = lanes
        self._open: dict[str, Device] = {}

    @property
    def first(self) -> str:
        """The name of the first device: the gpu, if there is one."""
        return self._lanes[0].name

    def of(self, one: Discovery) -> Device:
        """The device that showed the smallest case of a discovery."""
        return self.device_named(one.devices[0] if one.devices else "")

    @property
    def checking(self) -> Device:
        """The device that checks each access, or the only one."""
        return self.device_named(CPU)

    def device_named(self, name: str) -> Device:
        """The device of this name, or the first one."""
        lane = next((lane for lane in self._lanes if lane.name == name), self._lanes[0])
        if lane.name not in self._open:
            self._open[lane.name] = lane.make_device()
        return self._open[lane.name]

    def close(self) -> None:
        """Close the devices that are open."""
        for device in self._open.values():
            device.close()


def _replace_discoveries(one: KernelResult, changed: Iterator[Discovery]) -> KernelResult:
    news = {discovery.defect.bucket: discovery for discovery in changed}
    return replace(one, progress=replace(one.progress, discoveries={**one.progress.discoveries, **news}))


def _find_causes(
    one: KernelResult, seed: int, options: Options, devices: _Devices, until: float
) -> Iterator[Discovery]:
    """The errors without a line, and warnings that may follow from others, each with the causes of the errors that its
    case shows with checked accesses.
    """
    with_lines = [each for each in one.discoveries if each.is_error and each.defect.is_placed]
    for each in one.discoveries if with_lines else ():
        defect = each.defect
        is_asked = each.is_error or defect.kind in FOLLOW
        if is_asked and not defect.is_placed and defect.kind not in HAVE_ONE_CAUSE and time.monotonic() < until:
            attempt = attempt_of(one.kernel, seed, each.smallest_trial, options.budget)
            if attempt.case.elements <= CHECK_BUDGET:
                probe = replace(_probe(one.kernel, seed, each, options), check=True)
                trial = run_trial(one.kernel, attempt.case, attempt.tune, devices.checking, probe)
                causes = [cause for error in trial.errors if error.is_placed for cause in error.causes]
                yield replace(each, comes_of=tuple(dict.fromkeys(causes)))


def _rank_errors(one: KernelResult, seed: int, options: Options, device: Device) -> Iterator[Discovery]:
    """The errors of a function that was written for one shape, ranked by what they mean at that shape."""
    errors = [bug for bug in one.bugs if _needs_small_case(bug)]

    def case_of_bug(bug: Bug) -> Case:
        return attempt_of(one.kernel, seed, bug.headline.smallest_trial, options.budget).case

    for each in rank_bugs(one.kernel, errors, device, case_of_bug):
        is_error = options.other_shapes or each.defect.rank != ELSEWHERE
        yield each if is_error else replace(each, defect=replace(each.defect, severity="warning"))


def _needs_small_case(bug: Bug) -> bool:
    return bug.is_error and not bug.is_known and bug.headline.defect.kind not in HAVE_ONE_CAUSE


def _shrink_bugs(
    of: KernelResult, bugs: Sequence[Bug], seed: int, options: Options, devices: _Devices, until: float
) -> Iterator[Discovery]:
    """The headlines of these bugs with small cases."""
    for number, bug in enumerate(bugs, 1):
        if time.monotonic() >= until:
            return
        announce(Phase(Stage.SHRINKING, bug.headline.defect.bucket, number, len(bugs)))
        yield _shrink_bug(of, bug, seed, options, devices, until)


def _shrink_bug(of: KernelResult, bug: Bug, seed: int, options: Options, devices: _Devices, until: float) -> Discovery:
    """The headline of a new bug with the smallest case that the minimizer reaches in a limited number of runs."""
    kernel, one, device = of.kernel, bug.headline, devices.of(bug.headline)
    probe = _probe(kernel, seed, one, options)
    attempt = attempt_of(kernel, seed, one.smallest_trial, options.budget)
    subject = subject_of(kernel, attempt.case, attempt.tune, probe.check, probe.seed)
    failure = Failure(point_at_worst(subject, one.defect), one.defect, probe.runs)
    most = CRASHING_RUNS if any(kind == one.defect.kind for _, kind in of.progress.fatal) else RUNS
    minimized = minimize(failure, device, most_runs=most, max_time=min(SECONDS, until - time.monotonic()), again=0)
    if minimized.stop == "interrupted":
        raise KeyboardInterrupt
    path = one.path
    if options.corpus is not None:
        path = corpus.save(options.corpus, record_of(minimized, device.name))
    is_minimized = corpus.is_minimized(path) if path else minimized.stop == "smallest"
    was = one.defect
    defect = replace(
        minimized.failure.defect, causes=was.causes, severity=was.severity, rank=was.rank, standing=was.standing
    )
    return replace(one, defect=defect, path=path, is_minimized=is_minimized)


def _confirm_errors(one: KernelResult, seed: int, options: Options, devices: _Devices) -> Iterator[Discovery]:
    """The errors, each with the first device's opinion: it tries once what it has not shown by itself."""
    for each in one.discoveries:
        if not each.is_error:
            continue
        if devices.first in each.devices:
            yield replace(each, confirmed=CONFIRMED)
        elif each.defect.kind in HAVE_ONE_CAUSE or each.is_known:
            yield replace(each, confirmed=NOT_RUN)
        else:
            yield replace(
                each, confirmed=_confirm(one.kernel, each, seed, options, devices.device_named(devices.first))
            )


def _confirm(kernel: Kernel, one: Discovery, seed: int, options: Options, device: Device) -> str:
    attempt = attempt_of(kernel, seed, one.smallest_trial, options.budget)
    try:
        trial = run_trial(kernel, attempt.case, attempt.tune, device, _probe(kernel, seed, one, options))
    except (ClaimError, DeviceError):
        return NOT_RUN
    if trial.errors:
        return CONFIRMED
    return HIDDEN if trial.rows else NOT_RUN


def _probe(kernel: Kernel, seed: int, one: Discovery, options: Options) -> Probe:
    return probe_of(kernel, seed, one.smallest_trial, options.runs, options.timeout)
