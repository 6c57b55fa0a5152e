"""Which properties that users rely on held in a campaign, which did not, and which were not tested and why.

Knows campaigns and properties; it does not know how one is tested.
"""

from collections.abc import Iterator, Mapping, Sequence

from kfuzz.campaign.properties.find_properties import properties
from kfuzz.campaign.result import KernelResult
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.document import PropertyEntry

TOO_FEW = "no trial came to it"
MOST_NAMES = 4


def property_entries(result: KernelResult) -> dict[str, PropertyEntry]:
    """Each property of one kernel."""
    return {name: property_entry(result, name) for name in properties()}


def property_entry(result: KernelResult, name: str) -> PropertyEntry:
    """One property of one kernel."""
    progress, each = result.progress, properties()[name]
    held, not_held = progress.looks.get(name, [0, 0])
    why = "" if held or not_held else each.why_untested(result.kernel) or TOO_FEW
    claimed = each.is_claimed(result.kernel) and not each.why_untested(result.kernel)
    return {"claimed": claimed, "held": held, "not_held": not_held, "untested": why}


def join_properties(every: Sequence[Mapping[str, PropertyEntry]]) -> dict[str, PropertyEntry]:
    """The properties of one kernel in several parts of a campaign."""
    found: dict[str, PropertyEntry] = {}
    for name, one in (pair for each in every for pair in each.items()):
        known = found.get(name, {**one, "held": 0, "not_held": 0})
        held, not_held = known["held"] + one["held"], known["not_held"] + one["not_held"]
        untested = "" if held or not_held else one["untested"]
        found[name] = {"claimed": one["claimed"], "held": held, "not_held": not_held, "untested": untested}
    return found


def property_lines(results: Sequence[KernelResult]) -> Iterator[str]:
    """One line for each property that was tested or is claimed, over all kernels, and one for the others."""
    tried = [one for one in results if one.progress.trials]
    left_out = []
    for name, each in properties().items() if tried else ():
        entries = {one.kernel.name: property_entry(one, name) for one in tried}
        if all(one["untested"] and not one["claimed"] for one in entries.values()):
            left_out.append(each.WORDS)
            continue
        text = describe_one(*entries.values()) if len(tried) == 1 else describe_several(entries)
        yield f"{each.WORDS}: {text}"
    if left_out:
        yield f"not tested: {', '.join(left_out)} (--json says why)"


def describe_one(entry: PropertyEntry) -> str:
    """A property of the only kernel."""
    if entry["untested"]:
        return f"not tested: {entry['untested']}"
    trials, claim = entry["held"] + entry["not_held"], "claimed" if entry["claimed"] else "not claimed"
    if entry["not_held"]:
        return f"did not hold in {entry['not_held']} of {plural(trials, 'trial')} ({claim})"
    return f"held in {plural(trials, 'trial')} ({claim})"


def describe_several(entries: dict[str, PropertyEntry]) -> str:
    """A property of several kernels."""
    failed = [name for name, one in entries.items() if one["not_held"]]
    untested = [one for one in entries.values() if one["untested"]]
    whys = sorted({one["untested"] for one in untested}, key=lambda why: (why == TOO_FEW, why))
    more = f", or {len(whys) - 2} more reasons" if len(whys) > 2 else ""
    names = ", ".join(failed[:MOST_NAMES]) + (f" and {len(failed) - MOST_NAMES} more" * (len(failed) > MOST_NAMES))
    parts = [
        f"held in {len(entries) - len(failed) - len(untested)} of {plural(len(entries), 'kernel')}"
        if len(untested) < len(entries)
        else "",
        f"did not hold in {names}" if failed else "",
        f"not tested in {len(untested)}: {' or '.join(whys[:2])}{more}" if untested else "",
    ]
    return "; ".join(filter(None, parts))
