"""Run public CUDA programs as they are.

    python -m benchmarks.detection.public run FOLDER [--only WORDS]    run programs, and keep their outcomes
    python -m benchmarks.detection measure public                      the figures of all outcomes that are kept

FOLDER holds one checkout for each repository in `REPOSITORIES` and `CHOSEN`, named OWNER+NAME, at its commit. Each
program goes through `kfuzz check` with a limit on the processor time of its run. The outcome of each program is kept in
public_programs/runs.json; `--only` replaces the outcomes of the programs whose name contains the words. Keeps names,
figures and kfuzz's own words, and no text of the programs.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.detection.public_lists import CHOSEN, REPOSITORIES, Program, programs
from benchmarks.measurement import Figures, Record, write_json

DATA = Path(__file__).parent / "public_programs" / "runs.json"
TRUE = Path(__file__).parent / "public_programs" / "true.json"
"""The accusations that were read and are true: repository, program, the findings with their lines, and the reason."""
OUTCOMES = ("ran", "nothing launched", "finding", "own error", "time out", "cannot run")
LIMIT = 20
"""Processor seconds of a run."""
WALL = 420.0
"""Seconds of wall time for the compiler, on a machine with other work; the run has five times its limit on top."""


@dataclass(frozen=True)
class Outcome:
    """The result of a program: `ran`, `finding`, `time out`, `own error`, `nothing launched` or `cannot run`."""

    repository: str
    name: str
    outcome: str
    reason: str = ""
    findings: tuple[str, ...] = ()
    launches: int = 0
    seconds: float = 0.0


def main() -> None:
    """Run programs, or list them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("run", "list"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--again", nargs="*", default=[], help="run only programs that had one of these outcomes")
    parser.add_argument("--limit", type=int, default=LIMIT)
    asked = parser.parse_args()
    known = read()
    for program in programs(asked.folder):
        key = (program.repository.name, program.name)
        before = known.get(key)
        if asked.only and not any(one in f"{program.repository.name}/{program.name}" for one in asked.only):
            continue
        if asked.again and (before.outcome if before else "new") not in asked.again:
            continue
        if asked.action == "list":
            print(program.repository.name, program.name, " ".join(program.words))
            continue
        one = run(program, asked.limit)
        write({**read(), key: one})  # several surveys may run side by side
        print(f"{one.outcome:16} {one.seconds:6.1f} s  {one.name}: {one.reason} {' / '.join(one.findings)}", flush=True)


def run(program: Program, limit: int) -> Outcome:
    """Run a program once under the checker."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        sources, _, given = " ".join(program.words).partition(" -- ")
        options = ["--runs", "1", "--seed", "1", "--max-time", f"{limit}s", "--json", str(report)]
        command = [sys.executable, "-m", "kfuzz", "check", *sources.split(), *options]
        command += ["--", *given.split()] if given else []
        began = time.monotonic()
        with subprocess.Popen(
            command, cwd=program.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        ) as process:
            try:
                raw, _ = process.communicate(timeout=WALL + 5 * limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 15)
                raw, _ = process.communicate()
                raw += b"\nno answer in time"
        said = raw.decode(errors="replace")
        return judge(program, process.returncode, said, report, time.monotonic() - began)


def judge(program: Program, code: int, said: str, report: Path, seconds: float) -> Outcome:
    """The outcome of a run, from its exit code and its report."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("ignored options")]
    if not report.exists():
        reason = next((one for one in lines if "error" in one or "does not have" in one), lines[0] if lines else "")
        outcome = "time out" if "no answer in time" in said else "cannot run"
        return Outcome(program.repository.name, program.name, outcome, shorten(reason, program), seconds=round(seconds))
    made = json.loads(report.read_text())
    kernel = made["kernels"][0]
    found = dict.fromkeys(
        f"{one['kind']}{'' if one['severity'] == 'error' else ' (warning)'} {place(one, program)}"
        for one in kernel["findings"]
    )
    launches = int(count[1]) if (count := re.search(r"(\d+) launch", lines[-1])) else 0
    trouble = kernel["unjudged"]
    if code == 1 or (found and not all("(warning)" in one for one in found)):
        outcome = "finding"
    elif "no answer in time" in said or "did not end" in trouble:
        outcome = "time out"
    elif "ends with exit code" in trouble:
        outcome = "own error"
    elif "cannot run" in trouble:
        outcome = "cannot run"
    elif launches == 0:
        outcome = "nothing launched"
    else:
        outcome = "cannot run" if code else "ran"
    return Outcome(
        *(program.repository.name, program.name, outcome, shorten(trouble, program)),
        *(tuple(found), launches, round(made["seconds"], 1)),
    )


def place(finding: dict[str, object], program: Program) -> str:
    """The file and line of a finding."""
    where = str(finding.get("file") or finding.get("path") or "")
    return f"{Path(where).name or program.name}:{finding.get('line', '')}"


def shorten(text: str, program: Program) -> str:
    """One line without the folders of this machine."""
    line = text.splitlines()[0] if text else ""
    return re.sub(r"(?<![\w.])/[\w.+/-]+/", "", line.replace(f"{program.folder}/", ""))[:200]


def read() -> dict[tuple[str, str], Outcome]:
    """The outcomes that are known."""
    if not DATA.exists():
        return {}
    rows = json.loads(DATA.read_text(encoding="utf-8"))["programs"]
    every = (Outcome(**{**row, "findings": tuple(row["findings"])}) for row in rows)
    return {(one.repository, one.name): one for one in every}


def write(known: dict[tuple[str, str], Outcome]) -> None:
    """Keep the outcomes, in order."""
    rows = [asdict(known[key]) for key in sorted(known)]
    DATA.write_text(write_json({"programs": rows}, 2), encoding="utf-8")


def measure(_: Sequence[str]) -> Figures:
    """The counts of each list, every accusation, and what each program that did not run to its end needs."""
    known = tuple(read().values())
    every = (*REPOSITORIES, *(one for one, _, _ in CHOSEN))
    unfinished = [one for one in known if one.outcome not in ("ran", "nothing launched", "finding")]
    return Figures({"outcomes": [*OUTCOMES], "repositories": {one.name: one.commit for one in every}}, {
        "lists": list(count_lists(known)), "accusations": list(accusations(known)),
        "unfinished": [
            {"program": f"{one.repository}: {one.name}", "outcome": one.outcome, "words": one.reason}
            for one in unfinished
        ],
    })  # fmt: skip


def accusations(known: Sequence[Outcome]) -> Iterator[Record]:
    """Every error, by program and by the reason why it is true; the reason is empty if it is not settled."""
    why = {
        (repository, program, finding): reason
        for repository, program, findings, reason in json.loads(TRUE.read_text(encoding="utf-8"))
        for finding in findings
    }
    for one in known:
        errors = [finding for finding in one.findings if "(warning)" not in finding]
        reasons = {finding: why.get((one.repository, one.name, finding), "") for finding in errors}
        for reason in dict.fromkeys(reasons.values()):
            alike = [finding for finding in errors if reasons[finding] == reason]
            yield {"program": f"{one.repository}: {one.name}", "findings": alike, "reason": reason}


def came_to_its_end(one: Outcome) -> bool:
    """Whether the program ended by itself, with a finding or without."""
    return one.outcome in ("ran", "nothing launched", "own error") or (one.outcome == "finding" and not one.reason)


def count_lists(known: Sequence[Outcome]) -> Iterator[Record]:
    """The number of programs of each list, by outcome."""
    chosen = {(one.name, name): one.belongs_to for one, name, _ in CHOSEN}
    whole = {one.name: one.belongs_to for one in REPOSITORIES}
    for name in dict.fromkeys((*whole.values(), *chosen.values())):
        listed = [one for one in known if (chosen.get((one.repository, one.name)) or whole.get(one.repository)) == name]
        counts = Counter(one.outcome for one in listed)
        yield {
            "list": name, "programs": len(listed), "to_the_end": sum(map(came_to_its_end, listed)),
            **{one: counts[one] for one in OUTCOMES},
        }  # fmt: skip


if __name__ == "__main__":
    main()
