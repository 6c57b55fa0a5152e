"""The report as one page for a browser: a single file that needs no network and no other file.

The most important comes first: what the run does not show, then the findings by bug with their source lines, then each
kernel with its figures. Knows the report and the page's assets; it does not know how anything was found.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from kfuzz.campaign.trials.defect import plain_bucket
from kfuzz.kinds import KINDS
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.accuracy import describe_error, describe_unjudged, judged_share
from kfuzz.ui.reports.by_bug import by_bug, errors_of, verdict
from kfuzz.ui.reports.document import Document, FindingEntry, Json, KernelEntry, SmallAnswer
from kfuzz.ui.reports.inferred import inferred_texts
from kfuzz.ui.reports.silenced import silence_texts

ASSETS = Path(__file__).with_name("page_assets")
LONGEST_SOURCE = 200_000
"""The page shows the lines of a kernel's text only if it has no more characters."""
NOT_FACTS = ("where", "file")
STATES = ("broken", "not run", "kept")
"""In the order of the table: what needs your attention comes first."""
LONGER = {"minimize": "minimize, and write a Python file that reproduces it", "paste": "replay without the case's file"}
"""What a command does, if its name alone does not say it."""


def as_page(runs: Sequence[Document]) -> str:
    """The page of one run, or of several that belong together."""
    page = (ASSETS / "page.html").read_text(encoding="utf-8")
    for mark, name in (("/*STYLE*/", "style.css"), ("/*SCRIPT*/", "script.js")):
        page = page.replace(mark, (ASSETS / name).read_text(encoding="utf-8"))
    # Within a script element only `<` could end it or begin a comment; in JSON, `<` occurs only in strings.
    text = json.dumps(_content(runs), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return page.replace("/*DATA*/", text)


def _content(runs: Sequence[Document]) -> Json:
    kernels = [kernel for run in runs for kernel in run["kernels"]]
    bugs = [(run, kernel, bug) for run in runs for kernel in run["kernels"] for bug in by_bug(kernel)]
    bugs.sort(key=lambda one: (one[2][0]["known"], one[2][0]["severity"] == "warning"))
    return {
        "verdict": verdict(kernels),
        "facts": " | ".join(map(_facts, runs)),
        "good": all(run["exit_code"] == 0 for run in runs),
        "voids": [said for run in runs for said in voids(run)],
        "findings": [_finding(run["device"], kernel, bug) for run, kernel, bug in bugs],
        "kernels": sorted(map(_card, kernels), key=lambda card: STATES.index(str(card["state"]))),
        "kinds": {kind: KINDS[kind].page for kind in sorted({one[2][0]["kind"] for one in bugs})},
        "sources": {kernel["name"]: _lines(kernel) for kernel in kernels if kernel["findings"]},
        "foot": " | ".join(" ".join(run["command"]) for run in runs),
    }


def _facts(run: Document) -> str:
    left = sum(kernel["unjudged_rows"] for kernel in run["kernels"])
    return (
        f"{plural(run['trials'], 'trial')} of {plural(len(run['kernels']), 'kernel')}, "
        f"{plural(run['rows'], 'row')}{judged_share(run['rows'], left)}, "
        f"{run['seconds']:.1f} s on the {run['device']}, seed {run['seed']}, {run['started']}"
    )


def voids(run: Document) -> Iterator[str]:
    """Why this run does not show that a kernel is right."""
    if run["stop_reason"] == "interrupted":
        yield "the run was interrupted"
    for kernel in run["kernels"]:
        name = kernel["name"]
        if kernel["error"]:
            yield f"{name} could not be run: {kernel['error'].splitlines()[0]}"
        elif not kernel["trials"]:
            yield f"{name} was not tried"
        elif kernel["unjudged"]:
            yield f"{name}: {kernel['unjudged']}"
        if kernel["stopped"] and not kernel["error"]:
            yield f"{name} was not tried to the end: {kernel['stopped']}"
        if kernel["unjudged_rows"]:
            reasons = kernel["not_judged"]
            left = describe_unjudged(kernel["rows"], kernel["unjudged_rows"], reasons, len(reasons))
            yield f"{name}: {left}"
        else:
            yield from (f"{name}, not judged: {reason}" for reason in kernel["not_judged"])
        yield from (f"{name}: {note}" for note in kernel["notes"])
        yield from inferred_texts(name, kernel["inferred"])
        yield from (f"{name}: {note}" for note in silence_texts(kernel["silenced"]))
    yield from run["unusable"]
    for kernel in run["kernels"]:
        if beyond := _sizes_not_tried(kernel):
            yield f"{kernel['name']}: sizes that were not reached: {beyond}"


def _sizes_not_tried(kernel: KernelEntry) -> str:
    """The claimed sizes that no judged answer had: `cols beyond 512 of 1048576`; empty if no answer was judged."""
    every = ((name, axis["smallest_tried"], axis["largest_tried"], axis) for name, axis in kernel["sizes"].items())
    parts = []
    for name, smallest, largest, axis in every:
        if smallest is not None and smallest > axis["least"]:
            parts.append(f"{name} from {axis['least']} to below {smallest}")
        if largest is not None and largest < axis["most"]:
            parts.append(f"{name} beyond {largest} of {axis['most']}")
    return ", ".join(parts)


def _finding(device: str, kernel: KernelEntry, bug: Sequence[FindingEntry]) -> Json:
    one = bug[0]
    table: Json = {**one}
    taken = ("bucket", "kind", "severity", "known", "message", "where", "words", "detail", "commands")
    places = ((one["file"], one["line"]), (one["other_file"], one["other_line"]))
    own = PurePath(kernel["path"]).name
    lines = [line for file, line in places if line is not None and PurePath(file).name == own]  # of the text shown
    return {
        **{name: table[name] for name in taken},
        "bucket": plain_bucket(one["bucket"]),
        "kernel": kernel["name"],
        "lines": list(dict.fromkeys(lines)),
        "picture": _picture(one["picture"]) if one["picture"] else None,
        "threads": one["threads"],
        "in_file": one["line"] is not None,
        "facts": [*_facts_of(one), ["device", device]],
        "commands": [[LONGER.get(label, label), said] for label, said in one["commands"] if label not in NOT_FACTS],
        "also": [{"bucket": other["bucket"], "case": other["case"]} for other in bug[1:]],
    }


def _facts_of(one: FindingEntry) -> list[list[str]]:
    """The statements of the terminal that are not elsewhere in the entry."""
    return [pair for pair in one["evidence"] if pair[0] not in NOT_FACTS and pair[1] != one["message"]]


def _picture(answer: SmallAnswer) -> Json:
    """An answer as rows of cells; `wrong` maps a place to the wanted value and its interval."""
    shape = answer["shape"]
    cols = shape[-1] if shape else 1
    wrong = {}
    for one in answer["wrong"]:
        place = 0
        for size, at in zip(shape, one["index"], strict=True):
            place = place * size + at
        wrong[place] = [one["want"], one["lo"], one["hi"]]
    rows = len(answer["got"]) // cols if cols else 0
    return {"output": answer["output"], "rows": rows, "cols": cols, "got": answer["got"], "wrong": wrong}


def _card(kernel: KernelEntry) -> Json:
    state = (
        "broken"
        if errors_of(kernel)
        else "not run"
        if kernel["error"] or kernel["unjudged"] or not kernel["rows"]
        else "kept"
    )
    firsts = [one["first_trial"] for one in errors_of(kernel)]
    found = f", first seen broken in trial {min(firsts)}" if firsts else ""
    return {
        "name": kernel["name"],
        "state": state,
        "says": f"{state}: {kernel['op']}, {plural(kernel['trials'], 'trial')}, {plural(kernel['rows'], 'row')}{found}",
        "op": kernel["op"],
        "rows": kernel["rows"],
        "worst": f"{kernel['worst_ratio']:.3g}",
        "ratios": kernel["ratios"],
        "maps": list(_maps(kernel)),
        "firsts": [[bug[0]["first_trial"], bug[0]["bucket"]] for bug in by_bug(kernel)],
        "trials": kernel["trials"],
        "seconds": list(kernel["seconds"].items()),
        "notes": list(filter(None, [kernel["error"], kernel["stopped"], _accuracy(kernel)])),
    }


def _accuracy(kernel: KernelEntry) -> str:
    """The worst error of what was judged; empty if nothing was."""
    return describe_error(kernel["rows"] - kernel["unjudged_rows"], kernel["worst_ulps"], kernel["worst_ratio"])


def _maps(kernel: KernelEntry) -> Iterator[Json]:
    """The sizes tried, two axes at a time, and a last odd one alone; nothing if no answer was judged."""
    axes = [
        {
            "name": name,
            "lo": axis["least"],
            "hi": axis["most"],
            "from": axis["smallest_tried"],
            "to": axis["largest_tried"],
        }
        for name, axis in kernel["sizes"].items()
    ]
    for first in range(0, len(axes), 2) if kernel["tried"] else ():
        cells: Counter[tuple[int, ...]] = Counter()
        for one in kernel["tried"]:
            cells[tuple(one["sizes"][first : first + 2])] += one["trials"]
        yield {"axes": axes[first : first + 2], "cells": [[list(sizes), count] for sizes, count in cells.items()]}


def _lines(kernel: KernelEntry) -> list[str]:
    """The text of a kernel, line by line."""
    source = kernel["source"] or ""
    return source.split("\n") if len(source) <= LONGEST_SOURCE else []
