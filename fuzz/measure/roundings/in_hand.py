"""Findings that the trials of a guess have in hand when a campaign begins: each becomes a discovery with a kept case.

A campaign on the guessed claim finds most of them again. Knows guesses, minimizing and the corpus.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from kfuzz.campaign.minimizing.minimize import Failure, minimize, point_at_worst, record_of
from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import KernelResult, Result
from kfuzz.campaign.state import Discovery
from kfuzz.cases import corpus
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.roundings.bug import FailedGuess
from kfuzz.measure.roundings.guess import Guess
from kfuzz.measure.roundings.outside import Outside, as_warning

RUNS, SECONDS = 100, 10.0
"""For the small case of one finding."""


def add_findings(result: Result, guesses: Mapping[Path, Guess], options: Options) -> Result:
    """The result with the findings of guesses that the campaign has not made itself."""
    if not any(one.bug or one.outside for one in guesses.values()):
        return result
    with CpuDevice() as device:
        kernels = tuple(
            add_to(one, guesses[one.kernel.path], options, device) if one.kernel.path in guesses else one
            for one in result.kernels
        )
    return replace(result, kernels=kernels)


def add_to(one: KernelResult, guess: Guess, options: Options, device: Device) -> KernelResult:
    """The result of one kernel with the findings of its guess."""
    found = dict(one.progress.discoveries)
    for discovery in discoveries_of(one, guess, options, device):
        found.setdefault(discovery.defect.bucket, discovery)
    return replace(one, progress=replace(one.progress, discoveries=found))


def keep_findings(guess: Guess, folder: Path) -> tuple[Path, ...]:
    """The files of the small cases of a guess's findings, kept in the folder."""
    with CpuDevice() as device:
        every = [discovery_of(*one, Options(corpus=folder), device) for one in findings_of(guess)]
    return tuple(one.path for one in every if one.path)


def findings_of(guess: Guess) -> Iterator[tuple[Kernel, FailedGuess, Outside | None]]:
    """What the trials of a guess have in hand: a bug, and what breaks wider claims."""
    if guess.bug:
        yield guess.kernel, guess.bug.failure, None
    for outside in guess.outside:
        yield outside.wide, outside.failure, outside


def discoveries_of(one: KernelResult, guess: Guess, options: Options, device: Device) -> Iterator[Discovery]:
    """The findings that the campaign has not made itself, by any fault if one error stands for the bug."""
    has_error = any(each.is_error for each in one.discoveries)
    for kernel, failure, outside in findings_of(guess):
        if not (one.progress.is_error(failure.defect.fault) if outside else has_error):
            said = replace(kernel, front=replace(kernel.front, said=one.kernel.front.said))
            yield discovery_of(said, failure, outside, options, device)


def discovery_of(
    kernel: Kernel, failure: FailedGuess, outside: Outside | None, options: Options, device: Device
) -> Discovery:
    """A finding with its small case, which is kept; a warning if it lies outside of the guessed claim."""
    attempt, probe = failure.attempt, failure.probe
    subject = subject_of(kernel, attempt.case, attempt.tune, probe.check, probe.seed)
    defect = replace(failure.defect, scene=replace(failure.defect.scene, said=kernel.front.said))
    begun = Failure(point_at_worst(subject, defect), defect, probe.runs)
    minimized = minimize(begun, device, most_runs=RUNS, max_time=SECONDS, again=0)
    small = minimized.failure.defect
    limits = outside.limits_of(minimized.failure.subject.case) if outside else ()
    if limits:
        small = as_warning(limits, small)
        minimized = replace(minimized, failure=replace(minimized.failure, defect=small))
    is_known = small.is_among(options.known)
    path = None
    if options.corpus is not None and not is_known:
        path = corpus.save(options.corpus, record_of(minimized, device.name))
    return Discovery(
        defect=small, first_trial=0, smallest_trial=0, count=1, is_known=is_known, path=path,
        is_minimized=minimized.stop == "smallest", devices=(device.name,),
    )  # fmt: skip
