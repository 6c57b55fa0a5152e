"""Converts a state of kfuzz-campaign/6 to kfuzz-campaign/7: texts there are typed values here.

Knows how version 6 worded a refusal, a trial that was not run, and a pattern.
"""

import re
from typing import Any

from kfuzz.devices import Untried

REFUSAL = re.compile(r"refused: (?:line (?P<line>\d+): )?(?P<words>.*)", re.DOTALL)
UNTRIED = {
    f"not tried beyond 2^31 elements: {words}": one.name
    for one, words in (
        (Untried.DOES_NOT_FIT, "the arrays do not fit on the card as it is now"),
        (Untried.CARD_IN_USE, "another such trial had the card"),
        (Untried.TOO_SLOW, "it had not ended after ten seconds, and may only be slow"),
    )
}
STRIDED = re.compile(r"every (?P<step>\d+)th from (?P<first>\d+)")
SPAN = re.compile(r"(?P<region>head|tail|interior), (?P<first>\d+)(?:\.\.(?P<last>\d+))?")


def to_version_7(document: dict[str, Any]) -> dict[str, Any]:
    """The document in version 7."""
    kernels = {name: _progress(table) for name, table in document["kernels"].items()}
    return {**document, "schema": "kfuzz-campaign/7", "kernels": kernels}


def _progress(table: dict[str, Any]) -> dict[str, Any]:
    refusals = [match for one in table["reasons"] if (match := REFUSAL.fullmatch(one))]
    untried = [UNTRIED[one] for one in table["reasons"] if one in UNTRIED]
    typed = {*UNTRIED, *(match[0] for match in refusals)}
    return {
        **table,
        "reasons": [one for one in table["reasons"] if one not in typed],
        "refusals": [{"words": one["words"], "line": int(one["line"]) if one["line"] else None} for one in refusals],
        "untried": untried,
        "rungs": [],
        "discoveries": [{**one, "defect": _defect(one["defect"])} for one in table["discoveries"]],
    }


def _defect(table: dict[str, Any]) -> dict[str, Any]:
    extent = table["extent"]
    return {**table, "extent": extent and {**extent, "pattern": _pattern(extent["pattern"])}}


def _pattern(text: str) -> dict[str, Any]:
    if match := STRIDED.fullmatch(text):
        return {"region": "strided", "first": int(match["first"]), "step": int(match["step"])}
    if match := SPAN.fullmatch(text):
        return {"region": match["region"], "first": int(match["first"]), "last": int(match["last"] or match["first"])}
    return {"region": "row" if text == "the whole row" else ""}
