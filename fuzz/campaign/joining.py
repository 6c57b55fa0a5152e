"""Joins the results of several devices: a kernel's findings together, each with the devices that showed it.

Knows results; never how they were computed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeVar

from kfuzz.campaign.result import KernelResult, Result, StopReason
from kfuzz.campaign.state import Discovery, Progress, larger

Amount = TypeVar("Amount", int, float)
STOPS: tuple[StopReason, ...] = ("interrupted", "first-finding", "max-time", "max-cases", "no kernel can go on")


def join_results(results: Sequence[Result], names: Sequence[str]) -> Result:
    """The joined result of the devices of these names; the result of a single device stays as it is."""
    if len(results) == 1:
        return results[0]
    kernels = tuple(
        KernelResult(same[0].kernel, _join_progress([one.progress for one in same], names))
        for same in zip(*(result.kernels for result in results), strict=True)
    )
    stop = next(why for why in STOPS if any(result.stop_reason == why for result in results))
    return replace(results[0], kernels=kernels, stop_reason=stop)


def _join_progress(every: Sequence[Progress], names: Sequence[str]) -> Progress:
    """The progress of one kernel on all devices. If one device does not support it, the trials of another count."""
    lanes = list(zip(names, every, strict=True))
    is_tried = any(one.trials for one in every)
    stops = [(name, one) for name, one in lanes if one.retired and (one.trials or one.error or not is_tried)]
    return Progress(
        next=max(one.next for one in every),
        trials=sum(one.trials for one in every),
        rows=sum(one.rows for one in every),
        elements=sum(one.elements for one in every),
        unjudged_rows=sum(one.unjudged_rows for one in every),
        worst_ratio=max(one.worst_ratio for one in every),
        worst_ulps=reduce(larger, (one.worst_ulps for one in every)),
        ratios=[sum(counts) for counts in zip(*(one.ratios for one in every), strict=True)],
        error="; ".join(f"on the {name}: {one.error}" for name, one in lanes if one.error),
        retired="; ".join(f"on the {name}: {one.retired}" for name, one in stops),
        reasons=set().union(*(one.reasons for one in every)),
        refusals=set().union(*(one.refusals for one in every)),
        untried=set().union(*(one.untried for one in every)),
        rungs=set().union(*(one.rungs for one in every)),
        silences=_shared_silences(one.silences for one in every),
        seconds=_sums(one.seconds for one in every),
        smallest=_extremes([one.smallest for one in every], min),
        largest=_extremes([one.largest for one in every], max),
        tried=_sums(one.tried for one in every),
        fatal=[fatal for one in every for fatal in one.fatal],
        discoveries=_discoveries(every),
        looks=_looks(one.looks for one in every),
    )


def _shared_silences(every: Iterable[Mapping[str, list[str]]]) -> dict[str, list[str]]:
    """For each special value, the words with which the trials of every device would have been kept."""
    shared: dict[str, list[str]] = {}
    for silences in every:
        for key, words in silences.items():
            shared[key] = [word for word in shared.get(key, words) if word in words]
    return shared


def _sums(every: Iterable[Mapping[str, Amount]]) -> dict[str, Amount]:
    sums: dict[str, Amount] = {}
    for one in every:
        for name, value in one.items():
            sums[name] = sums[name] + value if name in sums else value
    return sums


def _looks(every: Iterable[Mapping[str, list[int]]]) -> dict[str, list[int]]:
    """For each property, the numbers of trials on all devices in which it held and did not hold."""
    found: dict[str, list[int]] = {}
    for looks in every:
        for name, counts in looks.items():
            found[name] = [one + other for one, other in zip(found.get(name, [0, 0]), counts, strict=True)]
    return found


def _extremes(every: Sequence[Mapping[str, int]], end: Callable[[Iterable[int]], int]) -> dict[str, int]:
    names = dict.fromkeys(name for one in every for name in one)
    return {name: end(one[name] for one in every if name in one) for name in names}


def _discoveries(every: Sequence[Progress]) -> dict[str, Discovery]:
    """Each bucket once, with its smallest case; of equal ones with that of the first device."""
    buckets: dict[str, Discovery] = {}
    for progress in every:
        for bucket, one in progress.discoveries.items():
            buckets[bucket] = _join_discoveries(buckets[bucket], one) if bucket in buckets else one
    return buckets


def _join_discoveries(one: Discovery, other: Discovery) -> Discovery:
    smaller, larger = sorted((one, other), key=lambda each: each.defect.scene.elements)
    causes = tuple(sorted({*one.defect.causes, *other.defect.causes}))
    return replace(
        smaller,
        defect=replace(smaller.defect, causes=causes),
        first_trial=min(one.first_trial, other.first_trial),
        count=one.count + other.count,
        path=smaller.path or larger.path,
        devices=tuple(dict.fromkeys((*smaller.devices, *larger.devices))),
    )
