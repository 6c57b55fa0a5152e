"""Run the planted programs under compute-sanitizer's four tools.

    python -m benchmarks.detection.tools [--threads 64] [--jobs 16]

Needs a GPU. Each program runs without its bug and with it, many in one process, since a tool takes seconds to start;
a report of a tool counts for the program whose kernel it names, as an error or a warning, as the tool itself says. The
cpu device runs the same programs for the other columns.
"""

import argparse
import contextlib
import os
import pickle
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.detection.checker import Asked, every, mixed
from benchmarks.detection.labelled import TOLD_AS, planted_programs
from benchmarks.page import Lines, table
from kfuzz.devices import ClaimError, Job, Probe, processes
from kfuzz.devices.gpu import driver, machine_code, nvidia, sanitizer

SEED = 0
BOTH = ("right", "bug")
SILENT_FOR = 15.0
"""Seconds without the end of a job after which its process is ended; another process runs the remaining jobs."""
FLUSHED_AFTER = 5.0
NAMED = re.compile(r"pair_\w+?_(?:bug|right)")
ENTRY = re.compile(r"\bk(?=\s*\()")
COLUMNS = (
    "class", "with a bug", "cpu: by an error", "tools: by an error", "by a warning", "missed", "without one",
    "cpu: accused", "tools: accused", "cpu: seconds", "tools: seconds",
)  # fmt: skip

Told = dict[str, set[tuple[str, bool]]]
"""The kinds that were reported for each kernel, and whether as an error."""


def main() -> None:
    """Run all of them, print the unexpected results, then a table of classes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--seconds", type=float, default=1e9, help="so long, and then what was watched till then")
    parser.add_argument("--only", metavar="NAME,NAME", help="these pairs alone")
    parser.add_argument("--replay", nargs=2, metavar=("FILE", "FIRST"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.replay:
        replay(Path(chosen.replay[0]), int(chosen.replay[1]))
    ends = time.monotonic() + chosen.seconds
    pairs = tuple(chosen.only.split(",")) if chosen.only else planted_programs.NAMES
    jobs = [job_of(name, has_bug, chosen.threads) for name in mixed(pairs) for has_bug in (False, True)]
    jobs = compiled(jobs, chosen.jobs, time.monotonic() + chosen.seconds / 2)
    print(f"{len(jobs)} programs are compiled", flush=True)
    told, seconds = watched(jobs, chosen.jobs, ends)
    names = [name for name in pairs if {f"pair_{name}_{which}" for which in BOTH} <= seconds.keys()]
    print("\n".join(show(told, seconds, [Asked(chosen.threads, name, SEED) for name in names], chosen.jobs)))


def job_of(name: str, has_bug: bool, threads: int) -> Job:
    """A planted program whose kernel has a name of its own."""
    one = planted_programs.job(planted_programs.program(name), has_bug, threads, SEED)
    entry = f"pair_{name}_{BOTH[has_bug]}"
    steps = tuple(replace(step, entry=entry) for step in one.steps)
    return replace(one, kernel=entry, source=ENTRY.sub(entry, one.source), steps=steps, entries=(entry,))


def compiled(jobs: list[Job], side_by_side: int, until: float) -> list[Job]:
    """The jobs that nvcc accepts, compiled into the cache."""

    def is_compiled(job: Job) -> bool:
        try:
            if time.monotonic() < until:
                machine_code.compile_kernel(job.path, job.source, job.flags, job.entries, driver.gpu().architecture)
                return True
        except ClaimError as error:
            print(f"{job.kernel}: {str(error).splitlines()[0]}", flush=True)
        return False

    with ThreadPoolExecutor(side_by_side) as pool:
        return [job for job, is_there in zip(jobs, pool.map(is_compiled, jobs), strict=True) if is_there]


def replay(file: Path, first: int) -> None:
    """Launch one job after the other, as long as none of them fails; then the process ends."""
    import pycuda.driver as cuda  # noqa: PLC0415  where there is a GPU alone

    from kfuzz.devices.gpu.launching import launch_plainly  # noqa: PLC0415  as above

    jobs: list[Job] = pickle.loads(file.read_bytes())  # noqa: S301  written by watched_by just now
    cuda.init()
    context = cuda.Device(0).make_context()
    for number in range(first, len(jobs)):
        print(f"job {number}", flush=True)
        try:
            launch_plainly(jobs[number], Probe(seed=SEED), context)
        except (ClaimError, cuda.Error) as error:
            print(f"failed: {error}", flush=True)
            break
    os._exit(0)


@dataclass
class Watching:
    """Jobs under one tool, by as many processes as it takes."""

    tool: str
    jobs: list[Job]
    folder: Path
    ends: float
    told: Told = field(default_factory=lambda: defaultdict(set))
    seconds: dict[str, float] = field(default_factory=dict)

    def run(self) -> None:
        """Run all of them, with a new process after each that fails or does not end."""
        file = self.folder / "jobs"
        file.write_bytes(pickle.dumps(self.jobs))
        first = 0
        while first < len(self.jobs) and time.monotonic() < self.ends:
            log = self.folder / f"{first}.log"
            command = [nvidia.find_sanitizer(), "--tool", self.tool, "--log-file", str(log), *sanitizer.OPTIONS]
            command += ["--report-api-errors", "no"] if self.tool == "memcheck" else []
            command += [sys.executable, "-m", "benchmarks.detection.tools", "--replay", str(file), str(first)]
            first = self.last_of(command, first) + 1
            if log.exists():
                self.read(log.read_text(encoding="utf-8", errors="replace"))

    def last_of(self, command: list[str], first: int) -> int:
        """The last job that a process has started."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        assert process.stdout is not None
        last, began, rest, out, patience = first - 1, time.monotonic(), b"", process.stdout.fileno(), self.left
        while select.select([out], [], [], patience)[0] and (said := os.read(out, 1 << 16)):
            *lines, rest = (rest + said).split(b"\n")
            for line in lines:
                if line.startswith(b"job "):
                    if last >= first:  # before it, the process was starting
                        now = time.monotonic()
                        self.took(last, now - began)
                        began = now
                    last = int(line.split()[1])
            patience = min(SILENT_FOR, self.left)
        last = max(last, first)
        if patience == SILENT_FOR:  # otherwise it only lacked time
            self.took(last, time.monotonic() - began)
        ended(process)
        process.stdout.close()
        return last

    @property
    def left(self) -> float:
        return max(0.0, self.ends - time.monotonic())

    def took(self, number: int, seconds: float) -> None:
        """Of a job that has ended; its process's start is the first one's."""
        name = self.jobs[number].kernel
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def read(self, said: str) -> None:
        """Assign the reports of the tool to the kernels that they name."""
        for record in sanitizer.split_complaints(said):
            if (kind := kind_of(record)) and (named := NAMED.search(record.text)):
                self.told[named[0]].add(kind)


def ended(process: subprocess.Popen[bytes]) -> None:
    """End a watched process, if it has not ended; its tool then writes its reports."""
    for pid in processes.descendants(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    try:
        process.wait(FLUSHED_AFTER)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def kind_of(record: sanitizer.Complaint) -> tuple[str, bool] | None:
    """The kind of a complaint, and whether it is an error."""
    if sanitizer.ACCESS.match(record.head):
        return ("misaligned" if "is misaligned" in record.text else "out-of-bounds"), True
    if sanitizer.UNWRITTEN.match(record.head):
        return "uninitialised", True
    if sanitizer.BARRIER.match(record.head):
        return "divergent-barrier", True
    if record.head == sanitizer.TRAP:
        return "trap", True
    return ("race", record.head.startswith("Error")) if sanitizer.RACE.match(record.text) else None


def watched(jobs: list[Job], side_by_side: int, ends: float) -> tuple[Told, dict[str, float]]:
    """The reports of the four tools on each program that all four have finished, and their seconds."""
    parts = max(1, side_by_side // len(sanitizer.TOOLS))
    with tempfile.TemporaryDirectory(prefix="kfuzz-tools-") as place, ThreadPoolExecutor(side_by_side) as pool:
        every_one = []
        for tool in sanitizer.TOOLS:
            for part in range(parts):
                folder = Path(place) / f"{tool}-{part}"
                folder.mkdir()
                every_one.append(Watching(tool, jobs[part::parts], folder, ends))
        list(pool.map(Watching.run, every_one))
    told: Told = defaultdict(set)
    seconds: dict[str, list[float]] = defaultdict(list)
    for one in every_one:
        for name, kinds in one.told.items():
            told[name] |= kinds
        for name, took in one.seconds.items():
            seconds[name].append(took)
    return told, {name: sum(took) for name, took in seconds.items() if len(took) == len(sanitizer.TOOLS)}


def show(told: Told, seconds: dict[str, float], asked: list[Asked], side_by_side: int) -> Lines:
    """A row for each class, and their sum."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name in (one.name for one in asked):
        one, row = planted_programs.program(name), counts[planted_programs.program(name).group]
        verdict = verdict_of(one.finds, told[f"pair_{name}_bug"])
        accused = bool(told[f"pair_{name}_right"])
        row.update({"pairs": 1, verdict: 1, "accused": int(accused)})
        row["seconds"] += round(seconds[f"pair_{name}_bug"] + seconds[f"pair_{name}_right"])
        print(f"{name}: {verdict}{', accused' * accused}", flush=True)
    for by_cpu, verdict, took in every(asked, side_by_side):
        row = counts[planted_programs.program(by_cpu.name).group]
        row.update({f"cpu {verdict}": 1, "cpu milliseconds": round(1000 * took)})
    total = sum(counts.values(), Counter[str]())
    rows = [*counts.items(), ("**all**", total)]
    yield from table("l" + "r" * 10, COLUMNS, (cells_of(name, row) for name, row in rows))


def verdict_of(finds: str, kinds: set[tuple[str, bool]]) -> str:
    """found, warned or missed, by the kinds to be found."""
    wanted = next(kinds_ for kinds_ in TOLD_AS.values() if finds in kinds_)
    severities = {severe for kind, severe in kinds if kind in wanted}
    return "found" if True in severities else "warned" if severities else "missed"


def cells_of(name: str, row: Counter[str]) -> tuple[object, ...]:
    by_cpu, found, warned, missed = (row[one] for one in ("cpu found", "found", "warned", "missed"))
    numbers = (row["pairs"], by_cpu, found, warned, missed, row["pairs"], row["cpu accused"], row["accused"])
    return (name, *numbers, f"{row['cpu milliseconds'] / 1000:.1f}", row["seconds"])


if __name__ == "__main__":
    main()
