"""What a kernel's largest cases take: `python measured_case.py FILE [BALLAST]` prints a line of JSON for each.

Processor time and memory of the process that judges, and of the one that runs kernels; BALLAST is bytes that are held
meanwhile, for the test that the figures follow what is taken.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from kfuzz.campaign.schedule import LARGE, attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import load
from kfuzz.devices.cpu.device import CpuDevice

TICKS = 100
"""Of /proc/PID/stat in a second, on every Linux."""


def peak_memory(pid: int | None) -> int:
    """The most bytes that a process has held."""
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def worked(pid: int | None) -> float:
    """Seconds of processor time of a process, without those of the compiler that it has started."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def main(file: str, ballast: int = 0) -> None:
    """Each large trial of a kernel."""
    kernel = load(file)
    weight = np.ones(ballast, np.uint8)
    with CpuDevice() as device:
        before = 0.0
        for index, what in LARGE.items():
            attempt, began = attempt_of(kernel, 1, index), time.process_time()
            trial = run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, 1, index, 3, 10.0))
            pid = device._worker.pid
            seconds = time.process_time() - began + worked(pid) - before
            before = worked(pid)
            reported = {
                "case": f"{what}: {attempt.case.sizes}",
                "seconds": seconds,
                "judge": peak_memory(os.getpid()),  # not ru_maxrss, which a process has from the one that starts it
                "worker": peak_memory(pid),
                "rows": trial.rows,
                "ballast": int(weight.sum()),
            }
            print(json.dumps(reported), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
