"""Count the accusations in campaigns over all right kernels, with one campaign on each GPU.

    python -m benchmarks.detection.right_campaigns --device gpu --gpus 4 --jobs 16 --seconds 240 --seed 1 --out FILE

It is `right_ones.py` for many trials: a campaign runs trials ahead, and each GPU has one. FILE is JSON; it is written
every few seconds. A command with another seed adds its trials to those that are in FILE. With `--own` only the kernels
that come with kfuzz are tried: those of the tests are mostly extensions, which nvcc compiles for minutes. Exit code 1
if a kernel is accused.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.detection.right_ones import right_kernels
from benchmarks.measurement import Figures, commit, machine
from kfuzz.campaign.blocks import BlockEnd, End, Orders, TrialEnd
from kfuzz.campaign.crew import Crew, run_in_processes
from kfuzz.campaign.device import open_device
from kfuzz.campaign.events import ignore
from kfuzz.campaign.ledger import Ledger
from kfuzz.campaign.options import Options
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices.runners import LAUNCHER

WRITE_SECONDS, SLOWEST = 5.0, 12
LATE = 20.0
"""Seconds after which a campaign that is out of time is ended."""
SEEDS_OF_GPUS = 1000
"""A GPU's campaigns have the seeds SEED * SEEDS_OF_GPUS + its number, and then more by NEXT each."""
TURNS = 4
"""In so many orders the GPUs take the kernels, so that one compiles what the others find in the cache later."""
NEXT, OF_EACH = 1_000_000, 960
"""After so many trials of each kernel another campaign begins: from 967 on compute-sanitizer takes seconds for some."""


def run_one(device: str, jobs: int, seconds: float, seed: int, own: bool, out: Path) -> None:
    """Campaigns on one device; what they have found so far is in a file."""
    files = [one for one in right_kernels() if not own or one.is_relative_to(KERNELS)]
    first = seed % SEEDS_OF_GPUS % TURNS * len(files) // TURNS
    kernels = tuple(one for one in map(load, files[first:] + files[:first]) if one.front.language.runner == LAUNCHER)
    deadline = time.monotonic() + seconds
    spent = Counter[str]()
    tried = Counter[str]()
    counts = Counter[str]()
    accusations: list[dict[str, Any]] = []
    given_up: list[str] = []
    warned = Counter[str]()

    def write() -> None:
        found = {
            "seed": seed, "device": device, **counts, "kernels": len(tried), "fewest": min(tried.values(), default=0),
            "most": max(tried.values(), default=0), "accusations": accusations, "given_up": given_up, "warned": warned,
            "slowest": {name: round(taken, 1) for name, taken in spent.most_common(SLOWEST)},
        }  # fmt: skip
        out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")

    written = time.monotonic()
    for end in _ends(kernels, device, jobs, seed, deadline):
        name = kernels[end.block.kernel if isinstance(end, BlockEnd) else end.kernel].name
        if isinstance(end, BlockEnd):
            if end.why:
                given_up.append(f"{name}: {end.why}, {end.message}")
        else:
            tried[name] += 1
            spent[name] += sum(end.seconds.values())
            counts.update(trials=1, rows=end.rows, elements=end.elements, nothing_judged=not end.elements)
            errors = _errors_of(end, name)
            accusations.extend(errors)
            warned.update(shown.defect.bucket for shown in end.defects if shown.defect.severity != "error")
            if errors:
                write()
        if time.monotonic() > written + WRITE_SECONDS:
            write()
            written = time.monotonic()
        if written > deadline + LATE:
            break
    write()


def _ends(kernels: tuple[Kernel, ...], device: str, jobs: int, seed: int, deadline: float) -> Iterator[End]:
    """The ends of one campaign after the other until the time is up."""
    while time.monotonic() < deadline:
        ledger = Ledger(kernels, Options(seed=seed, max_cases=OF_EACH * len(kernels)), ignore)
        orders = Orders(ledger.kernels, seed, deadline=deadline)
        crew = Crew(orders, partial(open_device, device, share=jobs), ledger.blocks(), jobs, device)
        with closing(run_in_processes([crew])) as ends:
            for _, end in ends:
                if isinstance(end, BlockEnd):
                    if end.why == "time":
                        return
                    ledger.end(end)
                else:
                    ledger.take(end)
                yield end
        seed += NEXT


def _errors_of(end: TrialEnd, kernel: str) -> list[dict[str, Any]]:
    """What a trial accuses a kernel of, with the numbers by which it can be run again."""
    return [
        {
            "kernel": kernel, "index": end.index, "number": end.number, "bucket": shown.defect.bucket,
            "message": shown.defect.message, "case": str(shown.case or shown.defect.scene.case),
            "probe": str(end.probe),
        }
        for shown in end.defects
        if shown.defect.severity == "error"
    ]  # fmt: skip


def summary(device: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """All campaigns in one count."""
    numbers = ("trials", "rows", "elements", "nothing_judged")
    return {
        "commit": commit(),
        "machine": machine(),
        "device": device,
        **{name: sum(one.get(name, 0) for one in parts) for name in numbers},
        "accused": sum(len(one["accusations"]) for one in parts),
        "campaigns": sorted(parts, key=lambda one: one["seed"]),
    }


def measure(options: Sequence[str]) -> Figures:
    """What one run tried and accused, for the page."""
    with TemporaryDirectory() as folder:
        out, began = Path(folder) / "found.json", time.monotonic()
        main([*options, "--out", str(out)])
        taken, made = round(time.monotonic() - began), json.loads(out.read_text(encoding="utf-8"))
    asked, campaigns = parser().parse_args(options), made["campaigns"]
    run = {
        "commit": made["commit"], "device": made["device"], "machine": made["machine"],
        "processes": asked.jobs * (asked.gpus if asked.device == "gpu" else 1), "seconds": taken,
        "kernels": max(one["kernels"] for one in campaigns), "fewest": sum(one["fewest"] for one in campaigns),
        "trials": made["trials"], "rows": made["rows"], "elements": made["elements"],
        "accused": sorted({accused["kernel"] for one in campaigns for accused in one["accusations"]}),
    }  # fmt: skip
    return Figures(tables={"runs": [run]})


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="gpu")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=16, help="processes of each GPU")
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("right_campaigns.json"))
    parser.add_argument("--own", action="store_true", help="only the kernels that come with kfuzz")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    return parser


def main(options: Sequence[str] | None = None) -> int:
    """Run one campaign for each GPU, or one on the cpu device, and add them to FILE."""
    asked = parser().parse_args(options)
    if asked.one:
        run_one(asked.device, asked.jobs, asked.seconds, asked.seed, asked.own, asked.out)
        return 0
    known = json.loads(asked.out.read_text(encoding="utf-8"))["campaigns"] if asked.out.exists() else []
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    gpus = gpus if len(gpus) >= asked.gpus else [str(number) for number in range(asked.gpus)]
    seeds = [asked.seed * SEEDS_OF_GPUS + number for number in range(asked.gpus)]
    parts = [asked.out.with_suffix(f".{seed}.json") for seed in seeds]
    own = [sys.executable, "-m", "benchmarks.detection.right_campaigns", "--one", "--device", asked.device]
    own += ["--jobs", str(asked.jobs), "--seconds", str(asked.seconds), *(["--own"] if asked.own else [])]
    processes = [
        subprocess.Popen(
            [*own, "--seed", str(seed), "--out", str(part)], env={**os.environ, "CUDA_VISIBLE_DEVICES": gpu}
        )
        for seed, part, gpu in zip(seeds, parts, gpus, strict=False)
    ]

    def write() -> dict[str, Any]:
        found = []
        for part in parts:
            with suppress(OSError, ValueError):  # a process has not written it yet, or writes it now
                found.append(json.loads(part.read_text(encoding="utf-8")))
        made = summary(asked.device, [*(one for one in known if one["seed"] not in seeds), *found])
        asked.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        return made

    try:
        while running := [one for one in processes if one.poll() is None]:
            with suppress(subprocess.TimeoutExpired):
                running[0].wait(WRITE_SECONDS)
            write()
    finally:
        for one in processes:
            one.terminate()
    made = write()
    for part in parts:
        part.unlink(missing_ok=True)
    failed = [seed for seed, one in zip(seeds, processes, strict=False) if one.returncode]
    print(
        f"{made['trials']} trials, {made['accused']} accusations: {asked.out}",
        *(f"seed {one} failed" for one in failed),
    )
    return 1 if made["accused"] or failed else 0


if __name__ == "__main__":
    sys.exit(main())
