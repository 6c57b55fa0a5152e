"""How good the search is: mutants and rivals in one run.

    python -m benchmarks.detection measure results --out score --jobs 2

With `--per-operator 1` it plants one bug of each sort in each kernel, and leaves the rivals out.
It keeps finished work in --out and does not repeat it.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from pathlib import Path

from benchmarks.detection.rival_trials import Tally, run_rivals
from benchmarks.detection.rivals import RIVALS, are_asked
from benchmarks.measurement import Figures, Record
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.devices import host_compiler
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.runners import LAUNCHER
from kfuzz.measure.mutants.figures import Figures as Counts
from kfuzz.measure.mutants.figures import accused_controls, by_kernel, by_operator, idle_operators, survivors
from kfuzz.measure.mutants.figures import figures as count
from kfuzz.measure.mutants.mutate import mutants, operators
from kfuzz.measure.mutants.run import HowFar, ScoreReport, run_score
from kfuzz.measure.mutants.survivors import ReviewedReason, read_reasons, reason_for, standing, wrongly_excused
from kfuzz.measure.mutants.trials import Score, ScoreOptions, choose_mutants

OURS = "kfuzz"
SPANS = ((1, 1), (2, 5), (6, 20), (21, 100), (101, 10**9))
DEAD = ("killed", "warned")
OUTLIVED = ("unexplained", "out of reach", "within the claim", "equivalent")


def measure(arguments: Sequence[str]) -> Figures:
    """Score, and ask the rivals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*", help="names of correct kernels; left out, all of them")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--max-cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-operator", type=int, default=0, help="mutants of each sort and kernel; 0 for all")
    asked = parser.parse_args(arguments)
    options = ScoreOptions(asked.seed, asked.max_cases, asked.per_operator)
    every = [kernel for kernel in discover() if kernel.broken is None and kernel.front.language.runner == LAUNCHER]
    every = [kernel for kernel in every if not asked.kernels or kernel.name in asked.kernels]
    kernels = [kernel for kernel in every if mutants(kernel)]
    report = run_score(kernels, CpuDevice, options, asked.jobs, asked.out, tell)
    if report.interrupted:
        sys.exit(130)
    without = [kernel.name for kernel in every if not mutants(kernel)]
    tallies: list[Tally] = []
    if not asked.per_operator:
        tallies = rivals([one for one in kernels if are_asked(one)], report, asked.out / "rivals.json", asked.jobs)
    known = read_reasons()
    numbers = {"provenance": provenance(), **summary(report, known), "without": without}
    tables = {
        "rivals": list(compare_rivals(report, tallies, known)) if tallies else [],
        "only_theirs": list(only_theirs(report, tallies)),
        "findings": list(killers(report)), "spans": list(spans(report)),
        "kernels": list(counts_of(by_kernel(report, known))), "operators": list(counts_of(by_operator(report, known))),
        "survivors": list(survivors_by_reason(report, known)),
    }  # fmt: skip
    return Figures(numbers, tables)


def provenance() -> dict[str, str]:
    """The machine and versions of these figures."""
    compiler = subprocess.run(
        [host_compiler.find_compiler(), "--version"], capture_output=True, text=True, check=True
    ).stdout
    words = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.partition(": ")[2] for line in words if line.startswith("model name")), platform.machine())
    packages = ("numpy", "python-flint", "tree-sitter", "tree-sitter-cuda")
    return {
        "day": date.today().isoformat(),
        "machine": f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "versions": ", ".join([f"Python {platform.python_version()}", *(f"{one} {version(one)}" for one in packages)]),
        "compiler": compiler.splitlines()[0],
        "device": "cpu",
    }


def tell(progress: HowFar) -> None:
    """Print a progress line now and then."""
    if progress.done % 50 == 0 or progress.done == progress.total:
        print(f"{progress.done} of {progress.total} mutants, {progress.left:.0f} s left", file=sys.stderr)


def rivals(kernels: Sequence[Kernel], report: ScoreReport, kept: Path, jobs: int) -> list[Tally]:
    """Every rival on every mutant that compiles, or the results kept by an earlier run."""
    if kept.exists():
        return [Tally(**one) for one in json.loads(kept.read_text(encoding="utf-8"))]
    names = {kernel.name for kernel in kernels}
    scores = {key: one for key, one in report.scores.items() if one.kernel in names}
    endless = [one for one in scores.values() if one.kind == "hang"]
    tallies = [Tally(rival.name, one.kernel, one.key, True, True, 1, 0.0) for one in endless for rival in RIVALS]
    asked = {key for key, one in scores.items() if one.status != "stillborn" and one.kind != "hang"}
    work = {}
    for kernel in kernels:
        every = choose_mutants(kernel, report.options.per_operator)
        work[kernel.name] = (kernel, tuple(mutant for mutant in every if mutant.key in asked))
    for done in run_rivals(work, jobs):
        tallies += done
        known = len({one.key for one in tallies if one.key})
        print(f"rivals: {known} of {len(asked) + len(endless)} mutants", file=sys.stderr)
    kept.write_text(json.dumps([asdict(one) for one in tallies]), encoding="utf-8")
    return tallies


def summary(report: ScoreReport, known: tuple[ReviewedReason, ...]) -> dict[str, object]:
    """The main figures."""
    total = count(report.scores.values(), known)
    most = report.options.per_operator
    wrong = wrongly_excused(report.scores.values(), known) if not most else ()  # needs all mutants of a line
    idle: dict[str, list[str]] = {}
    for name, why in idle_operators(report, known).items():
        idle.setdefault(why, []).append(name)
    return {
        "seed": report.options.seed, "max_cases": report.options.max_cases, "per_operator": most,
        "mutants": len(report.scores), "of_operators": len(operators()), "of_kernels": len(report.controls),
        "compiled": total.compiled, "stillborn": total.counts["stillborn"], "equivalent": total.equivalent,
        "killed": total.counts["killed"], "warned": total.counts["warned"],
        "identical": sum(score.identical for score in report.scores.values() if score.status == "warned"),
        "median": total.median, "within": total.counts["within the claim"],
        "out_of_reach": total.counts["out of reach"], "unexplained": total.counts["unexplained"],
        "accused": len(accused_controls(report)),
        "trials": sum(control.trials for control in report.controls.values()),
        "seconds": sum(score.seconds for score in report.scores.values()),
        "wrongly_excused": [describe(score) for score in wrong], "idle": idle,
    }  # fmt: skip


def compare_rivals(report: ScoreReport, tallies: list[Tally], known: tuple[ReviewedReason, ...]) -> Iterator[Record]:
    """Detection and false alarms on the kernels that rivals are asked about, kfuzz first."""
    names = {one.kernel for one in tallies}
    own = [one for one in report.scores.values() if one.kernel in names]
    mine = [one for one in own if standing(one, known) not in ("stillborn", "equivalent")]
    counted, total = {one.key for one in mine}, count(own, known)
    yield {
        "name": OURS, "found": total.killed, "share": total.rate, "rejected": total.killed,
        "accused": sum(control.kernel in names for control in accused_controls(report)), "kernels": len(names),
        "trials": sum(one.trials for one in mine), "seconds": sum(one.seconds for one in mine), "source": "",
    }  # fmt: skip
    for rival in RIVALS:
        theirs = [one for one in tallies if one.rival == rival.name]
        asked = [one for one in theirs if one.key in counted]
        found = sum(one.apart for one in asked)
        yield {
            "name": rival.name, "found": found, "share": found / max(1, len(asked)),
            "rejected": sum(one.rejected for one in asked),
            "accused": len({one.kernel for one in theirs if not one.key and one.rejected}), "kernels": len(names),
            "trials": sum(one.trials for one in asked), "seconds": sum(one.seconds for one in asked),
            "source": rival.source,
        }  # fmt: skip


def only_theirs(report: ScoreReport, tallies: list[Tally]) -> Iterator[Record]:
    """The mutants that a rival finds and kfuzz does not."""
    missed = {score.key: score for score in survivors(report)}
    for one in tallies:
        if one.apart and one.key in missed:
            yield {"rival": one.rival, "mutant": describe(missed[one.key])}


def killers(report: ScoreReport) -> Iterator[Record]:
    """The kills by kind of finding."""
    kinds = Counter((score.kind, score.status) for score in report.scores.values() if score.status in DEAD)
    for kind in sorted({kind for kind, _ in kinds}, key=lambda kind: (-kinds[kind, "killed"], kind)):
        yield {"finding": kind, "errors": kinds[kind, "killed"], "warnings": kinds[kind, "warned"]}


def spans(report: ScoreReport) -> Iterator[Record]:
    """The kills by number of trials."""
    dead = [score for score in report.scores.values() if score.status in DEAD]
    for first, last in SPANS:
        many = sum(first <= score.trials <= last for score in dead)
        yield {"first": first, "last": min(last, report.options.max_cases), "mutants": many}


def counts_of(rows: Mapping[str, Counts]) -> Iterator[Record]:
    """The counts of each kernel or operator."""
    for name, one in rows.items():
        yield {
            "name": name, "compiled": one.compiled, "killed": one.killed, "warned": one.counts["warned"],
            "survived": one.compiled - one.killed - one.equivalent, "equivalent": one.equivalent, "median": one.median,
        }  # fmt: skip


def survivors_by_reason(report: ScoreReport, known: tuple[ReviewedReason, ...]) -> Iterator[Record]:
    """The surviving mutants, grouped by reason; an empty one is not known."""
    for where in OUTLIVED:
        by_reason: dict[str, list[str]] = {}
        for score in survivors(report):
            if standing(score, known) == where:
                reason = reason_for(score, known)
                by_reason.setdefault(" ".join(reason.why.split()) if reason else "", []).append(describe(score))
        for why, alike in by_reason.items():
            yield {"standing": where, "reason": why, "mutants": alike}


def describe(score: Score) -> str:
    """A mutant by its place and its change."""
    return f"{score.kernel}:{score.line}, {score.operator}: `{score.before}` became `{score.after}`"
