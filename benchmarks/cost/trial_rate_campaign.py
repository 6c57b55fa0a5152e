"""Runs a campaign for trial_rate.py, with the kfuzz that it imports: today's, or an older one.

    python trial_rate_campaign.py DEVICE PROCESSES TRIALS SEED FILE...

A file that is named several times is as many kernels, with trials of their own. It prints JSON: the rate from 15 % of
the trials on, the processor time of the processes that plan and judge, of those that run kernels, and of this one,
which counts; the time by kind of trial, a digest of the ends of all ordinary trials, and the second in which each
twentieth of the trials had ended.
"""

import hashlib
import json
import os
import sys
import time
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from kfuzz.campaign.blocks import Orders, TrialEnd
from kfuzz.campaign.crew import Crew, run_in_processes
from kfuzz.campaign.ledger import Ledger
from kfuzz.campaign.options import Options
from kfuzz.campaign.schedule import large_of
from kfuzz.claims.kernel import load
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice

WARM = 0.15
"""Until so many of the trials have ended, processes start and kernels are compiled or loaded."""
PARTS = 20
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds() -> tuple[float, float, float]:
    """Of the children of this process, and of their children, as far as they run; and of this process."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found[int(folder.name)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS
    mine = {pid for pid, (parent, _) in found.items() if parent == os.getpid()}
    callers = sum(found[pid][1] for pid in mine)
    workers = sum(seconds for parent, seconds in found.values() if parent in mine)
    return callers, workers, time.process_time()


def main(device: str, processes: int, trials: int, seed: int, files: list[str]) -> dict[str, Any]:
    """Run it."""
    began, kernels = time.monotonic(), []
    for place, file in enumerate(files):
        copy = files[:place].count(file)
        name = "/".join(Path(file).with_suffix("").parts[-2:]) + (f"+{copy}" if copy else "")
        kernels.append(replace(load(file), name=name))
    ledger = Ledger(tuple(kernels), Options(seed=seed, max_cases=trials), lambda _: None)
    make_device = CpuDevice if device == "cpu" else GpuDevice
    crew = Crew(Orders(ledger.kernels, seed), make_device, ledger.blocks(), processes, device)
    counts, rows, seconds = Counter[str](), 0, defaultdict[str, Counter[str]](Counter)
    ends, done, moments, times = [], 0, [], list[float]()
    with closing(run_in_processes([crew])) as every:
        for _, end in every:
            if not isinstance(end, TrialEnd):
                ledger.end(end)
                if end.why:
                    print(end, file=sys.stderr)  # fewer trials than asked for
                continue
            ledger.take(end)
            done, rows, sort = done + 1, rows + end.rows, large_of(end.index) or "ordinary"
            if sort == "ordinary":
                found = [(one.defect.bucket, str(one.case)) for one in end.defects]
                ends.append(repr((end.kernel, end.index, end.rows, end.elements, end.ratio, end.reasons, found)))
            if done >= (len(times) + 1) * trials / PARTS:
                times.append(round(time.monotonic() - began, 2))
            if done >= WARM * trials and not moments:
                moments = [(time.monotonic(), done, rows, processor_seconds())]
            elif moments:
                counts[sort] += 1
                seconds[sort].update(end.seconds)
            if done == trials:
                moments.append((time.monotonic(), done, rows, processor_seconds()))
    (t, n, r, used), (until, last, judged, later) = moments
    return {
        "trials": last - n,
        "rows": judged - r,
        "seconds": until - t,
        "callers": later[0] - used[0],
        "workers": later[1] - used[1],
        "counting": later[2] - used[2],
        "kinds": [{"kind": kind, "trials": count, **seconds[kind]} for kind, count in counts.items()],
        "digest": hashlib.sha256("\n".join(sorted(ends)).encode()).hexdigest(),
        "ordinary": len(ends),
        "times": times,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5:])), flush=True)
