"""The findings that comments in the source silence, and the comments that silenced nothing: for every report.

Knows results and the report's fields; never how a comment is read.
"""

from collections.abc import Iterator, Mapping, Sequence

from kfuzz.campaign.result import KernelResult
from kfuzz.campaign.state import Discovery
from kfuzz.common.printable import shown_path
from kfuzz.common.text.headers import sources
from kfuzz.common.text.silences import silences_in
from kfuzz.kinds import Kind
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.document import KernelEntry, SilencedFinding


def silenced_findings(result: KernelResult) -> list[SilencedFinding]:
    """What each comment silenced, then the comments that silenced nothing though their kernel was tried."""
    kernel = result.kernel
    texts = sources(kernel.path, kernel.source, kernel.flags) if result.progress.trials else ()
    return entries_of(result.silenced, {shown_path(one.path): one.text for one in texts})


def entries_of(found: Sequence[Discovery], texts: Mapping[str, str]) -> list[SilencedFinding]:
    """An entry for each of these discoveries, and for each comment in these files that silenced none of them."""
    used = {(one.defect.kind, one.defect.silenced) for one in found}
    every = ((file, one) for file, text in texts.items() for one in silences_in(text))
    idle = [_entry(one.kind, f"{file}:{one.line}", one.reason, 0) for file, one in every
            if (one.kind, one.reason) not in used]  # fmt: skip
    return [*(_entry(one.defect.kind, one.defect.where, one.defect.silenced, one.count) for one in found), *idle]


def _entry(kind: Kind, where: str, reason: str, count: int) -> SilencedFinding:
    return {"kind": kind, "where": where, "reason": reason, "count": count}


def silence_texts(found: Sequence[SilencedFinding]) -> Iterator[str]:
    """A line for each."""
    for one in found:
        place = f"{one['kind']} at {one['where']}"
        if one["count"]:
            yield f"silenced: {place}, in {plural(one['count'], 'trial')}: {one['reason']}"
        else:
            yield f"silences nothing: kfuzz: allow {place}: {one['reason']}"


def place_of(one: SilencedFinding) -> tuple[str, int]:
    """File and line."""
    file, _, line = one["where"].rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (one["where"], 1)


def join_silenced(same: Sequence[KernelEntry]) -> list[SilencedFinding]:
    """The silenced findings of the parts of a campaign, each once with all its trials."""
    counts: dict[tuple[Kind, str, str], int] = {}
    for entry in same:
        for one in entry["silenced"]:
            key = one["kind"], one["where"], one["reason"]
            counts[key] = counts.get(key, 0) + one["count"]
    return [_entry(*key, count) for key, count in counts.items()]
