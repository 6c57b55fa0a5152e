"""Judged trials a second beside those of an older kfuzz, in turns on one machine, and where the time goes.

    python -m benchmarks.cost measure trial_rate FOLDER [--device gpu] [--jobs 16] [--trials 600] [--rounds 2]

FOLDER holds `kfuzz/`, the package as it was, with `oracle` and `kernels` in it:

    git archive COMMIT fuzz oracle kernels | tar x -C FOLDER; cd FOLDER; mv fuzz kfuzz; mv oracle kernels kfuzz

Both run the same campaign over eight kernels, with one process and with `--jobs` of them; each round changes their
order, and a first one, which compiles, does not count. `--trials` are those of each kernel: from 967 on
compute-sanitizer watches some of them, if it is installed, which takes seconds. `--copies`: under how many names each
kernel takes part, with trials of its own for each.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measurement import Figures, Record
from kfuzz.claims.kernel import KERNELS

HERE = Path(__file__).parent
NAMES = (
    "softmax/online_block", "softmax/online_warp", "rms_norm/warp", "gelu/elementwise", "reduce/block_sum",
    "sgemm/tiled", "argmin/warp", "cross_entropy/warp",
)  # fmt: skip
FEW = 4
"""One process runs so many times fewer trials."""
SEED = 40


def run(package: Path | None, device: str, jobs: int, trials: int, copies: int = 1) -> dict[str, Any]:
    """A campaign with one kfuzz."""
    path = os.pathsep.join(filter(None, [str(package or ""), os.environ.get("PYTHONPATH", "")]))
    files = [str(KERNELS / f"{name}.cu") for name in NAMES] * copies
    words = [sys.executable, str(HERE / "trial_rate_campaign.py"), device, *map(str, (jobs, trials, SEED)), *files]
    with tempfile.TemporaryDirectory() as elsewhere:  # or the package of the checkout would come first
        done = subprocess.run(
            words, env={**os.environ, "PYTHONPATH": path}, cwd=elsewhere, stdout=subprocess.PIPE, text=True, check=True
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(arguments: Sequence[str]) -> Figures:
    """Measure both in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--trials", type=int, default=600)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args(arguments)
    packages = {"before": asked.before.resolve(), "now": None}
    most = asked.trials * len(NAMES) * asked.copies
    for package in packages.values():
        run(package, asked.device, asked.jobs, min(most, 2 * len(NAMES) * FEW), asked.copies)
    rates: list[Record] = []
    kinds: list[Record] = []
    digests: dict[int, set[str]] = {}
    for jobs, trials in ((1, max(most // FEW, len(NAMES))), (asked.jobs, most)):
        for number in range(asked.rounds):
            for name in (list(packages), list(packages)[::-1])[number % 2]:
                made = run(packages[name], asked.device, jobs, trials, asked.copies)
                digests.setdefault(jobs, set()).add(made["digest"])
                of_kinds = made.pop("kinds")
                times = made.pop("times")
                ends = {"began": times[0], "ended": times[-1]}
                rates.append({"kfuzz": name, "processes": jobs, "round": number + 1, **made, **ends})
                kinds += [
                    {"kfuzz": name, "processes": jobs, "round": number + 1, **one}
                    for one in sorted(of_kinds, key=lambda one: -one["trials"])
                ]
                print(rates[-1], file=sys.stderr, flush=True)
    numbers = {
        "device": asked.device,
        "kernels": len(NAMES),
        "copies": asked.copies,
        "same": all(len(one) == 1 for one in digests.values()),
    }
    return Figures(numbers, {"rates": rates, "kinds": kinds})
