"""Measure the cost of kernels that end their process: `python -m benchmarks.cost.crashes [--device gpu] [--cases 300]`.

It fuzzes every broken kernel whose claim declares an illegal access, by itself, for so many trials, with the command
that a person would type: seconds from the command to its end, the findings, and whether kfuzz gave the kernel up. An
illegal access ends the context of a GPU for good, so each such trial costs a process of its own
(fuzz/campaign/danger.py).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from kfuzz.claims.kernel import KERNELS, discover

KINDS = ("illegal-address", "misaligned", "out-of-bounds")
AIM = 20.0
"""Seconds for 300 trials, with the start of Python and the compiler."""


class Cost(NamedTuple):
    """The result of one campaign."""

    kernel: str
    seconds: float
    trials: int
    buckets: list[str]
    stopped: str


def cost(kernel: str, device: str, cases: int) -> Cost:
    """Fuzz one kernel, in a temporary folder."""
    with tempfile.TemporaryDirectory() as out:
        words = ["fuzz", kernel, "--device", device, "--max-cases", str(cases), "--seed", "7", "--out", out]
        files = ["--corpus", f"{out}/corpus", "--json", f"{out}/run.json"]
        began = time.monotonic()
        subprocess.run([sys.executable, "-m", "kfuzz", *words, *files], capture_output=True, check=False)
        seconds = time.monotonic() - began
        (told,) = json.loads(Path(out, "run.json").read_text(encoding="utf-8"))["kernels"]
    return Cost(kernel, seconds, told["trials"], [one["bucket"] for one in told["findings"]], told["stopped"] or "")


def main() -> None:
    """Read the arguments, and print a line for each kernel as it ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--cases", type=int, default=300)
    asked = parser.parse_args()
    names = [one.name for one in discover(KERNELS) if one.broken is not None and one.broken.kind in KINDS]
    for name in names:
        one = cost(name, asked.device, asked.cases)
        late = "" if one.seconds <= AIM else f", more than {AIM:g} s"
        found = "; ".join(bucket.partition(": ")[2] for bucket in one.buckets)
        print(f"{one.kernel:32} {one.seconds:5.1f} s{late}, {one.trials} trials: {found}. {one.stopped}", flush=True)


if __name__ == "__main__":
    main()
