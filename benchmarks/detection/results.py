"""How good the search is: mutants and rivals in one run.

    python -m benchmarks.detection.results --out score --jobs 2

With `--per-operator 1` it plants one bug of each sort in each kernel, and leaves the rivals out.
It keeps finished work in --out and does not repeat it. It prints Markdown.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from pathlib import Path

from benchmarks.detection.rival_trials import Tally, run_rivals
from benchmarks.detection.rivals import RIVALS, are_asked
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.cpu.device import CpuDevice
from kfuzz.devices import host_compiler
from kfuzz.mutating.mutate import mutants, operators
from kfuzz.scoring.figures import Figures, accused_controls, by_kernel, by_operator, figures, idle_operators, survivors
from kfuzz.scoring.run import HowFar, ScoreReport, run_score
from kfuzz.scoring.survivors import ReviewedReason, reason_for, reasons, standing, wrongly_excused
from kfuzz.scoring.trials import Score, ScoreOptions, choose_mutants

OURS = "kfuzz"
SPANS = ((1, 1), (2, 5), (6, 20), (21, 100), (101, 10**9))


def main() -> None:
    """Score, ask the rivals, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*", help="names of correct kernels; left out, all of them")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--max-cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-operator", type=int, default=0, help="mutants of each sort and kernel; 0 for all")
    asked = parser.parse_args()
    options = ScoreOptions(asked.seed, asked.max_cases, asked.per_operator)
    every = [kernel for kernel in discover() if kernel.broken is None and not kernel.front.is_python]
    every = [kernel for kernel in every if not asked.kernels or kernel.name in asked.kernels]
    kernels = [kernel for kernel in every if mutants(kernel)]
    report = run_score(kernels, CpuDevice, options, asked.jobs, asked.out, tell)
    if report.interrupted:
        sys.exit(130)
    without = [kernel.name for kernel in every if not mutants(kernel)]
    tallies: list[Tally] = []
    if not asked.per_operator:
        tallies = rivals([one for one in kernels if are_asked(one)], report, asked.out / "rivals.json", asked.jobs)
    print("\n".join(page(report, tallies, reasons(), without)))


def provenance() -> dict[str, str]:
    """The machine and versions of these figures."""
    compiler = subprocess.run([host_compiler.find(), "--version"], capture_output=True, text=True, check=True).stdout
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


def page(
    report: ScoreReport, tallies: list[Tally], known: tuple[ReviewedReason, ...], without: Sequence[str]
) -> Iterator[str]:
    """The page in Markdown, line by line."""
    total = figures(report.scores.values(), known)
    yield "The seed and the sources determine the run.\n"
    yield from (f"- {name}: {value}" for name, value in provenance().items())
    yield f"- seed {report.options.seed}, at most {report.options.max_cases} trials for each mutant\n"
    yield "## Mutants\n"
    yield from summary(report, total, known)
    yield f"\nNo mutant is made of {', '.join(without)}: they only include other kernels here."
    if tallies:
        yield "\n## Rivals\n"
        yield from rival_part(report, tallies, known)
    yield "\n## What killed them\n"
    yield from killers(report)
    yield "\n## By kernel\n"
    yield from table("kernel", by_kernel(report, known))
    yield "\n## By operator\n"
    docs = {name: (operator.__doc__ or "").split("\n")[0] for name, operator in operators().items()}
    yield from table("operator", by_operator(report, known), docs)
    yield "\n## Survivors, one by one\n"
    yield from survivor_part(report, known)


def summary(report: ScoreReport, total: Figures, known: tuple[ReviewedReason, ...]) -> Iterator[str]:
    """The main figures."""
    left = total.compiled - total.equivalent
    strict = total.counts["killed"] / max(1, left)
    trials = sum(control.trials for control in report.controls.values())
    same = sum(score.identical for score in report.scores.values() if score.status == "warned")
    made = f"{len(operators())} operators make of {len(report.controls)} correct kernels"
    most = report.options.per_operator
    count = f"{len(report.scores)} mutants"
    some = f"{count}, at most {most} of each sort and kernel," if most else f"All {count}"
    yield f"{some} that {made}; {total.compiled} of them"
    yield f"compile ({total.counts['stillborn']} are stillborn).\n"
    yield "| | |"
    yield "|---|---|"
    yield f"| compiled, and not equivalent to their kernel | {left} |"
    yield f"| killed by an error | {total.counts['killed']} ({strict:.2%}) |"
    yield f"| killed by a warning that the kernel itself never shows | {total.counts['warned']} |"
    yield f"| **killed** | **{total.killed} ({total.rate:.2%})** |"
    yield f"| median trials to kill | {total.median:g} |"
    for name in ("within the claim", "out of reach", "unexplained"):
        yield f"| survived, {name} | {total.counts[name]} |"
    seconds = sum(score.seconds for score in report.scores.values())
    yield f"| equivalent: no bit differs where the claim speaks, and a reason is written down | {total.equivalent} |"
    yield f"| unmutated kernels accused, in {trials} trials | {len(accused_controls(report))} |"
    yield f"| seconds of one process, compiling included | {seconds:.0f} |"
    yield "\nA warning is a race in which all threads write the same value, or a barrier that threads reach at"
    yield f"different places. The mutation made it, and {same} of these {total.counts['warned']} mutants gave their"
    yield "kernel's own answers, bit for bit, in every run."
    yield "Mutants *within the claim* give only answers that the claim allows, as the reason shows; they count as"
    yield "not killed. So do those *out of reach*: they are wrong only where hardly any trial comes, or none."
    for score in wrongly_excused(report.scores.values(), known) if not most else ():  # needs all mutants of a line
        yield f"\nA reason says that it survives, and it does not: {_changed(score)}"
    idle = idle_operators(report, known)
    for why in dict.fromkeys(idle.values()):
        yield f"\nOperators that {why}: {', '.join(name for name in idle if idle[name] == why)}."


def rival_part(report: ScoreReport, tallies: list[Tally], known: tuple[ReviewedReason, ...]) -> Iterator[str]:
    yield "The same mutants and device, and the kernels that use float32 throughout, like the rules' tolerances. The"
    yield "rules are rebuilt from their published descriptions, and the sizes are cut down to what a processor can"
    yield "simulate. Each rival is also credited for every launch that crashes or hangs, and is asked only about"
    yield "sizes and value ranges that the kernel claims. A correct kernel counts as accused if one of its answers"
    yield "is rejected; a mutant counts as found if it is rejected on an input on which its correct kernel is"
    yield "accepted. Mutants that never end are credited to each rival without being run. The seconds of kfuzz"
    yield "include compiling, those of the rivals do not. Where a description leaves something open, we chose: the"
    yield "cases that LeetGPU-like authors pick by hand, the tolerance that gpuemu gives an op, llm.c's 1e-1 for"
    yield "matrices, and that flashinfer-bench rejects a NaN on one side.\n"
    yield from rival_table(report, tallies, known)
    yield ""
    for rival in RIVALS:
        yield f"- *{rival.name}*: {rival.source}."
    yield from only_theirs(report, tallies)


def rival_table(report: ScoreReport, tallies: list[Tally], known: tuple[ReviewedReason, ...]) -> Iterator[str]:
    """Detection and false alarms on the kernels that rivals are asked about, kfuzz first."""
    names = {one.kernel for one in tallies}
    own = [one for one in report.scores.values() if one.kernel in names]
    mine = [one for one in own if standing(one, known) not in ("stillborn", "equivalent")]
    counted, total = {one.key for one in mine}, figures(own, known)
    trials, seconds = sum(one.trials for one in mine), sum(one.seconds for one in mine)
    controls = len(names)
    yield "| | mutants found | | rejected | correct kernels accused | trials | seconds |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    bad = sum(control.kernel in names for control in accused_controls(report))
    killed = total.killed
    row = (f"**{OURS}**", f"**{killed}**", f"**{total.rate:.1%}**", killed, f"**{bad} of {controls}**", trials)
    yield f"| {' | '.join(map(str, row))} | {seconds:.0f} |"
    for rival in RIVALS:
        theirs = [one for one in tallies if one.rival == rival.name]
        asked = [one for one in theirs if one.key in counted]
        found, rejected = sum(one.apart for one in asked), sum(one.rejected for one in asked)
        wrong = len({one.kernel for one in theirs if not one.key and one.rejected})
        took = sum(one.seconds for one in asked)
        yield (
            f"| {rival.name} | {found} | {found / max(1, len(asked)):.1%} | {rejected} | {wrong} of {controls} "
            f"| {sum(one.trials for one in asked)} | {took:.0f} |"
        )


def only_theirs(report: ScoreReport, tallies: list[Tally]) -> Iterator[str]:
    """The mutants that a rival finds and kfuzz does not."""
    missed = {score.key: score for score in survivors(report)}
    theirs = [one for one in tallies if one.apart and one.key in missed]
    yield f"\nMutants that a rival finds and kfuzz does not: {len({one.key for one in theirs})}."
    for one in theirs:
        score = missed[one.key]
        yield f"- {one.rival}: {_changed(score)}"


def killers(report: ScoreReport) -> Iterator[str]:
    """The kills by kind of finding, and by number of trials."""
    dead = [score for score in report.scores.values() if score.status in ("killed", "warned")]
    yield "| finding | errors | warnings |"
    yield "|---|---:|---:|"
    kinds = Counter((score.kind, score.status) for score in dead)
    for kind in sorted({kind for kind, _ in kinds}, key=lambda kind: (-kinds[kind, "killed"], kind)):
        yield f"| {kind} | {kinds[kind, 'killed']} | {kinds[kind, 'warned']} |"
    yield "\n| trials to kill | mutants |"
    yield "|---|---:|"
    for first, last in SPANS:
        count = sum(first <= score.trials <= last for score in dead)
        yield f"| {first if first == last else f'{first} to {min(last, report.options.max_cases)}'} | {count} |"


def table(what: str, rows: dict[str, Figures], words: dict[str, str] | None = None) -> Iterator[str]:
    """One line for each kernel or operator."""
    heads = (what, "compiled", "killed", "of them by a warning", "survived", "equivalent", "median trials")
    yield f"| {' | '.join(heads)} |{' |' if words else ''}"
    yield f"|---|---:|---:|---:|---:|---:|---:|{'---|' if words else ''}"
    for name, one in rows.items():
        left = one.compiled - one.killed - one.equivalent
        last = f" {words[name]} |" if words else ""
        cells = (name, one.compiled, one.killed, one.counts["warned"], left, one.equivalent, f"{one.median:g}")
        yield f"| {' | '.join(map(str, cells))} |{last}"


def survivor_part(report: ScoreReport, known: tuple[ReviewedReason, ...]) -> Iterator[str]:
    """The surviving mutants, grouped by reason."""
    for where in ("unexplained", "out of reach", "within the claim", "equivalent"):
        some = [score for score in survivors(report) if standing(score, known) == where]
        yield f"### {where.capitalize()}: {len(some)}\n"
        by_reason: dict[str, list[Score]] = {}
        for score in some:
            reason = reason_for(score, known)
            by_reason.setdefault(" ".join(reason.why.split()) if reason else "No reason is known.", []).append(score)
        for why, alike in by_reason.items():
            yield f"{why}\n"
            yield from (f"- {_changed(score)}" for score in alike)
            yield ""


def _changed(score: Score) -> str:
    return f"{score.kernel}:{score.line}, {score.operator}: `{score.before}` became `{score.after}`"


if __name__ == "__main__":
    main()
