"""One kernel under several versions of Triton: what kfuzz finds in what each of them compiles.

    python -m benchmarks.detection measure compilers FOLDER VERSION=SITE... [--first 30] [--keep ROWS]

FOLDER is a draw as benchmarks.detection.any_kernel has them. A SITE is a folder into which `pip install --no-deps
--target` has put that version of Triton; an empty one stands for the version that is installed. The first kernels of
the draw that have a verdict with the version that is named first are run with the same six cases under each version, a
kernel at a time under all of them. Keeps names, figures, kfuzz's own words, and the kind, severity and line of each
finding; no text of the kernels.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.detection.any_reference import CASES, SECONDS, outcome
from benchmarks.measurement import Figures, Record

VERDICTS = ("judged", "warned of", "accused")


def measure(options: Sequence[str]) -> Figures:
    """A row for each kernel and version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("versions", nargs="+", metavar="VERSION=SITE", help="the installed one first")
    parser.add_argument("--first", type=int, default=30, help="so many kernels that are judged")
    parser.add_argument("--keep", type=Path, help="a file: each row is appended as it comes, and all rows there count")
    chosen = parser.parse_args(options)
    sites = dict(one.split("=", 1) for one in chosen.versions)
    rows = read_rows(chosen.keep)
    for row in missing_rows(chosen.folder, sites, chosen.first, rows):
        rows.append(row)
        if chosen.keep:
            with chosen.keep.open("a", encoding="utf-8") as file:
                print(json.dumps(row), file=file)
    return Figures({}, {"runs": rows})


def read_rows(path: Path | None) -> list[Record]:
    lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
    return [json.loads(line) for line in lines]


def missing_rows(folder: Path, sites: dict[str, str], first: int, known: Sequence[Record]) -> Iterator[Record]:
    """The rows of kernels and versions that are not among those that are known."""
    seen = {(one["folder"], one["version"]): one for one in known}
    judged, (installed, *_) = 0, sites
    for one in sorted(folder.glob("*/origin.json")):
        if judged == first:
            return
        for version, site in sites.items():
            key = (one.parent.name, version)
            if key not in seen:
                seen[key] = judge_under(one.parent, version, site)
                yield seen[key]
            if version == installed and seen[key]["outcome"] not in VERDICTS:
                break
        else:
            judged += 1


def judge_under(folder: Path, version: str, site: str) -> Record:
    """How a kernel is judged under a version of Triton."""
    origin = json.loads((folder / "origin.json").read_text(encoding="utf-8"))
    with TemporaryDirectory() as made:
        report = Path(made) / "report.json"
        command = [sys.executable, "-m", "kfuzz", "fuzz", "solution.py", "--reference", "problem.py:reference"]
        command += ["--entry", "solution", "--device", "cpu", "--max-cases", str(CASES), "--seed", "1"]
        command += ["--corpus", made, "--json", str(report)]
        paths = [site, *filter(None, [os.environ.get("PYTHONPATH")])] if site else []
        environment = {**os.environ, **({"PYTHONPATH": os.pathsep.join(paths)} if paths else {})}
        began = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
            )
            said = json.loads(report.read_text(encoding="utf-8")) if report.exists() else None
            seen = outcome(said, done.stderr + done.stdout)
        except subprocess.TimeoutExpired:
            said, seen = None, {"outcome": "did not end", "why": "", "rows": 0, "judged": 0}
    seconds = round(time.monotonic() - began, 1)
    found = [finding for kernel in (said or {}).get("kernels", ()) for finding in findings_of(kernel)]
    return {"folder": folder.name, "version": version, **origin, **seen, "findings": found, "seconds": seconds}


def findings_of(kernel: Record) -> Iterator[Record]:
    """The kind, severity and line of each finding, also of those that another one of the same bug stands for."""
    for one in kernel.get("findings", ()):
        yield {name: one.get(name) for name in ("kind", "severity", "line", "bug")}
