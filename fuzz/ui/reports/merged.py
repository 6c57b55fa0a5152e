"""Joins the reports of a campaign's parts, or of campaigns about different kernels, into one.

The result is the report that one undivided campaign would have written. Knows reports; it reads no files.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import groupby
from typing import TypeVar

from kfuzz.campaign.bugs import faintness, group_by_cause, report_order
from kfuzz.campaign.explain import CONFIRMED, HIDDEN
from kfuzz.campaign.result import FEW_TRIALS
from kfuzz.campaign.state import larger
from kfuzz.campaign.trials.defect import occurs_for_finite
from kfuzz.cases.errors import CaseError
from kfuzz.common.exit_codes import COULD_NOT, FOUND, INTERRUPTED, NOTHING_NEW
from kfuzz.kinds import Severity
from kfuzz.ui.reports.by_bug import failing
from kfuzz.ui.reports.document import Document, FindingEntry, KernelEntry, SizesTogether, SizesTried
from kfuzz.ui.reports.failure import FOUND_LABEL, occurrence_text
from kfuzz.ui.reports.properties import join_properties
from kfuzz.ui.reports.silenced import join_silenced
from kfuzz.ui.reports.trouble import trouble_of

T = TypeVar("T")


def merge_reports(parts: Sequence[Document], command: Sequence[str]) -> Document:
    """The report of all parts together. Raises CaseError if they do not belong to one campaign."""
    check_seeds(parts)
    kernels = [_kernel(same) for same in _by_name(kernel for part in parts for kernel in part["kernels"])]
    fail_on: Severity = "warning" if any(part["fail_on"] == "warning" for part in parts) else "error"
    is_interrupted = any(part["exit_code"] == INTERRUPTED for part in parts)
    unusable = {
        fault: file for part in parts for fault, file in zip(part["unusable"], part["unusable_files"], strict=True)
    }
    return {
        "schema": "kfuzz-report/1",
        "command": list(command),
        "seed": parts[0]["seed"],
        "shard": "1/1",
        "device": ", ".join(dict.fromkeys(part["device"] for part in parts)),
        "started": min(part["started"] for part in parts),
        "seconds": max(part["seconds"] for part in parts),
        "stop_reason": _stop_reason([part["stop_reason"] for part in parts]),
        "exit_code": INTERRUPTED if is_interrupted else _exit_code(kernels, unusable.keys(), fail_on),
        "fail_on": fail_on,
        "trials": sum(part["trials"] for part in parts),
        "rows": sum(part["rows"] for part in parts),
        "kernels": kernels,
        "unusable": list(unusable),
        "unusable_files": list(unusable.values()),
    }


def check_seeds(parts: Sequence[Document]) -> None:
    """Raise a CaseError if a trial could be in two parts."""
    counts, seeds = ({read(part) for part in parts} for read in (_count, lambda part: part["seed"]))
    if len(counts) > 1:
        raise CaseError(f"parts of different campaigns: {', '.join(sorted(part['shard'] for part in parts))}")
    if counts != {1}:
        if len(seeds) > 1:
            raise CaseError(f"parts of different campaigns: seeds {', '.join(map(str, sorted(seeds)))}")
        places = [part["shard"] for part in parts]
        for place in places:
            if places.count(place) > 1:
                raise CaseError(f"part {place} is given twice")
        return
    names = [kernel["name"] for part in parts for kernel in part["kernels"]]
    for name in names:
        if names.count(name) > 1:
            raise CaseError(f"{name} is in two reports, and neither is a part of a campaign (--shard)")


def missing_parts(parts: Sequence[Document]) -> list[str]:
    """The parts of the campaign that are not among these."""
    count = _count(parts[0])
    return sorted({f"{place}/{count}" for place in range(1, count + 1)} - {part["shard"] for part in parts})


def _count(part: Document) -> int:
    return int(part["shard"].partition("/")[2])


def _by_name(kernels: Iterable[KernelEntry]) -> list[list[KernelEntry]]:
    """The entries of each kernel, in the order in which the kernels first occur."""
    found: dict[str, list[KernelEntry]] = {}
    for kernel in kernels:
        found.setdefault(kernel["name"], []).append(kernel)
    return list(found.values())


def _kernel(same: Sequence[KernelEntry]) -> KernelEntry:
    def first(read: Callable[[KernelEntry], T]) -> T:
        return next(filter(None, map(read, same)), read(same[0]))

    is_judged = any(not one["unjudged"] and one["trials"] for one in same)
    return {
        **same[0],
        "trials": sum(one["trials"] for one in same),
        "rows": sum(one["rows"] for one in same),
        "sizes": {name: _size([one["sizes"][name] for one in same]) for name in same[0]["sizes"]},
        "tried": _tried(each for one in same for each in one["tried"]),
        "rungs": sorted({rung for one in same for rung in one["rungs"]}),
        "unjudged_rows": sum(one["unjudged_rows"] for one in same),
        "worst_ratio": max(one["worst_ratio"] for one in same),
        "worst_ulps": reduce(larger, (one["worst_ulps"] for one in same)),
        "ratios": [sum(counts) for counts in zip(*(one["ratios"] for one in same), strict=True)],
        "error": first(lambda one: one["error"]),
        "stopped": first(lambda one: one["stopped"]),
        "unjudged": "" if is_judged else first(lambda one: one["unjudged"]),
        "hardly_tried": all(one["hardly_tried"] or not one["trials"] for one in same)
        and 0 < sum(one["trials"] for one in same) < FEW_TRIALS,
        "notes": list(dict.fromkeys(note for one in same for note in one["notes"])),
        "not_judged": sorted({reason for one in same for reason in one["not_judged"]}),
        "silenced": join_silenced(same),
        "properties": join_properties([one["properties"] for one in same]),
        "seconds": _add_seconds([one["seconds"] for one in same]),
        "size_costs": _join_costs([one["size_costs"] for one in same]),
        "source": first(lambda one: one["source"]),
        "findings": _findings(same[0]["name"], [finding for one in same for finding in one["findings"]]),
    }


def _join_costs(same: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The trials at known sizes together, and the largest of the seconds."""
    found = {name: max(one.get(name, 0.0) for one in same) for name in sorted({name for one in same for name in one})}
    return found | {"trials": sum(one.get("trials", 0) for one in same)} if found else {}


def _size(same: Sequence[SizesTried]) -> SizesTried:
    small = [one["smallest_tried"] for one in same if one["smallest_tried"] is not None]
    large = [one["largest_tried"] for one in same if one["largest_tried"] is not None]
    return {**same[0], "smallest_tried": min(small, default=None), "largest_tried": max(large, default=None)}


def _tried(every: Iterable[SizesTogether]) -> list[SizesTogether]:
    """The sizes of all parts, each once."""
    found: Counter[tuple[int, ...]] = Counter()
    for one in every:
        found[tuple(one["sizes"])] += one["trials"]
    return [{"sizes": list(sizes), "trials": trials} for sizes, trials in sorted(found.items())]


def _add_seconds(same: Sequence[dict[str, float]]) -> dict[str, float]:
    parts = sorted({part for one in same for part in one})
    return {part: round(sum(one.get(part, 0.0) for one in same), 3) for part in parts}


def _findings(kernel: str, every: list[FindingEntry]) -> list[FindingEntry]:
    """Each bucket once, with its smallest case. No warning if another part has an error of the same fault."""
    errors = {one["fault"] for one in every if _is_error(one)}
    reported = [one for one in every if _is_error(one) or one["fault"] not in errors]
    by_bucket = groupby(sorted(reported, key=lambda one: one["bucket"]), key=lambda one: one["bucket"])
    found = [_finding(list(same)) for _, same in by_bucket]
    for bug in group_by_cause(found, lambda one: one["causes"]):
        told_by = min(bug, key=partial(_headline_order, kernel))
        for one in bug:
            one["bug"] = told_by["bucket"]
            if one is not told_by:  # a bug has one case, and that of a part is another's
                one["case"], one["commands"] = None, []
    return sorted(found, key=lambda o: (not _is_error(o), o["known"], o["first_trial"], o["bucket"]))


def _headline_order(kernel: str, one: FindingEntry) -> tuple[object, ...]:
    worst = one["worst"]
    ratio = None if worst is None or worst["ratio"] is None else float(worst["ratio"])
    faint = faintness(ratio, worst is not None and ratio is None and one["kind"] == "numeric")
    has_line, is_number = one["line"] is not None, occurs_for_finite(kernel, one["causes"])
    shown = (one["kind"], one["diagnosis"], worst is not None, is_number, faint, has_line)
    return report_order(_is_error(one), *shown, one["first_trial"], one["count"], one["bucket"])


def _finding(same: Sequence[FindingEntry]) -> FindingEntry:
    smallest = min(same, key=lambda one: (one["elements"], one["smallest_trial"]))
    first, count = min(one["first_trial"] for one in same), sum(one["count"] for one in same)
    devices = list(dict.fromkeys(name for one in same for name in one["devices"]))
    confirmed = min((one["confirmed"] for one in same), key=_certainty)
    again = list(occurrence_text(first, count, devices, confirmed if len(devices) > 1 else ""))
    return {
        **smallest,
        "known": any(one["known"] for one in same),
        "kept_before": any(one["kept_before"] for one in same),
        "causes": sorted({cause for one in same for cause in one["causes"]}),
        "first_trial": first,
        "count": count,
        "devices": devices,
        "confirmed": confirmed,
        "evidence": [again if pair[0] == FOUND_LABEL else pair for pair in smallest["evidence"]],
    }


def _certainty(confirmed: str) -> int:
    """A lower number is a more certain confirmation."""
    return 0 if confirmed == CONFIRMED else 1 if confirmed == HIDDEN else 2


def _is_error(one: FindingEntry) -> bool:
    return one["severity"] == "error"


def _stop_reason(reasons: Sequence[str]) -> str:
    """Why the campaign stopped: the first of these reasons that stopped a part, else the reason of the first part."""
    return next(
        (why for why in ("interrupted", "first-finding", "max-time", "max-cases") if why in reasons), reasons[0]
    )


def _exit_code(kernels: Sequence[KernelEntry], unusable: Collection[str], fail_on: Severity) -> int:
    if any(failing(kernel, fail_on) for kernel in kernels):
        return FOUND
    could_not = any(map(trouble_of, kernels))
    is_idle = not any(kernel["rows"] or any(map(_is_error, kernel["findings"])) for kernel in kernels)
    return COULD_NOT if unusable or could_not or is_idle else NOTHING_NEW
