"""A state of kfuzz-campaign/6 as one of kfuzz-campaign/7: what was text there is typed here.

Knows how version 6 worded a refusal, a trial that was not run, and a pattern.
"""

import re
from typing import Any

from kfuzz.devices import Untried

REFUSAL = re.compile(r"refused: (?:line (?P<line>\d+): )?(?P<words>.*)", re.DOTALL)
UNTRIED = {f"not tried beyond 2^31 elements: {one.value}": one.name for one in Untried}
STRIDED = re.compile(r"every (?P<step>\d+)th from (?P<first>\d+)")
SPAN = re.compile(r"(?P<region>head|tail|interior), (?P<first>\d+)(?:\.\.(?P<last>\d+))?")


def to_version_7(document: dict[str, Any]) -> dict[str, Any]:
    """The document in version 7."""
    kernels = {name: _progress(table) for name, table in document["kernels"].items()}
    return {**document, "schema": "kfuzz-campaign/7", "kernels": kernels}


def _progress(table: dict[str, Any]) -> dict[str, Any]:
    refusals = [found for one in table["reasons"] if (found := REFUSAL.fullmatch(one))]
    untried = [UNTRIED[one] for one in table["reasons"] if one in UNTRIED]
    typed = {*UNTRIED, *(found[0] for found in refusals)}
    return {
        **table,
        "reasons": [one for one in table["reasons"] if one not in typed],
        "refusals": [{"words": one["words"], "line": int(one["line"]) if one["line"] else None} for one in refusals],
        "untried": untried,
        "discoveries": [{**one, "defect": _defect(one["defect"])} for one in table["discoveries"]],
    }


def _defect(table: dict[str, Any]) -> dict[str, Any]:
    extent = table["extent"]
    return {**table, "extent": extent and {**extent, "pattern": _pattern(extent["pattern"])}}


def _pattern(text: str) -> dict[str, Any]:
    if found := STRIDED.fullmatch(text):
        return {"region": "strided", "first": int(found["first"]), "step": int(found["step"])}
    if found := SPAN.fullmatch(text):
        return {"region": found["region"], "first": int(found["first"]), "last": int(found["last"] or found["first"])}
    return {"region": "row" if text == "the whole row" else ""}
