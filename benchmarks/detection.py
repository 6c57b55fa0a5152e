"""Which device sees which broken kernel: a table in Markdown, from one run on each device.

python benchmarks/detection.py cpu > benchmarks/detection/cpu.json              on any machine
python benchmarks/detection.py gpu > benchmarks/detection/gpu.json              on one with a card
python benchmarks/detection.py sanitize > benchmarks/detection/sanitize.json    likewise
python benchmarks/detection.py table benchmarks/detection/*.json > benchmarks/DETECTION.md
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.devices import Device
from kfuzz.find.device import open_device
from kfuzz.trials.trial import run_trial

MOST_TRIALS = {"cpu": 600, "gpu": 600, "sanitize": 2}
AT_ONCE = {"cpu": 2, "gpu": 4, "sanitize": 8}
FURTHER = 20
"""Trials after the first error in which the named kind may still turn up."""
SIZED = 8
"""The sanitizer's few trials begin with this one: the first ones of a campaign are too small to need a second warp."""
SEED, TIMEOUT = 0, 2.0
WARNING = " (warning)"

HEAD = """# Which device sees which broken kernel

Every kernel of `kernels/broken/` has one defect, and its front matter names the finding that must be reported for it.
A cell lists what the first trials of a campaign showed (seed 0), each with the number of the trial that was first to
show it; the named finding in bold. Some defects leave no trace in a GPU's results: a barrier or a fence that the
hardware happens not to need, a read beside a shared array whose value is not used. Those the cpu device sees. Written
by `benchmarks/detection.py`, whose first lines say how.
"""

Seen = dict[str, int]


def seen_by(manner: str, kernel: Kernel) -> tuple[str, Seen]:
    """Each kind of error that the first trials showed, with the number of the trial that was first."""
    device = open_device("gpu" if manner == "sanitize" else manner, sanitize=manner == "sanitize")
    try:
        return kernel.name, search(manner, kernel, device)
    finally:
        device.close()


def search(manner: str, kernel: Kernel, device: Device) -> Seen:
    """Try until the named kind is seen, or a while after another error, or often enough."""
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


def measured(manner: str) -> dict[str, Seen]:
    """What every broken kernel shows on one device."""
    broken = [kernel for kernel in discover() if kernel.broken]
    with ThreadPoolExecutor(AT_ONCE[manner]) as pool:
        return dict(pool.map(lambda kernel: seen_by(manner, kernel), broken))


def as_table(columns: dict[str, dict[str, Seen]]) -> str:
    """One row a kernel; the named kind first, in bold, then what else was seen."""
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


def document(files: list[Path]) -> str:
    """The page that holds the table, from the results of each device."""
    columns = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}
    return f"{HEAD}\n{as_table(columns)}\n"


def main(what: str, *files: str) -> None:
    if what == "table":
        print(document([Path(file) for file in files]), end="")
    else:
        print(json.dumps(measured(what), indent=1, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
