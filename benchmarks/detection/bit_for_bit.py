"""Launches of public Triton kernels on a GPU, and the same PTX on the cpu device: are all bits equal?

    python -m benchmarks.detection measure bit_for_bit FOLDER... [--jobs 2] [--keep FILE]

A FOLDER has a folder for each kernel, as benchmarks.detection.any_kernel has it. Its `solution` runs on the GPU with
the inputs of get_inputs(); of each launch of another kernel, or of the same one compiled otherwise, the PTX, the
arguments and all arrays are kept, before and after (bit_for_bit_process.py). The cpu device then runs this PTX on the
arrays from before. Neither Triton nor ptxas fuses products with sums on its own here, so what both run is the text. A
kernel is `exact` if all of its arithmetic is IEEE's; others are named by what is not. Keeps names and numbers.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.measurement import Figures, Record

SECONDS = 200
NOTHING = {"elements": 0, "changed": 0, "different": 0, "largest": 0.0, "seconds": 0.0, "why": ""}


def of_folder(folder: Path) -> list[Record]:
    """The rows of one folder, from a process of its own."""
    origin = json.loads((folder / "origin.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as cache:
        more = {"TRITON_CACHE_DIR": cache, "TRITON_DEFAULT_FP_FUSION": "0", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "benchmarks.detection.bit_for_bit_process", str(folder)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False, env=os.environ | more
            )
            said, error = done.stdout, done.stderr.strip().splitlines()[-1:] if done.returncode else []
        except subprocess.TimeoutExpired as late:
            said, error = (late.stdout or b"").decode(), ["did not end"]
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    rows += [{"kernel": origin["name"], "kind": "does not run", "why": error[0][:200]}] if error else []
    place = {"repository": origin["repository"], "folder": f"{folder.parent.name}/{folder.name}"}
    return [{**place, "kernel": one["kernel"], "kind": one["kind"], **NOTHING, **one} for one in rows]


def measure(options: Sequence[str]) -> Figures:
    """A row for each launch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="kernels at once")
    parser.add_argument("--keep", type=Path, help="a file to which rows are appended as they come")
    chosen = parser.parse_args(options)
    every = [one.parent for folder in chosen.folders for one in sorted(folder.glob("*/problem.py"))]
    rows: list[Record] = []
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for made in pool.map(of_folder, every):
            rows += made
            if chosen.keep:
                with chosen.keep.open("a", encoding="utf-8") as file:
                    file.writelines(f"{json.dumps(one)}\n" for one in made)
    return Figures({}, {"launches": rows})
