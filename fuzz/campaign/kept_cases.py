"""One kept case for each bug: a campaign keeps a case of each bucket at once, and groups them at its end.

Knows results and the corpus; never how a bug was found or explained.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from kfuzz.campaign.bugs import Bug
from kfuzz.campaign.result import KernelResult, Result
from kfuzz.campaign.state import Discovery
from kfuzz.cases import corpus
from kfuzz.cases.errors import CaseError


def keep_one_case_a_bug(result: Result, before: frozenset[str]) -> Result:
    """The result after the corpus has lost this campaign's other cases of each bug.

    `before`: the buckets of the cases that were there when the campaign began; these cases stay. A bug that has one of
    them needs no new case.
    """
    return replace(result, kernels=tuple(_keep_cases(one, before) for one in result.kernels))


def note_kept_before(result: Result, before: frozenset[str]) -> Result:
    """The result in which each discovery says whether an earlier run kept a case of its bug."""
    kernels = (
        _with_discoveries(one, [each for bug in one.bugs for each in _noted(bug, before)]) for one in result.kernels
    )
    return replace(result, kernels=tuple(kernels))


def _keep_cases(one: KernelResult, before: frozenset[str]) -> KernelResult:
    changed = [each for bug in one.bugs for each in _keep_case(_noted(bug, before), before)]
    shown = {each.defect.bucket for each in changed}
    covered = [
        each for bucket, each in one.progress.discoveries.items() if bucket not in shown and not each.defect.silenced
    ]
    return _with_discoveries(one, [*changed, *(_without_case(each, before) for each in covered)])


def _noted(bug: Bug, before: frozenset[str]) -> Sequence[Discovery]:
    is_kept = any(each.defect.bucket in before for each in bug.every)
    return [replace(each, is_kept_before=is_kept) for each in bug.every]


def _keep_case(every: Sequence[Discovery], before: frozenset[str]) -> Iterator[Discovery]:
    """The discoveries of a bug, of which the first has the kept case: an earlier one, else its own, else any."""
    headline, *also = every
    kept = [each for each in every if each.path is not None and each.path.exists()]
    earlier = [each for each in kept if each.defect.bucket in before]
    if not kept:
        yield from every
        return
    holder = (earlier or kept)[0]
    for each in also:
        yield each if each.path == holder.path else _without_case(each, before)
    if headline.path != holder.path:
        headline = replace(_without_case(headline, before), path=holder.path, is_minimized=holder.is_minimized)
    yield headline


def _without_case(one: Discovery, before: frozenset[str]) -> Discovery:
    """The discovery after its case was deleted, unless an earlier run kept it."""
    if one.path is None or one.defect.bucket in before:
        return one
    with suppress(CaseError):  # a case too many does no harm
        corpus.delete(one.path)
    return replace(one, path=None, is_minimized=False)


def _with_discoveries(one: KernelResult, changed: Sequence[Discovery]) -> KernelResult:
    news = {each.defect.bucket: each for each in changed}
    return replace(one, progress=replace(one.progress, discoveries={**one.progress.discoveries, **news}))
