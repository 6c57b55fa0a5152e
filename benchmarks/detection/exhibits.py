"""The broken kernels that each device and each rule in use elsewhere finds, from one run of each.

    python -m benchmarks.detection measure exhibits [cpu] [gpu] [gpu-seeds] [sanitize] [rivals] [--missing]

gpu, gpu-seeds and sanitize need a GPU; gpu-seeds are campaigns of 300 trials from three more seeds. What the command
does not name stays as data/exhibits.json has it. After each kernel the results are written to data/exhibits, which git
ignores: --missing goes on from there after an interruption, and otherwise from data/exhibits.json.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from benchmarks.detection.rival_trials import questions, tally
from benchmarks.detection.rivals import RIVALS, are_asked
from benchmarks.measurement import Figures, measure_parts, read, write_json
from kfuzz.campaign.device import open_device
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.devices import Device
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu import driver

DATA = Path(__file__).with_name("data") / "exhibits.json"
DEVICES = ("cpu", "gpu", "sanitize")
MANNERS = (*DEVICES, "gpu-seeds", "rivals")
MOST_TRIALS = {"cpu": 600, "gpu": 600, "gpu-seeds": 300, "sanitize": 2}
AT_ONCE = {"gpu": 14, "gpu-seeds": 14, "sanitize": 8}
"""Number of processes on one GPU; otherwise one for each core."""
FURTHER = 20
"""Trials after the first error in which the named kind may still turn up."""
SIZED = 8
"""The sanitizer's few trials begin with this one: the first ones of a campaign are too small to need a second warp."""
SEED, TIMEOUT = 0, 2.0
FURTHER_SEEDS = (1, 2, 3)
WARNING = " (warning)"

LEFT_OUT = "gpuemu, adversarial values"

Seen = dict[str, int]
Results = dict[str, Seen]
"""What is seen of each kernel, by its name."""


def seen_by(manner: str, kernel: Kernel) -> Seen:
    """Each kind of error that the first trials show, with the number of the first such trial."""
    with closing(open_device("cpu" if manner == "cpu" else "gpu", sanitize=manner == "sanitize")) as device:
        return search(manner, kernel, device, SEED)


def seen_from_seeds(kernel: Kernel) -> Seen:
    """For each further seed the first trial that shows the named kind; a seed that shows none is absent."""
    named = kernel.broken.kind if kernel.broken else ""
    with closing(open_device("gpu")) as device:
        seen = {seed: search("gpu-seeds", kernel, device, seed) for seed in FURTHER_SEEDS}
    return {f"seed {seed}": found[named] for seed, found in seen.items() if named in found}


def rejected_by(kernel: Kernel) -> Seen:
    """Each rival that rejects the kernel, with the number of the launch; 0 for those that accept it."""
    found = {}
    with CpuDevice() as device:
        for rival in RIVALS if are_asked(kernel) else ():
            one = tally(rival, questions(rival, kernel), kernel, "", device)
            found[rival.name] = one.trials if one.rejected else 0
    return found


def search(manner: str, kernel: Kernel, device: Device, seed: int) -> Seen:
    """Run trials until one shows the named kind, for a while after another error, or up to a limit.

    From a further seed no other error ends the search.
    """
    found: Seen = {}
    named = kernel.broken.kind if kernel.broken else ""
    for index in range(MOST_TRIALS[manner]):
        first_error = min((when for kind, when in found.items() if not kind.endswith(WARNING)), default=None)
        had_its_while = first_error is not None and index > first_error + FURTHER
        if named in found or (had_its_while and manner != "gpu-seeds"):
            break
        attempt = attempt_of(kernel, seed, index + SIZED if manner == "sanitize" else index)
        probe = probe_of(kernel, seed, index, 3, TIMEOUT)
        if manner == "sanitize":
            probe = replace(probe, check=True)
        for defect in run_trial(kernel, attempt.case, attempt.tune, device, probe).defects:
            kind = defect.kind if defect.severity == "error" else defect.kind + WARNING
            found.setdefault(kind, index + 1)
    return found


def measure_exhibits(manner: str, file: Path, known: Mapping[str, Seen]) -> Results:
    """The findings in broken kernels on one device, or by the rivals; a file has them after each kernel.

    `known`: kernels whose results are kept.
    """
    further = {"rivals": rejected_by, "gpu-seeds": seen_from_seeds}
    one = further.get(manner) or partial(seen_by, manner)
    every = [kernel for kernel in discover() if kernel.broken]
    left = [kernel for kernel in every if kernel.name not in known]
    found = {kernel.name: known[kernel.name] for kernel in every if kernel.name in known}
    spawn = get_context("spawn")
    gpus = driver.count_gpus() if manner in AT_ONCE else 0
    at_once = min(AT_ONCE[manner] * gpus, os.cpu_count() or 1) if gpus else os.cpu_count()
    started = spawn.Value("i", 0)
    with ProcessPoolExecutor(at_once, spawn, initializer=take_gpu, initargs=(started, gpus)) as pool:
        asked = {pool.submit(one, kernel): kernel.name for kernel in left}
        try:
            for done in as_completed(asked):
                found[asked[done]] = done.result()
                file.write_text(write_json(dict(sorted(found.items()))), encoding="utf-8")
                print(f"{len(found)} of {len(every)}: {asked[done]}: {done.result()}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def take_gpu(started: "Synchronized[int]", gpus: int) -> None:
    """The processes of a pool take the GPUs in turn, one each."""
    with started.get_lock():
        number = started.value
        started.value += 1
    if gpus:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(number % gpus)


def results_of_page() -> dict[str, Results]:
    """What the page shows, by manner."""
    tables = read(DATA).figures.tables
    kernels = {
        manner: {one["kernel"]: one[manner] for one in tables["kernels"] if one.get(manner) is not None}
        for manner in DEVICES
    }
    return {
        **{manner: found for manner, found in kernels.items() if found},
        "gpu-seeds": {one["kernel"]: one["found"] for one in tables["seeds"]},
        "rivals": {one["kernel"]: one["rejected"] for one in tables["rivals"] if one["rejected"]},
    }


def figures(kept: Mapping[str, Results]) -> Figures:
    """The results of each device and of the rivals, one record for each broken kernel; None where it was not run."""
    broken = [kernel for kernel in discover() if kernel.broken]
    devices = [name for name in DEVICES if name in kept]
    rivals = [rival.name for rival in RIVALS if rival.name != LEFT_OUT]
    asked = [kernel.name for kernel in broken if kept["rivals"].get(kernel.name)]
    return Figures({"devices": devices, "rivals": rivals, "seeds": [f"seed {seed}" for seed in FURTHER_SEEDS]}, {
        "kernels": [
            {"kernel": one.name, "named": one.broken.kind if one.broken else "",
             **{name: kept[name].get(one.name) for name in devices}}
            for one in broken
        ],
        "seeds": [{"kernel": name, "found": found} for name, found in sorted(kept["gpu-seeds"].items())],
        "rivals": [
            {"kernel": one.name, "rejected": kept["rivals"][one.name] if one.name in asked else None} for one in broken
        ],
    })  # fmt: skip


def measure(arguments: Sequence[str]) -> Figures:
    """Measure what the command line names, and take the other results from the page."""
    return measure_parts(arguments, __doc__, MANNERS, DATA, results_of_page(), measure_exhibits, figures)
