"""The findings of a report by bug: what tells most of it first, and what else is seen of it.

Knows the report; never how one is shown.
"""

from kfuzz.views.document import FindingEntry, KernelEntry


def by_bug(kernel: KernelEntry) -> list[list[FindingEntry]]:
    """What was found of each bug; where what tells most of it is in another report, the first that is here leads."""
    found: dict[str, list[FindingEntry]] = {}
    for one in kernel["findings"]:
        found.setdefault(one["bug"], []).append(one)
    return [sorted(every, key=lambda one: one["bucket"] != bug) for bug, every in found.items()]


def seen_in(bug: list[FindingEntry]) -> str:
    """In how many ways; nothing where it is one."""
    return f"seen in {len(bug)} ways" if len(bug) > 1 else ""
