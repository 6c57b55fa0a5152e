"""Tables in Markdown of the broken kernels that each device and each rule in use elsewhere finds, from one run of each.

    python -m benchmarks.detection.exhibits [cpu] [gpu] [sanitize] [rivals] [--missing]

Each of these is measured and kept in data/exhibits; gpu and sanitize need a GPU. The tables show all kept results.
--missing measures only the kernels that have none.
"""

import json
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.detection.rival_trials import questions, tally
from benchmarks.detection.rivals import RIVALS, are_asked
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.cpu.device import CpuDevice
from kfuzz.devices import Device
from kfuzz.find.device import open_device
from kfuzz.trials.trial import run_trial

FOLDER = Path(__file__).with_name("data") / "exhibits"
DEVICES = ("cpu", "gpu", "sanitize")
MOST_TRIALS = {"cpu": 600, "gpu": 600, "sanitize": 2}
AT_ONCE = {"gpu": 14, "sanitize": 8}
"""Number of processes; otherwise one for each core."""
FURTHER = 20
"""Trials after the first error in which the named kind may still turn up."""
SIZED = 8
"""The sanitizer's few trials begin with this one: the first ones of a campaign are too small to need a second warp."""
SEED, TIMEOUT = 0, 2.0
WARNING = " (warning)"
MISSING = "--missing"

HEAD = """# Which device sees which broken kernel

Every kernel of `kernels/broken/` has one defect, and its front matter names the finding that must be reported for it.

## Our devices

A cell lists the findings of the first trials of a campaign (seed 0), each with the number of the first trial that
shows it; the named finding is in bold. Some defects leave no trace in a GPU's results: a barrier or a fence that the
hardware happens not to need, or a read next to a shared array whose value is not used. The cpu device finds those.
"""
OTHERS = """
## The rules in use elsewhere

The same kernels, on the cpu device, with the inputs and tolerances of
[the run of every bug](#every-bug-of-29-kernels-and-the-rules-in-use-elsewhere). A cell has the launch at
which each rule first rejects an answer, - if it accepts all of them, and nothing if it is not asked because its
tolerances are for float32. A launch that crashes or never ends counts as rejected. *gpuemu, adversarial values* is left
out: it rejects every kernel, correct ones too.
"""
LEFT_OUT = "gpuemu, adversarial values"

Seen = dict[str, int]


def seen_by(manner: str, kernel: Kernel) -> Seen:
    """Each kind of error that the first trials show, with the number of the first such trial."""
    with closing(open_device("gpu" if manner == "sanitize" else manner, sanitize=manner == "sanitize")) as device:
        return search(manner, kernel, device)


def rejected_by(kernel: Kernel) -> Seen:
    """Each rival that rejects the kernel, with the number of the launch; 0 for those that accept it."""
    found = {}
    with CpuDevice() as device:
        for rival in RIVALS if are_asked(kernel) else ():
            one = tally(rival, questions(rival, kernel), kernel, "", device)
            found[rival.name] = one.trials if one.rejected else 0
    return found


def search(manner: str, kernel: Kernel, device: Device) -> Seen:
    """Run trials until one shows the named kind, for a while after another error, or up to a limit."""
    found: Seen = {}
    named = kernel.broken.kind if kernel.broken else ""
    for index in range(MOST_TRIALS[manner]):
        first_error = min((when for kind, when in found.items() if not kind.endswith(WARNING)), default=None)
        if named in found or (first_error is not None and index > first_error + FURTHER):
            break
        attempt = attempt_of(kernel, SEED, index + SIZED if manner == "sanitize" else index)
        probe = probe_of(kernel, SEED, index, 3, TIMEOUT)
        if manner == "sanitize":
            probe = replace(probe, check=True)
        for defect in run_trial(kernel, attempt.case, attempt.tune, device, probe).defects:
            kind = defect.kind if defect.severity == "error" else defect.kind + WARNING
            found.setdefault(kind, index + 1)
    return found


def measure_exhibits(manner: str, known: Mapping[str, Seen]) -> dict[str, Seen]:
    """The findings in broken kernels on one device, or by the rivals; Ctrl-C ends it and keeps finished work.

    `known`: kernels whose results are kept.
    """
    one = rejected_by if manner == "rivals" else partial(seen_by, manner)
    every = [kernel for kernel in discover() if kernel.broken]
    left = [kernel for kernel in every if kernel.name not in known]
    found = {kernel.name: known[kernel.name] for kernel in every if kernel.name in known}
    with ProcessPoolExecutor(AT_ONCE.get(manner, os.cpu_count()), mp_context=get_context("spawn")) as pool:
        asked = {pool.submit(one, kernel): kernel.name for kernel in left}
        try:
            for done in as_completed(asked):
                found[asked[done]] = done.result()
                print(f"{len(found)} of {len(every)}: {asked[done]}: {done.result()}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
    return found


def as_table(columns: dict[str, dict[str, Seen]]) -> str:
    """One row a kernel; the named kind first, in bold, then other findings."""
    lines = [f"| kernel | named | {' | '.join(columns)} |", f"|{'---|' * (len(columns) + 2)}"]
    for kernel in discover():
        if not kernel.broken:
            continue
        named = kernel.broken.kind
        cells = [cell(seen.get(kernel.name), named) for seen in columns.values()]
        lines.append(f"| `{kernel.name}` | {named} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(seen: Seen | None, named: str) -> str:
    if seen is None:
        return "not run"
    ordered = sorted(seen, key=lambda kind: (kind != named, seen[kind]))
    return ", ".join(f"**{kind}** {seen[kind]}" if kind == named else f"{kind} {seen[kind]}" for kind in ordered) or "-"


def rival_table(seen: dict[str, Seen]) -> str:
    """One row for each kernel, and one for all of them."""
    names = [rival.name for rival in RIVALS if rival.name != LEFT_OUT]
    broken = [kernel.name for kernel in discover() if kernel.broken]
    asked = [name for name in broken if seen.get(name)]
    lines = [f"| kernel | {' | '.join(names)} |", f"|{'---|' * (len(names) + 1)}"]
    for name in broken:
        cells = [str(seen[name][rival] or "-") if name in asked else "" for rival in names]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    counts = [sum(seen[name][rival] > 0 for name in asked) for rival in names]
    lines.append(f"| seen, of {len(asked)} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


def document() -> str:
    """The page with the tables, from the results of each device and of the rivals."""
    files = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.json")}
    ours = {name: files[name] for name in DEVICES if name in files}
    return f"{HEAD}\n{as_table(ours)}\n{OTHERS}\n{rival_table(files['rivals'])}\n"


def main(*words: str) -> None:
    """Measure what the command line names, keep it, and print the tables of all kept results."""
    for manner in words:
        if manner == MISSING:
            continue
        file = FOLDER / f"{manner}.json"
        known = json.loads(file.read_text(encoding="utf-8")) if MISSING in words and file.exists() else {}
        text = json.dumps(measure_exhibits(manner, known), indent=1, sort_keys=True) + "\n"
        file.write_text(text, encoding="utf-8")
    print(document(), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
