"""Run the checker on a folder of labelled programs from outside the repository.

    python -m benchmarks.detection.suites --layout hirace DIR --input graph.egr --include DIR/../indigo_include

Layouts: hirace (labels in names, graph files), scor (race_*, norace_*), gpuverify (//pass, //xfail) and plain: any of
these on whole programs, and this repository's pairs. `--through nvcc` runs nvcc's PTX of them. Every program runs under
three orders of threads and blocks, and errors and warnings are counted separately. `--words` are the words for main();
{input} stands for the input file.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from random import Random

from benchmarks.detection.labelled import ANY, BUGS, LAYOUTS, TOLD_AS, Labelled, Program
from benchmarks.detection.programs import EXCLUDES, program
from kfuzz.devices import ClaimError, DeviceError, Finding, Job, Outcome, Probe, UnsupportedError
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.server import Server

RUNS, SECONDS = 3, 20.0
Place = tuple[CpuDevice, Server]
"""The place where one program runs at a time."""
Seen = tuple[list[Finding], str]
"""The findings of a run, or why it does not count."""


@dataclass(frozen=True)
class Told:
    """The kinds of errors and warnings that a program got; or why it could not run."""

    program: Labelled
    errors: frozenset[str]
    warnings: frozenset[str]
    words: tuple[str, ...]
    seconds: float
    why_not: str = ""

    def says(self, label: str, severe: bool) -> bool:
        """Whether the errors, or the warnings, say what a label stands for."""
        kinds = self.errors if severe else self.warnings
        return bool(kinds if label == ANY else kinds & TOLD_AS[label])


def main(argv: list[str] | None = None) -> None:
    """Run a folder, and print the found, missed and accused programs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layout", choices=LAYOUTS, required=True)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--input", type=Path, help="a file that every program reads")
    parser.add_argument(
        "--words", help="the words for main(), by default the input (hirace: and 256 threads, 1024 blocks)"
    )
    parser.add_argument("--include", type=Path, action="append", default=[], help="a folder of headers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--through", choices=["nvcc"], default="", help="run the PTX that nvcc makes, not the text")
    parser.add_argument("--sample", type=int, help="so many of the programs, drawn with the seed")
    parser.add_argument("--lines", action="store_true", help="print a line for each program as well")
    parser.add_argument("--jobs", type=int, default=1, help="programs that run at once")
    chosen = parser.parse_args(argv)
    if not chosen.folder.is_dir() or (chosen.input and not chosen.input.is_file()):
        missing = chosen.input if chosen.folder.is_dir() else chosen.folder
        print(f"{missing}: there is no such {'file' if chosen.folder.is_dir() else 'folder'}", file=sys.stderr)
        raise SystemExit(2)
    include = tuple(chosen.include) or tuple(nearby(chosen.folder))
    found = list(LAYOUTS[chosen.layout](chosen.folder, words_of(chosen.words, chosen.input), include))
    if chosen.sample is not None and chosen.sample < len(found):
        drawn = Random(chosen.seed).sample(found, chosen.sample)  # noqa: S311  not for cryptography
        found = sorted(drawn, key=lambda one: one.name)
    began = time.perf_counter()
    told = list[Told]()
    for one in every(found, chosen.seed, chosen.jobs, chosen.through):
        told.append(one)
        if chosen.lines:
            print(line_of(one), flush=True)
    print("\n".join(table(told, time.perf_counter() - began)))


def words_of(words: str | None, file: Path | None) -> tuple[str, ...]:
    """The words for main()."""
    name = str(file.resolve()) if file else ""
    if words is not None:
        return tuple(one.replace("{input}", name) for one in words.split())
    return (name,) if file else ()


def nearby(folder: Path) -> Iterator[Path]:
    """Folders of headers in the folder or next to it, by their names."""
    for place in (folder, folder.parent):
        yield from sorted(one for one in place.glob("*include*") if one.is_dir())


def line_of(one: Told) -> str:
    """A program, its label, and the kinds that it got."""
    wrong = ", ".join(sorted(one.program.wrong)) or "right"
    kinds = [*sorted(one.errors), *(f"({kind})" for kind in sorted(one.warnings - one.errors))]
    return f"{one.program.name}: {wrong}: {one.why_not or ', '.join(kinds) or 'nothing'}: {one.seconds:.1f} s"


def every(programs: Iterable[Labelled], seed: int, jobs: int, through: str = "") -> Iterator[Told]:
    """The findings in each program, with so many running at once."""
    free: SimpleQueue[Place] = SimpleQueue()
    made = [(CpuDevice(through), Server()) for _ in range(jobs)]
    for one in made:
        free.put(one)

    def judge_program(one: Labelled) -> Told:
        place = free.get()
        try:
            return run_parts(place, one, seed, through)
        finally:
            free.put(place)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(judge_program, programs)
    finally:
        for device, server in made:
            device.close()
            server.close()


def run_parts(place: Place, one: Labelled, seed: int, through: str = "") -> Told:
    """Run every part of a program, and collect the findings."""
    began, findings, why_not = time.perf_counter(), list[Finding](), one.excluded
    try:
        if not why_not:
            reasons = set[str]()
            for counts, words in seen_of(place, one, seed, through):
                findings += counts
                reasons.add(words)
            if "" not in reasons:
                why_not = next(iter(sorted(reasons)), "it has no kernel that can be called")
    except UnsupportedError as error:
        why_not = f"not supported: {first_line(error)}"
    except (ClaimError, DeviceError, OSError) as error:
        why_not = first_line(error)
    kinds = [{each.kind for each in findings if each.severity == severity} for severity in ("error", "warning")]
    shown = tuple(f"{each.severity}: {each.kind}, line {each.line}: {each.message}" for each in findings)
    return Told(one, frozenset(kinds[0]), frozenset(kinds[1]), shown, time.perf_counter() - began, why_not)


def seen_of(place: Place, one: Labelled, seed: int, through: str = "") -> Iterator[Seen]:
    """The findings of each run of a program, or of each call of a kernel."""
    device, server = place
    if not isinstance(one.runs, Program):
        for job in one.runs():
            yield of_a_kernel(one, job, device.run(job, Probe(check=True, runs=RUNS, seed=seed, timeout=SECONDS)))
        return
    words = (one.runs.path.stem, *one.runs.words)
    library = program(one.runs.path, one.runs.include, through=through)
    checked = CheckedProgram(library, words, SECONDS, server, lambda _: None)
    told = judged_of(one, checked.examine(RUNS, seed))
    codes = {each.exit_code for each in checked.printed}
    said = next((line for each in checked.printed for line in reversed(each.lines[:-1]) if line.strip()), "")
    if not told and checked.refusal:
        yield [], f"not supported: {checked.refusal.partition(': ')[2]}"
    elif not told and (checked.stopped or not checked.launches or not codes & {0, None}):
        yield [], checked.stopped or f"it ends with exit code {codes.pop()}: {said}"
    else:
        yield told, ""


def of_a_kernel(one: Labelled, job: Job, outcome: Outcome) -> Seen:
    """The findings that a label could name; or why the call does not count."""
    lines = job.source.partition('#line 1 "kernel.cu"\n')[2].splitlines()
    for each in outcome.findings:
        if each.kind == "trap" and each.line and EXCLUDES.search("".join(lines[each.line - 1 : each.line])):
            return [], "no input that was tried is one that it takes"
    told = judged_of(one, outcome)
    if told or outcome.runs or outcome.findings:
        return told, ""
    return [], "; ".join(outcome.notes) or "it did not come to its end"


def judged_of(one: Labelled, outcome: Outcome) -> list[Finding]:
    """The findings that a label could name."""
    told = [each for each in outcome.findings if each.kind != "nondeterministic"]
    if one.judged is not None and ANY not in one.wrong:
        judged = set[str]().union(*(TOLD_AS[label] for label in one.judged | one.wrong))
        told = [each for each in told if each.kind in judged]
    return told


def first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]


def table(told: list[Told], seconds: float) -> list[str]:
    """Found and missed for each label, accused of each kind, and all programs with an unexpected result or none."""
    ran = [one for one in told if not one.why_not]
    lines = [f"{'':24}{'programs':>9}{'by errors':>11}{'by warnings':>13}{'missed':>8}"]
    for label in sorted({label for one in ran for label in one.program.wrong}):
        labelled = [one for one in ran if label in one.program.wrong]
        lines.append(row(label, labelled, label))
        names = {name for one in labelled for name in one.program.classes if BUGS.get(name, label) == label}
        for name in sorted(names) if len(names) > 1 else []:
            lines.append(row(f"  {name}", [one for one in labelled if name in one.program.classes], label))
    lines += ["", f"{'told of programs without':24}{'programs':>9}{'by errors':>11}{'by warnings':>13}"]
    for label in TOLD_AS:
        others = [one for one in ran if label not in one.program.wrong and ANY not in one.program.wrong]
        errors = sum(one.says(label, True) for one in others)
        warnings = sum(one.says(label, False) and not one.says(label, True) for one in others)
        lines.append(f"  {label:22}{len(others):9}{errors:11}{warnings:13}")
    clean = [one for one in ran if not one.program.wrong]
    accused = [one for one in clean if one.errors], [one for one in clean if one.warnings and not one.errors]
    lines.append(f"  {'anything wrong':22}{len(clean):9}{len(accused[0]):11}{len(accused[1]):13}")
    lines += [
        "",
        f"{seconds:.0f} s, {seconds / max(len(told), 1):.2f} s a program; {len(told) - len(ran)} could not be run",
        "",
    ]
    lines += [f"accused: {one.program.name}: {words}" for group in accused for one in group for words in one.words[:2]]
    for one in ran:
        lines += [
            f"{how(one, label)}: {label} of {one.program.name}"
            for label in sorted(one.program.wrong)
            if how(one, label)
        ]
    reasons = Counter(one.why_not for one in told if one.why_not)
    lines += [f"not run, {count}: {why}" for why, count in reasons.most_common()]
    return lines


def row(title: str, told: list[Told], label: str) -> str:
    counts = Counter(how(one, label) or "found" for one in told)
    return f"{title:24}{len(told):9}{counts['found']:11}{counts['by a warning']:13}{counts['missed']:8}"


def how(one: Told, label: str) -> str:
    """missed, by a warning, or empty if an error finds it."""
    if one.says(label, True):
        return ""
    return "by a warning" if one.says(label, False) else "missed"


if __name__ == "__main__":
    main()
