"""At the end of a campaign: what comes of what, found out by experiment, and a small case for what is told first.

    result = explained(run_campaign(kernels, make_device, options), make_device, options)

A wrong answer has no line. Where its case, run again with each access checked, shows an error that has one, it comes
of that. Knows campaigns, trials and minimizing; what is found here changes no exit code, but where shapes beside the
one that a function was written for do not count.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from kfuzz.campaign.bugs import Bug
from kfuzz.campaign.campaign import KernelResult, Options, Result
from kfuzz.campaign.children import MakeDevice
from kfuzz.campaign.ranking import ELSEWHERE, ranked
from kfuzz.campaign.schedule import CHECK_BUDGET, attempt_of, probe_of
from kfuzz.campaign.state import Discovery, write_state
from kfuzz.cases import corpus
from kfuzz.cases.case import CaseError
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, Device, DeviceError, Probe
from kfuzz.minimizing.minimize import Failure, minimize, pointed, record_of
from kfuzz.minimizing.subject import subject_of
from kfuzz.trials.trial import run_trial

RUNS, SECONDS, ALL_SECONDS = 100, 20.0, 60.0
"""For the small case of a bug, so many runs, which take less than a second. What is found must not depend on how busy
the machine is: the seconds, of a bug and of all together, only end what is beyond measure."""
MOST_SMALL = 10
"""So many bugs of a campaign are told by a small case, the first ones; `kfuzz minimize` does it for others."""
ALONE = ("hang", "out-of-memory")
"""Kinds that come of nothing else, and of which every smaller case costs as much as the first."""


def explained(result: Result, make_device: MakeDevice, options: Options) -> Result:
    """The result with its bugs put together and a small case for each new one; as it is where it was interrupted."""
    if result.stop_reason == "interrupted" or not result.news:
        return result
    until = time.monotonic() + ALL_SECONDS
    found, left = list(result.kernels), MOST_SMALL
    try:
        with closing(make_device()) as device:
            for place, one in enumerate(found):
                if one.news:
                    together = _replaced(one, _causes(one, result.seed, options, device, until))
                    found[place] = together
                    told_first = [bug for bug in together.bugs if _is_to_be_small(bug)][:left]
                    left -= len(told_first)
                    small = (_small(one.kernel, bug, result.seed, options, device, until) for bug in told_first)
                    found[place] = together = _replaced(together, small)
                    found[place] = _replaced(together, _ranked(together, options, device))
    except (CaseError, ClaimError, DeviceError, KeyboardInterrupt):
        pass  # what was found is found, and told as it is
    write_state(options.out, result.seed, [one.kernel for one in found], [one.progress for one in found])
    return replace(result, kernels=tuple(found))


def _replaced(one: KernelResult, changed: Iterator[Discovery]) -> KernelResult:
    news = {discovery.defect.bucket: discovery for discovery in changed}
    return replace(one, progress=replace(one.progress, discoveries={**one.progress.discoveries, **news}))


def _causes(one: KernelResult, seed: int, options: Options, device: Device, until: float) -> Iterator[Discovery]:
    """The errors without a line, each with the lines of the errors that its case shows when accesses are checked."""
    with_lines = [each for each in one.discoveries if each.is_error and each.defect.is_placed]
    for each in one.discoveries if with_lines else ():
        defect = each.defect
        if each.is_error and not defect.is_placed and defect.kind not in ALONE and time.monotonic() < until:
            attempt = attempt_of(one.kernel, seed, each.smallest_trial, options.budget)
            if attempt.case.elements <= CHECK_BUDGET:
                probe = replace(_probe(one.kernel, seed, each, options), check=True)
                trial = run_trial(one.kernel, attempt.case, attempt.tune, device, probe)
                causes = [cause for error in trial.errors if error.is_placed for cause in error.causes]
                yield replace(each, comes_of=tuple(dict.fromkeys(causes)))


def _ranked(one: KernelResult, options: Options, device: Device) -> Iterator[Discovery]:
    """The errors of a function that was written for a shape, by what they mean there."""
    errors = [bug for bug in one.bugs if _is_to_be_small(bug)]
    for each in ranked(one.kernel, errors, device):
        is_error = options.other_shapes or each.defect.rank != ELSEWHERE
        yield each if is_error else replace(each, defect=replace(each.defect, severity="warning"))


def _is_to_be_small(bug: Bug) -> bool:
    return bug.is_error and not bug.is_known and bug.headline.defect.kind not in ALONE


def _small(kernel: Kernel, bug: Bug, seed: int, options: Options, device: Device, until: float) -> Discovery:
    """What a new bug is told by, as a case shows it that is as small as it gets in so many runs."""
    one, probe = bug.headline, _probe(kernel, seed, bug.headline, options)
    attempt = attempt_of(kernel, seed, one.smallest_trial, options.budget)
    subject = subject_of(kernel, attempt.case, attempt.tune, probe.check, probe.seed)
    failure = Failure(pointed(subject, one.defect), one.defect, probe.runs)
    found = minimize(failure, device, most_runs=RUNS, max_time=min(SECONDS, until - time.monotonic()), again=0)
    if found.stop == "interrupted":
        raise KeyboardInterrupt
    path = one.path
    if options.corpus is not None:
        path = corpus.save(options.corpus, record_of(found, device.name))
    is_minimized = corpus.is_minimized(path) if path else found.stop == "smallest"
    defect = replace(found.failure.defect, causes=one.defect.causes)
    return replace(one, defect=defect, path=path, is_minimized=is_minimized)


def _probe(kernel: Kernel, seed: int, one: Discovery, options: Options) -> Probe:
    return probe_of(kernel, seed, one.smallest_trial, options.runs, options.timeout)
